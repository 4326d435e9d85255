import { claimNamesOfPod, deepEqual, type ObjectMeta, type Pod, type Volume } from '@coracle/api'
import type { WaitingReason } from '../status/container-statuses.ts'
import { type MountedVolumes, VolumesNotReadyError } from '../volumes/claimed-volumes.ts'
import { needsVolumes } from '../volumes/mount-volumes.ts'
import { isMadeOfFiles } from '../volumes/volume-files.ts'
import type { PodContext } from './pod-context.ts'
import { recordPodEvent } from './pod-events.ts'
import { podKey, podUidOf } from './pod-name.ts'

/** Volumes that are not there are looked for again after this, which doubles each time up to the longest. */
const retryFirstMs = 500
const retryMaxMs = 30_000
/** Volumes that show other objects are brought up to date as often as this: upstream's sync period. */
const refreshMs = 60_000

/** The volumes of one pod: gets them, keeps what they show up to date, and tells of what is wrong with them once. */
export class PodVolumes {
  readonly #context: PodContext
  /** Undefined until they are there. */
  #mounted: MountedVolumes | undefined
  #retryMs = retryFirstMs
  #retryAtMs: number | undefined
  #told = ''
  #areReleased = false
  /** What of the pod they show, and until when that is good. Undefined where nothing in them changes. */
  #shown: Shown | undefined

  constructor(context: PodContext) {
    this.#context = context
  }

  /** Those that are on the node. */
  get mounted(): MountedVolumes {
    return this.#mounted ?? none
  }

  /** When those that are not there are looked for again; undefined where none are missing. */
  get retryAtMs(): number | undefined {
    return this.#retryAtMs
  }

  /** When they are to be brought up to date; undefined where nothing in them changes. */
  get refreshAtMs(): number | undefined {
    return this.#shown?.untilMs
  }

  /**
   * Looks for them until they are there, and brings them up to date where it is time. Gives why the node does not take the pod on for them, where
   * that is so. Rejects where it fails for a reason other than waiting.
   */
  async mount(pod: Pod): Promise<WaitingReason | undefined> {
    if (this.#mounted !== undefined && !this.#areStale(pod)) return undefined
    if (!needsVolumes(pod)) {
      this.#mounted = none
      return undefined
    }
    const { environment, mountVolumes } = this.#context
    const nowMs = environment.clock.now()
    if (nowMs < (this.#retryAtMs ?? nowMs)) return undefined
    try {
      this.#mounted = await mountVolumes(pod, this.#mounted)
      this.#retryAtMs = undefined
      this.#noteMounted(pod, nowMs)
    } catch (error) {
      if (!(error instanceof VolumesNotReadyError)) this.#passOver(error, pod, nowMs)
      else if (this.#mounted === undefined && error.refusal !== undefined)
        return { reason: error.refusal, message: error.message }
      else this.#noteMissing(error, pod, nowMs)
    }
    return undefined
  }

  #noteMissing(error: VolumesNotReadyError, pod: Pod, nowMs: number): void {
    if (this.#mounted === undefined) {
      this.#retryAtMs = nowMs + this.#retryMs
      this.#retryMs = Math.min(2 * this.#retryMs, retryMaxMs)
    } else this.#noteMounted(pod, nowMs)
    if (error.isWaiting || !this.#isNews(error.message)) return
    recordPodEvent(this.#context, pod, 'Warning', error.reason, error.message)
  }

  /** A pod that has ended needs its volumes of drivers, those in memory and its devices no longer, however long it stays in the API. */
  async release(pod: Pod): Promise<void> {
    if (this.#areReleased || !(pod.spec.volumes?.some(isReleased) === true || claimNamesOfPod(pod).length > 0)) return
    await this.#context.releaseVolumes?.(podUidOf(pod))
    this.#areReleased = true
  }

  /** A driver may be away for long. */
  warnOfRemains(pod: Pod, problem: string): void {
    if (!this.#isNews(problem)) return
    const { logger } = this.#context.environment
    logger.warn('volumes of a pod have to stay for now', { pod: podKey(pod), error: problem })
  }

  /** The clock was set by so much: what is waited for takes as long as was meant. */
  followClock(setMs: number): void {
    if (this.#retryAtMs !== undefined) this.#retryAtMs += setMs
  }

  #isNews(problem: string): boolean {
    if (this.#told === problem) return false
    this.#told = problem
    return true
  }

  /** A pod goes on with the volumes that it has, such as while the API is away or the disk is full. Throws where it has yet to get them. */
  #passOver(error: unknown, pod: Pod, nowMs: number): void {
    if (this.#mounted === undefined) throw error
    const { logger } = this.#context.environment
    logger.warn('volumes of a pod were not brought up to date, trying again', { pod: podKey(pod), error })
    this.#noteMounted(pod, nowMs)
  }

  /** Volumes that show what others may change are looked after from time to time, and where what they show of the pod has changed. */
  #noteMounted(pod: Pod, nowMs: number): void {
    if (this.#context.unmountVolumes === undefined || !showsOthers(pod)) return
    const { labels, annotations } = pod.metadata
    this.#shown = { labels, annotations, untilMs: nowMs + refreshMs }
  }

  #areStale({ metadata }: Pod): boolean {
    if (this.#shown === undefined) return false
    const { labels, annotations, untilMs } = this.#shown
    if (this.#context.environment.clock.now() >= untilMs) return true
    return !deepEqual(labels, metadata.labels) || !deepEqual(annotations, metadata.annotations)
  }
}

interface Shown {
  readonly labels: ObjectMeta['labels']
  readonly annotations: ObjectMeta['annotations']
  readonly untilMs: number
}

const none: MountedVolumes = new Map()

const isReleased = ({ emptyDir, csi, persistentVolumeClaim, ephemeral }: Volume): boolean =>
  emptyDir?.medium === 'Memory' || (csi ?? persistentVolumeClaim ?? ephemeral) !== undefined

const showsOthers = ({ spec }: Pod): boolean => spec.volumes?.some(isMadeOfFiles) === true
