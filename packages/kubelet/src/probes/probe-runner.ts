import type { Container, ContainerStatus, Pod, Probe } from '@coracle/api'
import { expandCommand } from '../env/expand-command.ts'
import type { FailedCheck } from '../pod/plan-pod.ts'
import type { PodContext } from '../pod/pod-context.ts'
import { recordContainerEvent } from '../pod/pod-events.ts'
import type { ContainerRuntimeStatus, PodSandboxStatus } from '../runtimes/runtime.ts'
import type { ProbeState } from '../status/container-statuses.ts'
import { type Handler, type HandlerResult, type HandlerTarget, runHandler } from './handlers.ts'
import { Prober } from './prober.ts'

/** What a probe is for. */
export type ProbeKind = 'Startup' | 'Readiness' | 'Liveness'

/** Servers know probes by this. */
const probeUserAgent = 'kube-probe/1.36'

/** The probes of one running container. */
interface Probed {
  readonly probers: Map<ProbeKind, Prober>
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
  readonly #unhealthy = new Map<string, FailedCheck>()
  #states: ReadonlyMap<string, ProbeState> = new Map()

  constructor(context: PodContext, onChange: () => void) {
    this.#context = context
    this.#onChange = onChange
  }

  /** By container id; containers without probes are not there. */
  get states(): ReadonlyMap<string, ProbeState> {
    return this.#states
  }

  /** Containers that must be stopped, by id. */
  get unhealthy(): ReadonlyMap<string, FailedCheck> {
    return this.#unhealthy
  }

  /** Begins with containers that have come to run, and ends with those that have stopped. */
  follow(pod: Pod, sandbox: PodSandboxStatus | undefined, runs: readonly ContainerRuntimeStatus[]): void {
    const running = new Set(runs.filter(({ state }) => state === 'running').map(({ id }) => id))
    for (const id of [...this.#probed.keys()]) if (!running.has(id)) this.#forget(id)
    if (pod.metadata.deletionTimestamp !== undefined) this.#leaveInPeace()
    if (!this.#context.runtime.runsProcesses) return
    for (const run of runs) {
      if (!running.has(run.id) || this.#probed.has(run.id)) continue
      const container = probedContainer(pod, run.name)
      if (container !== undefined) this.#begin(pod, sandbox, run, container)
    }
  }

  /** Containers that are ending anyway are not checked on for their lives. */
  #leaveInPeace(): void {
    for (const { probers } of this.#probed.values()) {
      probers.get('Liveness')?.close()
      probers.get('Startup')?.close()
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
    const probed: Probed = { probers: new Map(), state: { started, ready: started && ready } }
    this.#probed.set(run.id, probed)

    const address = sandbox?.addresses[0] ?? this.#context.nodeAddress
    const target = {
      runtime: this.#context.runtime,
      containerId: run.id,
      container,
      address,
      userAgent: probeUserAgent,
    }
    const add = (kind: ProbeKind, probe: Probe, paused: () => boolean, onVerdict: (healthy: boolean) => void) => {
      const prober = new Prober({
        clock: this.#context.environment.clock,
        probe,
        containerStartedAtMs: run.startedAtMs ?? 0,
        check: (signal) => runProbe(probe, { ...target, timeoutSeconds: probe.timeoutSeconds ?? 1 }, signal),
        paused,
        onResult: (result, durationMs) =>
          this.#context.metrics?.()?.probed(pod, container.name, kind, result, durationMs),
        onNews: (result) => this.#tell(pod, container, kind, result),
        onVerdict,
      })
      probed.probers.set(kind, prober)
    }
    const kill = (kind: 'Liveness' | 'Startup', { terminationGracePeriodSeconds }: Probe) => {
      // One verdict is enough: the next is on the next run.
      probed.probers.get(kind)?.close()
      const check = kind === 'Liveness' ? 'liveness' : 'startup'
      this.#unhealthy.set(run.id, { check, graceSeconds: terminationGracePeriodSeconds })
      this.#onChange()
    }
    const waitsForStart = () => !probed.state.started
    if (startupProbe !== undefined && !started) {
      const isStarted = () => probed.state.started
      add('Startup', startupProbe, isStarted, (healthy) => {
        if (!healthy) return kill('Startup', startupProbe)
        this.#set(probed, { started: true, ready: readinessProbe === undefined })
        probed.probers.get('Readiness')?.checkNow()
      })
    }
    if (readinessProbe !== undefined) {
      add('Readiness', readinessProbe, waitsForStart, (healthy) =>
        this.#set(probed, { ...probed.state, ready: healthy }),
      )
    }
    if (livenessProbe !== undefined) {
      add('Liveness', livenessProbe, waitsForStart, (healthy) => {
        if (!healthy) kill('Liveness', livenessProbe)
      })
    }
    this.#publish()
  }

  #tell(pod: Pod, container: Container, kind: ProbeKind, { output, warning, unknown }: HandlerResult): void {
    const tell = (reason: string, message: string) =>
      recordContainerEvent(this.#context, pod, container, 'Warning', reason, message)
    if (warning === true) tell('ProbeWarning', `${kind} probe warning: ${output}`)
    else if (unknown === true) tell('Unhealthy', `${kind} probe errored and resulted in unknown state: ${output}`)
    else tell('Unhealthy', `${kind} probe failed: ${output}`)
  }

  #set(probed: Probed, state: ProbeState): void {
    probed.state = state
    this.#publish()
    this.#onChange()
  }

  #forget(id: string): void {
    for (const prober of this.#probed.get(id)?.probers.values() ?? []) prober.close()
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

/** Never rejects. */
async function runProbe(probe: Probe, target: HandlerTarget, signal: AbortSignal): Promise<HandlerResult> {
  let handler: Handler
  try {
    handler = withStaticVariables(probe, target.container)
  } catch (error) {
    return { ok: false, unknown: true, output: error instanceof Error ? error.message : String(error) }
  }
  return runHandler(handler, target, signal)
}

/** Of variables in a probe's command those are known that the container spells out (upstream's ExpandContainerCommandOnlyStatic). */
function withStaticVariables(probe: Probe, { env = [] }: Container): Handler {
  if (probe.exec === undefined) return probe
  const values = new Map(env.map(({ name, value }) => [name, value ?? '']))
  return { exec: { command: expandCommand(probe.exec.command, values, 'command') } }
}
