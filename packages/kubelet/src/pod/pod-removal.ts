import { hasReason, pods } from '@coracle/api'
import { agentCause } from '../agent-cause.ts'
import type { OwnPodStatus } from '../status/pod-status.ts'
import type { PodObservation } from './plan-pod.ts'
import type { PodHost } from './pod-host.ts'
import { podUidOf } from './pod-name.ts'
import type { PodVolumes } from './pod-volumes.ts'
import type { StatusWriter } from './status-writer.ts'

/** Whoever marks a pod that waits for nothing removes it next. If it is still there after this it is looked after: upstream's sync period of statuses. */
const removalMaxMs = 10_000

/** Takes one pod that has ended out of the API. */
export class PodRemoval {
  readonly #host: PodHost
  readonly #volumes: PodVolumes
  readonly #writer: StatusWriter
  /** Until when a pod that is marked to go at once is left to whoever has marked it. */
  #leavesUntilMs: number | undefined
  #isDone = false

  constructor(host: PodHost, volumes: PodVolumes, writer: StatusWriter) {
    this.#host = host
    this.#volumes = volumes
    this.#writer = writer
  }

  /** The API has been told that the pod may go. */
  get isDone(): boolean {
    return this.#isDone
  }

  /** Until when the pod is about to leave the API by itself: nothing is written of it that nobody can read. Undefined where it is not. */
  leavesUntilMs({ pod: { metadata }, nowMs }: PodObservation): number | undefined {
    const { deletionTimestamp, deletionGracePeriodSeconds, finalizers = [] } = metadata
    if (deletionTimestamp === undefined || deletionGracePeriodSeconds !== 0 || finalizers.length > 0) return undefined
    this.#leavesUntilMs ??= nowMs + removalMaxMs
    return nowMs < this.#leavesUntilMs ? this.#leavesUntilMs : undefined
  }

  /** The last word about a pod is its final status; then it may go. Resolves to whether nothing of it is left, here and in the API. */
  async finish(status: () => OwnPodStatus): Promise<boolean> {
    const { context, pod, isGone } = this.#host
    if (isGone) {
      await context.unmountVolumes?.(podUidOf(pod))
      return true
    }
    const final = status()
    if (!this.#writer.shows(final)) this.#writer.write(final)
    else if (!this.#isDone) {
      // Whoever waits for the pod to go may do something with its volumes then.
      await this.#volumes.release(pod)
      await this.#delete()
    }
    return false
  }

  async #delete(): Promise<void> {
    const { context, pod } = this.#host
    const { name = '', namespace = '', uid } = pod.metadata
    try {
      await context.client.delete(
        pods,
        { namespace, name },
        {
          gracePeriodSeconds: 0,
          ...(uid === undefined ? {} : { preconditions: { uid } }),
          ...agentCause(pod, 'its containers have ended, and its final status is written', undefined),
        },
      )
      this.#isDone = true
    } catch (error) {
      if (!hasReason(error, 'NotFound') && !(hasReason(error, 'Conflict') && (await this.#isReplaced()))) throw error
      // The watch tells that it is gone.
      this.#isDone = true
    }
  }

  /** Whether the API has no such pod any more, or another of its name. Who refuses a deletion, such as a webhook, may call that a conflict, too. */
  async #isReplaced(): Promise<boolean> {
    const { context, pod } = this.#host
    const { name = '', namespace = '', uid } = pod.metadata
    try {
      return (await context.client.get(pods, { namespace, name })).metadata.uid !== uid
    } catch (error) {
      if (hasReason(error, 'NotFound')) return true
      throw error
    }
  }
}
