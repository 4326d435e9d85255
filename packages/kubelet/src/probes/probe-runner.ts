import type { Container, ContainerStatus, Pod, Probe } from '@coracle/api'
import type { PodContext } from '../pod/pod-context.ts'
import { recordContainerEvent } from '../pod/pod-events.ts'
import type { ContainerRuntimeStatus, PodSandboxStatus } from '../runtimes/runtime.ts'
import type { ProbeState } from '../status/container-statuses.ts'
import { runHandler } from './handlers.ts'
import { Prober } from './prober.ts'

/** The probes of one running container. */
interface Probed {
  readonly probers: Prober[]
  state: ProbeState
}

/**
 * The probes of a pod's running containers: a startup probe holds the others back until it has succeeded, readiness
 * says whether a container gets requests, liveness and startup whether it must be restarted. Simulated containers have
 * nothing to probe and count as healthy.
 */
export class ProbeRunner {
  readonly #context: PodContext
  readonly #onChange: () => void
  readonly #probed = new Map<string, Probed>()
  readonly #unhealthy = new Map<string, string>()
  #states: ReadonlyMap<string, ProbeState> = new Map()

  constructor(context: PodContext, onChange: () => void) {
    this.#context = context
    this.#onChange = onChange
  }

  /** By container id; containers without probes are not there. */
  get states(): ReadonlyMap<string, ProbeState> {
    return this.#states
  }

  /** Containers that must be restarted, by id, with what to say of them. */
  get unhealthy(): ReadonlyMap<string, string> {
    return this.#unhealthy
  }

  /** Begins with containers that have come to run, and ends with those that have stopped. */
  follow(pod: Pod, sandbox: PodSandboxStatus | undefined, runs: readonly ContainerRuntimeStatus[]): void {
    const running = new Set(runs.filter(({ state }) => state === 'running').map(({ id }) => id))
    for (const id of [...this.#probed.keys()]) if (!running.has(id)) this.#forget(id)
    if (!this.#context.runtime.runsProcesses) return
    for (const run of runs) {
      if (!running.has(run.id) || this.#probed.has(run.id)) continue
      const container = probedContainer(pod, run.name)
      if (container !== undefined) this.#begin(pod, sandbox, run, container)
    }
  }

  close(): void {
    for (const id of [...this.#probed.keys()]) this.#forget(id)
  }

  #begin(pod: Pod, sandbox: PodSandboxStatus | undefined, run: ContainerRuntimeStatus, container: Container): void {
    const before = statusOf(pod, `${this.#context.runtime.name}://${run.id}`)
    const { startupProbe, readinessProbe, livenessProbe } = container
    const started = startupProbe === undefined || before?.started === true
    const ready = readinessProbe === undefined || before?.ready === true
    const probed: Probed = { probers: [], state: { started, ready: started && ready } }
    this.#probed.set(run.id, probed)

    const address = sandbox?.addresses[0] ?? this.#context.nodeAddress
    const add = (kind: string, probe: Probe, paused: () => boolean, onVerdict: (healthy: boolean) => void) => {
      const target = { runtime: this.#context.runtime, containerId: run.id, container, address }
      const prober = new Prober({
        clock: this.#context.environment.clock,
        probe,
        containerStartedAtMs: run.startedAtMs ?? 0,
        check: (signal) => runHandler(probe, target, signal),
        paused,
        onFailure: (output) =>
          recordContainerEvent(
            this.#context,
            pod,
            container,
            'Warning',
            'Unhealthy',
            `${kind} probe failed: ${output}`,
          ),
        onVerdict,
      })
      probed.probers.push(prober)
    }
    const kill = (kind: string) => {
      this.#unhealthy.set(run.id, `Container ${container.name} failed ${kind} probe, will be restarted`)
      this.#onChange()
    }
    const waitsForStart = () => !probed.state.started
    if (startupProbe !== undefined && !started) {
      const isStarted = () => probed.state.started
      add('Startup', startupProbe, isStarted, (healthy) => {
        if (healthy) this.#set(probed, { started: true, ready: readinessProbe === undefined })
        else kill('startup')
      })
    }
    if (readinessProbe !== undefined) {
      add('Readiness', readinessProbe, waitsForStart, (healthy) =>
        this.#set(probed, { ...probed.state, ready: healthy }),
      )
    }
    if (livenessProbe !== undefined) {
      add('Liveness', livenessProbe, waitsForStart, (healthy) => {
        if (!healthy) kill('liveness')
      })
    }
    this.#publish()
  }

  #set(probed: Probed, state: ProbeState): void {
    probed.state = state
    this.#publish()
    this.#onChange()
  }

  #forget(id: string): void {
    for (const prober of this.#probed.get(id)?.probers ?? []) prober.close()
    this.#probed.delete(id)
    this.#unhealthy.delete(id)
    this.#publish()
  }

  #publish(): void {
    this.#states = new Map([...this.#probed].map(([id, { state }]) => [id, state]))
  }
}

function probedContainer(pod: Pod, name: string): Container | undefined {
  const container = [...pod.spec.containers, ...(pod.spec.initContainers ?? [])].find(
    (candidate) => candidate.name === name,
  )
  const probes = [container?.startupProbe, container?.readinessProbe, container?.livenessProbe]
  return probes.every((probe) => probe === undefined) ? undefined : container
}

function statusOf(pod: Pod, containerID: string): ContainerStatus | undefined {
  const statuses = [...(pod.status?.containerStatuses ?? []), ...(pod.status?.initContainerStatuses ?? [])]
  return statuses.find((status) => status.containerID === containerID)
}
