import type { NodeStatus } from '@coracle/api'
import type { Image } from '../runtimes/runtime.ts'

/** Images that a node's status names, at most, and names of each: upstream's nodeStatusMaxImages and maxNamesPerImageInNodeStatus. */
export const nodeStatusImagesMax = 50
const namesMax = 5

/** The images of a node as its status shows them, the largest first. */
export const nodeImages = (images: readonly Image[]): NonNullable<NodeStatus['images']> =>
  images
    .toSorted((a, b) => b.sizeBytes - a.sizeBytes || (a.id < b.id ? -1 : 1))
    .slice(0, nodeStatusImagesMax)
    .map(({ repoDigests, repoTags, sizeBytes }) => ({
      names: [...repoDigests, ...repoTags].slice(0, namesMax),
      sizeBytes,
    }))
