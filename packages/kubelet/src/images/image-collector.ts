import type { EventType } from '@coracle/client'
import type { Environment, Timer } from '@coracle/environment'
import type { NodeRecorder } from '../node/node-events.ts'
import { recordNodeEvent } from '../node/record-node-event.ts'
import type { Image, ImageService, Runtime } from '../runtimes/runtime.ts'
import type { ImageLimits } from './image-limits.ts'
import { planImageRemoval, removableImages, type TrackedImage } from './plan-image-removal.ts'
import { pullRecordsOf } from './pull-records.ts'

/** How often it is looked which images are in use, and whether some are to go: upstream's ImageGCPeriod. */
export const imageCollectionPeriodMs = 300_000

interface Memory {
  readonly detectedMs: number
  readonly usedMs: number
}

export interface ImageCollectorParts {
  readonly environment: Environment
  readonly runtime: Pick<Runtime, 'listContainers'>
  readonly images: ImageService
  readonly limits: ImageLimits
  readonly nodeName: string
  readonly recorder: NodeRecorder
}

/** Removes images of a node that are not in use, when its disk fills up or they have not been used for too long. */
export class ImageCollector {
  readonly #parts: ImageCollectorParts
  /** What is known of each image, by id. */
  #known: ReadonlyMap<string, Memory> = new Map()
  #isFirst = true
  /** Two failures in a row are told of: the first may be that of a node that has only just started. */
  #hasFailed = false
  #timer: Timer | undefined
  #isStopped = false

  constructor(parts: ImageCollectorParts) {
    this.#parts = parts
  }

  start(): void {
    void this.#round()
  }

  stop(): void {
    this.#isStopped = true
    this.#timer?.cancel()
  }

  /** Removes what is to go now. Rejects where not enough could be removed. */
  async collect(): Promise<void> {
    const { images, limits, environment } = this.#parts
    const nowMs = environment.clock.now()
    const tracked = await this.#track(nowMs)
    const fileSystem = await images.fileSystem()
    if (fileSystem.capacityBytes === 0) {
      const message = `invalid capacity 0 on image filesystem`
      this.#tell('Warning', 'InvalidDiskCapacity', message)
      throw new Error(message)
    }
    const plan = planImageRemoval(tracked, fileSystem, limits, nowMs)
    const freed = await this.#remove(plan.images, plan.outdated, plan.wantedBytes)
    if (freed >= plan.wantedBytes) return
    const total = plan.images.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
    const message =
      `Failed to garbage collect required amount of images. Attempted to free ${plan.wantedBytes} bytes, ` +
      `but only found ${total} bytes eligible to free.`
    this.#tell('Warning', 'FreeDiskSpaceFailed', message)
    throw new Error(message)
  }

  /** Removes all that are not in use, but for those that have only just come: a container may be about to be made of them. */
  async removeUnused(): Promise<void> {
    const nowMs = this.#parts.environment.clock.now()
    const unused = removableImages(await this.#track(nowMs), this.#parts.limits, nowMs)
    await this.#remove(unused, unused.length, 0)
  }

  async #round(): Promise<void> {
    const { environment } = this.#parts
    try {
      await this.collect()
      this.#hasFailed = false
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error)
      environment.logger.warn('images not collected', { error })
      if (this.#hasFailed) this.#tell('Warning', 'ImageGCFailed', message)
      this.#hasFailed = true
    }
    if (this.#isStopped) return
    this.#timer = environment.clock.setTimer(imageCollectionPeriodMs, () => void this.#round(), { housekeeping: true })
  }

  async #track(nowMs: number): Promise<readonly TrackedImage[]> {
    const { images, runtime, environment } = this.#parts
    const listedMs = environment.clock.now()
    const [all, containers] = await Promise.all([images.list(), runtime.listContainers()])
    const used = new Set(
      containers.flatMap(({ imageRef, image, mountedImages = [] }) => [imageRef, image, ...mountedImages]),
    )
    const isUsed = ({ id, repoTags, repoDigests }: Image): boolean =>
      [id, ...repoTags, ...repoDigests].some((name) => used.has(name))
    const before = this.#known
    const tracked = all.map((image): TrackedImage => {
      const { id, sizeBytes, pinned } = image
      const known = before.get(id) ?? { detectedMs: this.#isFirst ? 0 : nowMs, usedMs: 0 }
      const isInUse = isUsed(image)
      return { id, sizeBytes, pinned, isInUse, detectedMs: known.detectedMs, usedMs: isInUse ? nowMs : known.usedMs }
    })
    this.#known = new Map(tracked.map(({ id, detectedMs, usedMs }) => [id, { detectedMs, usedMs }]))
    this.#isFirst = false
    await pullRecordsOf(images)
      ?.prune(new Set(all.map(({ id }) => id)), listedMs)
      .catch((error: unknown) => environment.logger.warn('images that are gone are not forgotten', { error }))
    return tracked
  }

  /** Removes the first `outdated` of them, and others until enough is free. Gives how many bytes that are. */
  async #remove(images: readonly TrackedImage[], outdated: number, wantedBytes: number): Promise<number> {
    let freed = 0
    for (const [index, { id, sizeBytes }] of images.entries()) {
      if (index >= outdated && freed >= wantedBytes) break
      try {
        this.#parts.environment.logger.info('removing an image that is not in use', { image: id, bytes: sizeBytes })
        await this.#parts.images.remove(id)
        freed += sizeBytes
      } catch (error) {
        // Another may do as well.
        this.#parts.environment.logger.warn('image not removed', { image: id, error })
      }
    }
    return freed
  }

  #tell(type: EventType, reason: string, message: string): void {
    recordNodeEvent(this.#parts.recorder, this.#parts.nodeName, type, reason, message)
  }
}
