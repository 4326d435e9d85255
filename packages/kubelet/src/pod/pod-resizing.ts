import type { Pod, PodSpec, ResourceRequirements } from '@coracle/api'
import type { ContainerRuntimeStatus } from '../runtimes/runtime.ts'
import { runsOf, type WaitingReason } from '../status/container-statuses.ts'
import { type ResizeProgress, withResourcesOf } from './given-resources.ts'
import type { PodContext } from './pod-context.ts'
import { recordPodEvent } from './pod-events.ts'
import { podUidOf } from './pod-name.ts'
import { isResized, resizedInPlace, resizeText, restartedForResize } from './pod-resize.ts'
import { ResourceUpdates } from './resource-updates.ts'

/**
 * The resources of one pod on its way from what its node has given it to what is asked for: judges each change, tells which containers are to
 * start anew for it, and has the runtime give the others what they are to have.
 */
export class PodResizing {
  readonly #context: PodContext
  readonly #wake: () => void
  /** What the node has given the pod: of resources it may be less than what is asked for. */
  #given: PodSpec
  #judgedGeneration: number | undefined
  #refusal: WaitingReason | undefined
  /** Containers that are to start anew for their resources, by name. */
  #restarts: ReadonlyMap<string, Restart> = noRestarts
  /** Made when containers that run are to have other resources: most pods never need it. */
  #updates: ResourceUpdates | undefined

  /**
   * `given` is the pod with the resources that it has, which are those that are asked for in the generation `judged`. `wake` is called when a
   * change that the node could not spare is to be judged again.
   */
  constructor(context: PodContext, given: Pod, judged: number | undefined, wake: () => void) {
    this.#context = context
    this.#wake = wake
    this.#given = given.spec
    this.#judgedGeneration = judged
  }

  /** When what went wrong with containers that run is tried again; undefined where nothing has. */
  get retryAtMs(): number | undefined {
    return this.#updates?.retryAtMs
  }

  /** What the status of the pod says of it. */
  get progress(): ResizeProgress {
    return {
      pending: this.#refusal,
      inProgress: this.#isUnderWay,
      error: this.#updates?.error,
      actual: this.#actual,
    }
  }

  /** Gives the pod the resources that are asked for, where the node can spare them. Each generation is judged once, and while it waits. */
  judge(pod: Pod): void {
    const { generation } = pod.metadata
    const isNew = this.#judgedGeneration !== generation
    if (!isNew && this.#refusal === undefined) return
    const before = this.#given
    const isOther = isResized(pod.spec, before)
    const { admission } = this.#context
    if (!isOther) admission.withdraw(podUidOf(pod))
    const refusal = isOther ? admission.resize(podUidOf(pod), pod, this.#wake) : undefined
    const isKnown = !isNew && this.#refusal !== undefined
    this.#judgedGeneration = generation
    this.#refusal = refusal
    if (refusal !== undefined) {
      const { reason, message } = refusal
      const told = `Pod resize ${reason}: ${resizeText(pod.spec, generation, message)}`
      if (!isKnown) recordPodEvent(this.#context, pod, 'Warning', 'ResizeDeferred', told)
      return
    }
    this.#given = pod.spec
    if (isOther) this.#begin(pod, before)
  }

  #begin(pod: Pod, before: PodSpec): void {
    for (const { name, resources = {} } of restartedForResize(pod.spec, before)) {
      const known = this.#restarts.get(name)
      this.#restartsToNote().set(name, { runId: undefined, before: known?.before ?? resources })
    }
    if (this.#updatesContainers) {
      this.#updates ??= new ResourceUpdates()
      this.#updates.expect(resizedInPlace(pod.spec, before), before)
    }
    const told = `Pod resize started: ${resizeText(pod.spec, pod.metadata.generation)}`
    recordPodEvent(this.#context, pod, 'Normal', 'ResizeStarted', told)
    if (!this.#isUnderWay) this.#tellDone(pod)
  }

  /** The pod as its node has taken it on. What is `ending` is judged no more. A change that comes while a pass is under way is judged in the next. */
  asGiven(pod: Pod, ending: boolean): Pod {
    const isJudged = this.#refusal === undefined && (ending || this.#judgedGeneration === pod.metadata.generation)
    return isJudged ? pod : withResourcesOf(pod, this.#given)
  }

  /** Gives containers that run and go on the resources that they are to have now, where the runtime limits them. */
  async updateContainers(pod: Pod, runs: readonly ContainerRuntimeStatus[]): Promise<void> {
    const { runtime, isolation, environment } = this.#context
    const updates = this.#updates
    if (updates === undefined || updates.isDone || isolation === undefined) return
    const told = updates.error
    const given = { ...pod, spec: this.#given }
    await updates.carryOut(runtime, {
      pod: given,
      runs,
      nodeMemoryBytes: isolation.memoryBytes,
      nowMs: environment.clock.now(),
    })
    const { error } = updates
    if (error !== undefined && error !== told) {
      const text = resizeText(given.spec, pod.metadata.generation, error)
      recordPodEvent(this.#context, pod, 'Warning', 'ResizeError', `Pod resize error: ${text}`)
    }
    if (updates.isDone && !this.#isUnderWay) this.#tellDone(pod)
  }

  /** The ids of the runs that have yet to end for their resources: what runs after them has the new ones. */
  runsToEnd(pod: Pod, runs: readonly ContainerRuntimeStatus[]): ReadonlySet<string> {
    if (this.#restarts.size === 0) return noRuns
    const restarts = this.#restartsToNote()
    const ending = new Set<string>()
    for (const [name, { runId, before }] of restarts) {
      const run = runsOf(name, runs).find(({ state }) => state === 'running')
      // One that does not run has what it is to have with its next start, if there is one.
      if (runId === undefined ? run === undefined : run !== undefined && run.id !== runId) restarts.delete(name)
      else if (run !== undefined) {
        restarts.set(name, { runId: run.id, before })
        ending.add(run.id)
      }
    }
    if (!this.#isUnderWay) this.#tellDone(pod)
    return ending
  }

  /** Whether containers that run have limits that can be changed. */
  get #updatesContainers(): boolean {
    const { runtime, isolation } = this.#context
    return isolation !== undefined && runtime.updateContainerResources !== undefined
  }

  get #isUnderWay(): boolean {
    return this.#restarts.size > 0 || this.#updates?.isDone === false
  }

  /** What containers run with that are to have something else, by name: until they have it, whoever looks after the pod next goes by that. */
  get #actual(): ReadonlyMap<string, ResourceRequirements> | undefined {
    const updated = this.#updates?.actual
    if (this.#restarts.size === 0) return updated
    return new Map([...(updated ?? []), ...[...this.#restarts].map(([name, { before }]) => [name, before] as const)])
  }

  #restartsToNote(): Map<string, Restart> {
    if (this.#restarts === noRestarts) this.#restarts = new Map()
    return this.#restarts as Map<string, Restart>
  }

  #tellDone(pod: Pod): void {
    const told = `Pod resize completed: ${resizeText(pod.spec, pod.metadata.generation)}`
    recordPodEvent(this.#context, pod, 'Normal', 'ResizeCompleted', told)
  }
}

/** A container that is to start anew for its resources. */
interface Restart {
  /** Its run until then; undefined until it is looked for. */
  readonly runId: string | undefined
  /** What it runs with until then. */
  readonly before: ResourceRequirements
}

const noRestarts: ReadonlyMap<string, Restart> = new Map()
const noRuns: ReadonlySet<string> = new Set()
