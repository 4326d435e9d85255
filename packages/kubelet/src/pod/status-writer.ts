import { deepEqual, hasReason, type Pod, pods } from '@coracle/api'
import type { Timer } from '@coracle/environment'
import { agentCause } from '../agent-cause.ts'
import { type OwnPodStatus, statusPatch } from '../status/pod-status.ts'
import { statusReason } from '../status/status-reason.ts'
import type { PodContext } from './pod-context.ts'
import { podKey } from './pod-name.ts'

/** The first wait after a failed write; it doubles. */
const retryInitialMs = 200
const retryMaxMs = 30_000

export type StatusWriterContext = Pick<PodContext, 'client' | 'environment'>

export interface StatusWriterHost {
  /** The pod as it is known now. */
  readonly pod: Pod
  /** A write, or a look after a conflict, has brought a newer pod. */
  update(pod: Pod): void
  /** The pod shows `status`, which was to be written. */
  statusShown(status: OwnPodStatus): void
  /** What was to be written is written. */
  statusWritten(): void
}

/**
 * Writes the status of one pod, one write at a time: what is asked for while one is under way replaces what was asked
 * for before. Writes name the version they rest on, since lists in a merge patch replace those of others.
 */
export class StatusWriter {
  readonly #context: StatusWriterContext
  readonly #host: StatusWriterHost
  #wanted: OwnPodStatus | undefined
  /** The version that the last write made, and what was written where the server shows something else: it may have normalized it. */
  #given: { status: OwnPodStatus | undefined; readonly version: string | undefined } | undefined
  #busy = false
  #retryMs = retryInitialMs
  #retryTimer: Timer | undefined
  #closed = false

  constructor(context: StatusWriterContext, host: StatusWriterHost) {
    this.#context = context
    this.#host = host
  }

  /** Whether the API shows this status, as far as is known here. */
  shows(status: OwnPodStatus): boolean {
    return this.#changesTo(status) === undefined
  }

  write(status: OwnPodStatus): void {
    this.#wanted = status
    if (!this.#busy && this.#retryTimer === undefined) void this.#work()
  }

  close(): void {
    this.#closed = true
    this.#retryTimer?.cancel()
  }

  async #work(): Promise<void> {
    this.#busy = true
    let wrote = false
    while (this.#wanted !== undefined && !this.#closed) {
      const status = this.#wanted
      this.#wanted = undefined
      const changes = this.#changesTo(status)
      if (changes === undefined) {
        this.#tellShown(status)
        continue
      }
      const { resourceVersion } = this.#host.pod.metadata
      try {
        await this.#writeOnce(status, changes)
        this.#retryMs = retryInitialMs
        wrote = true
      } catch (error) {
        this.#wanted ??= status
        if (!(await this.#recover(error, status, resourceVersion))) break
      }
    }
    this.#busy = false
    if (wrote && !this.#closed) this.#host.statusWritten()
  }

  /** What a write of `status` would change; undefined where the API shows it. */
  #changesTo(status: OwnPodStatus): Readonly<Record<string, unknown>> | undefined {
    const pod = this.#host.pod
    const given = this.#given
    if (given?.status === undefined || given.version !== pod.metadata.resourceVersion) return statusPatch(pod, status)
    if (!deepEqual(given.status, status)) return statusPatch(pod, status)
    // The owner holds on to the status it worked out last: of two that are alike one is enough.
    given.status = status
    return undefined
  }

  async #writeOnce(status: OwnPodStatus, changes: Readonly<Record<string, unknown>>): Promise<void> {
    const pod = this.#host.pod
    const { name = '', namespace = '', uid, resourceVersion } = pod.metadata
    const cause = agentCause(pod, statusReason(pod.status, status), this.#given?.version)
    const body = { metadata: { uid, resourceVersion }, status: changes }
    const written = await this.#context.client.patch(
      pods,
      { namespace, name },
      { type: 'merge', body },
      { subresource: 'status', ...cause },
    )
    this.#given = { status, version: written.metadata.resourceVersion }
    this.#host.update(written)
    if (this.#tellShown(status)) this.#given.status = undefined
  }

  /** Where the pod shows what was wanted nobody needs it a second time: 0.7 kB of each simulated pod. */
  #tellShown(status: OwnPodStatus): boolean {
    const isShown = statusPatch(this.#host.pod, status) === undefined
    if (isShown) this.#host.statusShown(status)
    return isShown
  }

  /**
   * A newer pod makes its owner decide anew; anything else is tried again later. Resolves to whether what is wanted now may be
   * written at once.
   */
  async #recover(error: unknown, failed: OwnPodStatus, restedOn: string | undefined): Promise<boolean> {
    const pod = this.#host.pod
    const { name = '', namespace = '' } = pod.metadata
    if (hasReason(error, 'NotFound')) {
      // The watch will tell that the pod is gone.
      this.#wanted = undefined
      return true
    }
    if (hasReason(error, 'Conflict')) {
      // The watch may be faster than the refusal, or than a read.
      const isKnown = () => this.#host.pod.metadata.resourceVersion !== restedOn
      const current = isKnown()
        ? undefined
        : await this.#context.client.get(pods, { namespace, name }).catch(() => undefined)
      if (isKnown() || (current !== undefined && isNewer(current, pod))) {
        // What the status rests on may have changed: the owner decides anew.
        if (this.#wanted === failed) this.#wanted = undefined
        if (current !== undefined) this.#host.update(current)
        return true
      }
    }
    this.#retryLater(error)
    return false
  }

  #retryLater(error: unknown): void {
    if (this.#closed) return
    const { environment } = this.#context
    environment.logger.warn('pod status not written, will try again', { pod: podKey(this.#host.pod), error })
    this.#retryTimer = environment.clock.setTimer(this.#retryMs, () => {
      this.#retryTimer = undefined
      if (!this.#busy) void this.#work()
    })
    this.#retryMs = Math.min(2 * this.#retryMs, retryMaxMs)
  }
}

/** Another state of the very same pod. */
function isNewer(current: Pod, known: Pod): boolean {
  return (
    current.metadata.uid === known.metadata.uid && current.metadata.resourceVersion !== known.metadata.resourceVersion
  )
}
