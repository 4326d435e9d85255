import type { ContainerImage, Pod } from '@coracle/api'
import type { NodeIndex } from '../node-indexes.ts'
import type { NodeInfo } from '../node-info.ts'
import { type ClusterPlugin, scoreMax } from './plugin.ts'

/** Images of less than this in all are pulled in no time. */
const bytesMin = 23 * 1024 * 1024
/** Of images of more than this, for each container of the pod, the size counts no more. */
const bytesMaxPerContainer = 1000 * 1024 * 1024

/**
 * Nodes that have images of the pod come first: nothing has to be pulled there. An image counts by its size, and by how many nodes have
 * it, lest all pods go to the one that happened to pull it first. What nodes have is what they say in their status.
 */
export const imageLocality: ClusterPlugin = {
  name: 'ImageLocality',
  scope: 'cluster',
  weight: 1,
  // It keeps pods from no node.
  signature: () => undefined,
  scorer(pod, cluster) {
    const { states } = cluster.index('ImageLocality', () => new ImagesOnNodes())
    if (states.size === 0) return undefined
    const wanted = imagesOf(pod).flatMap((image) => states.get(image) ?? [])
    if (wanted.length === 0) return undefined
    const { initContainers = [], containers } = pod.spec
    // Volumes that are images add to what counts, and not to how much may count (upstream's rule).
    const bytesMax = bytesMaxPerContainer * (initContainers.length + containers.length)
    return {
      score({ name }) {
        let bytes = 0
        for (const { sizeBytes, nodes } of wanted) {
          if (nodes.has(name)) bytes += Math.trunc(sizeBytes * (nodes.size / cluster.nodeCount))
        }
        const counted = Math.min(Math.max(bytes, bytesMin), bytesMax)
        return Math.trunc((scoreMax * (counted - bytesMin)) / (bytesMax - bytesMin))
      },
    }
  },
}

/** The images that a pod needs, one for each of its containers and of its volumes that are images. */
function imagesOf({ spec: { initContainers = [], containers, volumes = [] } }: Pod): readonly string[] {
  const names = [...initContainers, ...containers].map(({ image }) => image)
  const references = volumes.flatMap(({ image }) => (image === undefined ? [] : [image.reference]))
  return [...names, ...references].map((name) => withTag(name ?? ''))
}

/** The name as nodes say it: with a tag. */
const withTag = (name: string): string => (name.lastIndexOf(':') <= name.lastIndexOf('/') ? `${name}:latest` : name)

interface ImageState {
  readonly sizeBytes: number
  /** Names of the nodes that have it. */
  readonly nodes: Set<string>
}

/** Which nodes have which images, by each name that an image has. */
class ImagesOnNodes implements NodeIndex {
  readonly states = new Map<string, ImageState>()
  readonly #known = new Map<string, readonly ContainerImage[]>()

  put({ name, node }: NodeInfo): void {
    const images = node.status?.images ?? []
    const known = this.#known.get(name) ?? []
    // Most changes of a node are about its pods.
    if (images === known || (images.length === 0 && known.length === 0)) return
    this.remove(name)
    this.#known.set(name, images)
    for (const { names = [], sizeBytes = 0 } of images) {
      for (const each of names) {
        const state = this.states.get(each) ?? { sizeBytes, nodes: new Set() }
        this.states.set(each, state)
        state.nodes.add(name)
      }
    }
  }

  remove(name: string): void {
    for (const { names = [] } of this.#known.get(name) ?? []) {
      for (const each of names) {
        const state = this.states.get(each)
        state?.nodes.delete(name)
        if (state?.nodes.size === 0) this.states.delete(each)
      }
    }
    this.#known.delete(name)
  }
}
