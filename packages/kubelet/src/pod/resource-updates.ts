import { type Container, type Pod, type PodSpec, quantityValue, type ResourceRequirements } from '@coracle/api'
import { linuxResources } from '../isolation/linux-resources.ts'
import { type ContainerRuntimeStatus, type Runtime, RuntimeUnavailableError } from '../runtimes/runtime.ts'
import { runsOf } from '../status/container-statuses.ts'

/** After what went wrong it is tried again: upstream's back-off of pod workers. */
const retryMs = 10_000

interface DueUpdate {
  /** Undefined until the container is looked for. */
  readonly runId: string | undefined
  /** What it runs with until then. */
  readonly before: Container
  /** What its pod as a whole had then, which limits a container that has no limit of its own. */
  readonly shared: ResourceRequirements | undefined
}

/** What a look at the containers that are to have other resources needs to know. */
export interface UpdateRound {
  /** As its node has taken it on: with the resources that its containers are to have. */
  readonly pod: Pod
  readonly runs: readonly ContainerRuntimeStatus[]
  readonly nodeMemoryBytes: number
  readonly nowMs: number
}

/**
 * Containers that run and are to have other resources without starting anew, until the runtime has given them these. Where one of them uses
 * more memory than it is to have, none is given anything (upstream's kuberuntime manager): it would be killed, and not for a fault of its own.
 */
export class ResourceUpdates {
  readonly #due = new Map<string, DueUpdate>()
  #error: string | undefined
  #retryAtMs: number | undefined

  /** Why the last try did not succeed. */
  get error(): string | undefined {
    return this.#error
  }

  /** When it is to be tried again; undefined where nothing has gone wrong. */
  get retryAtMs(): number | undefined {
    return this.#retryAtMs
  }

  get isDone(): boolean {
    return this.#due.size === 0
  }

  /** What containers run with that are to have something else, by name. */
  get actual(): ReadonlyMap<string, ResourceRequirements> {
    return new Map([...this.#due].map(([name, { before }]) => [name, before.resources ?? {}]))
  }

  /** These containers of a former spec are to have what the new one says. What they wait for already is forgotten, but not what they run with. */
  expect(names: readonly string[], former: PodSpec): void {
    this.#error = undefined
    this.#retryAtMs = undefined
    for (const before of containersOf(former)) {
      if (!names.includes(before.name) || this.#due.has(before.name)) continue
      this.#due.set(before.name, { runId: undefined, before, shared: former.resources })
    }
  }

  /** Has the runtime do what is due, where it is time. Never rejects: what goes wrong is in `error`. */
  async carryOut(runtime: Runtime, round: UpdateRound): Promise<void> {
    if (this.isDone || round.nowMs < (this.#retryAtMs ?? round.nowMs)) return
    this.#passOverEnded(round.runs)
    const changed = containersOf(round.pod.spec).filter(({ name }) => this.#due.has(name))
    try {
      await this.#checkMemory(runtime, changed, round)
      for (const container of changed) {
        const { runId = '' } = this.#due.get(container.name) ?? {}
        await runtime.updateContainerResources?.(runId, linuxResources(container, round.pod, round.nodeMemoryBytes))
        this.#due.delete(container.name)
      }
      this.#error = undefined
      this.#retryAtMs = undefined
    } catch (error) {
      // That it is away the node says.
      if (!(error instanceof RuntimeUnavailableError))
        this.#error = error instanceof Error ? error.message : String(error)
      this.#retryAtMs = round.nowMs + retryMs
    }
  }

  /** What has ended, or started anew, has what it is to have with its next start. */
  #passOverEnded(runs: readonly ContainerRuntimeStatus[]): void {
    for (const [name, due] of this.#due) {
      const run = runsOf(name, runs).find(({ state }) => state === 'running')
      if (run === undefined || (due.runId !== undefined && due.runId !== run.id)) this.#due.delete(name)
      else this.#due.set(name, { ...due, runId: run.id })
    }
  }

  /** Throws where a limit of memory would be below what is in use. */
  async #checkMemory(runtime: Runtime, changed: readonly Container[], { pod }: UpdateRound): Promise<void> {
    const lowered = changed.flatMap((container) => {
      const due = this.#due.get(container.name)
      const before = due && memoryLimit(due.before, due.shared)
      const limit = memoryLimit(container, pod.spec.resources)
      const isLower = limit !== undefined && (before === undefined || limit < before)
      return isLower && due?.runId !== undefined ? [{ name: container.name, limit, runId: due.runId }] : []
    })
    if (lowered.length === 0) return
    const stats = await runtime.containerStats(lowered.map(({ runId }) => runId))
    const problems = lowered.flatMap(({ name, limit, runId }) => {
      const used = stats.get(runId)
      if (used === undefined) return [`missing container "${name}" memory usage`]
      const bytes = used.memoryUsageBytes ?? used.memoryBytes
      return bytes < limit
        ? []
        : [`attempting to set container "${name}" memory limit (${limit}) below current usage (${bytes})`]
    })
    if (problems.length > 0) throw new Error(`cannot decrease memory limits: ${aggregate(problems)}`)
  }
}

const containersOf = ({ initContainers = [], containers }: PodSpec): readonly Container[] => [
  ...initContainers,
  ...containers,
]

function memoryLimit({ resources }: Container, shared: ResourceRequirements | undefined): number | undefined {
  const limit = resources?.limits?.memory ?? shared?.limits?.memory
  return limit === undefined ? undefined : quantityValue(limit)
}

/** Several errors as one, as Go's API machinery writes them. */
const aggregate = (problems: readonly string[]): string =>
  problems.length === 1 ? (problems[0] ?? '') : `[${problems.join(', ')}]`
