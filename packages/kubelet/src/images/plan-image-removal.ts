import type { Image, ImageFileSystem } from '../runtimes/runtime.ts'
import type { ImageLimits } from './image-limits.ts'

/** An image, and what is remembered of it. */
export interface TrackedImage extends Pick<Image, 'id' | 'sizeBytes' | 'pinned'> {
  /** When it was first seen; 0: it was there when the node agent started. */
  readonly detectedMs: number
  /** When it was last seen in use; 0: never. */
  readonly usedMs: number
  readonly isInUse: boolean
}

export interface ImageRemoval {
  /** In the order in which they are to go. */
  readonly images: readonly TrackedImage[]
  /** How many bytes are to become free for the low threshold; 0 where the high one is not reached. Images go until they are. */
  readonly wantedBytes: number
  /** The images at the beginning that go whatever that is: nobody has used them for too long. */
  readonly outdated: number
}

/**
 * Which images of a node are to go, and in which order: first those that nobody has used for too long, then, where the file system is fuller
 * than the high threshold, those that were used least lately, until the low one is reached. Pure (upstream's image_gc_manager.go).
 */
export function planImageRemoval(
  images: readonly TrackedImage[],
  fileSystem: Pick<ImageFileSystem, 'capacityBytes' | 'availableBytes'>,
  limits: ImageLimits,
  nowMs: number,
): ImageRemoval {
  const removable = removableImages(images, limits, nowMs)
  const isOutdated = (image: TrackedImage): boolean =>
    limits.ageMaxMs > 0 && unusedSince(image, nowMs) > limits.ageMaxMs
  const outdated = removable.filter(isOutdated)
  const wantedBytes = bytesToFree(fileSystem, limits)
  const others = wantedBytes > 0 ? removable.filter((image) => !isOutdated(image)) : []
  return { images: [...outdated, ...others], wantedBytes, outdated: outdated.length }
}

/** The images that may go, those that were used least lately at the beginning. */
export const removableImages = (
  images: readonly TrackedImage[],
  { ageMinMs }: ImageLimits,
  nowMs: number,
): readonly TrackedImage[] =>
  images
    .filter(({ pinned, isInUse, detectedMs }) => !pinned && !isInUse && nowMs - detectedMs >= ageMinMs)
    .toSorted((a, b) => a.usedMs - b.usedMs || a.detectedMs - b.detectedMs || (a.id < b.id ? -1 : 1))

/** What was never used counts from when it came, or, where that is not known, from now on: it stays. */
const unusedSince = ({ usedMs, detectedMs }: TrackedImage, nowMs: number): number =>
  usedMs > 0 ? nowMs - usedMs : detectedMs > 0 ? nowMs - detectedMs : 0

function bytesToFree(
  { capacityBytes, availableBytes }: Pick<ImageFileSystem, 'capacityBytes' | 'availableBytes'>,
  { highThresholdPercent, lowThresholdPercent }: ImageLimits,
): number {
  if (capacityBytes === 0 || highThresholdPercent >= 100) return 0
  const available = Math.min(availableBytes, capacityBytes)
  const usedPercent = 100 - Math.floor((available * 100) / capacityBytes)
  if (usedPercent < highThresholdPercent) return 0
  return Math.max(0, Math.floor((capacityBytes * (100 - lowThresholdPercent)) / 100) - available)
}
