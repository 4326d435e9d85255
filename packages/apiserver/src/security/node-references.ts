import {
  mountSecretsOf,
  type PersistentVolume,
  type Pod,
  type PodReference,
  persistentVolumes,
  podReferences,
  type ResourceSlice,
  resourceSlices,
  type VolumeAttachment,
  volumeAttachments,
} from '@coracle/api'
import type { Registries } from '../registries.ts'
import type { CacheEvent } from '../watch-cache/cache-event.ts'
import { mirrorAnnotation } from './node-identity.ts'

/**
 * Which objects the pods of each node name: an index over all pods, made when it is first asked and kept from then on by
 * what changes. A server without node agents of limited rights never makes it.
 */
export class NodeReferences {
  readonly #registries: Registries
  /** How many of a node's pods name an object, by node and by the object's slot. */
  #counts: Map<string, Map<string, number>> | undefined
  /** The names of the volumes that a secret is needed for, by the secret. */
  #volumesBySecret: Map<string, Set<string>> | undefined

  constructor(registries: Registries) {
    this.#registries = registries
  }

  /** Whether a pod that is bound to the node names the object. */
  has(node: string, plural: PodReference['plural'], namespace: string, name: string): boolean {
    this.#counts ??= this.#build()
    return this.#counts.get(node)?.has(slot(plural, namespace, name)) === true
  }

  /** Whether a pod that is bound to the node names the claim that has the volume. */
  hasVolume(node: string, name: string): boolean {
    const { namespace = '', name: claim = '' } = this.#volume(name)?.spec?.claimRef ?? {}
    return claim !== '' && this.has(node, 'persistentvolumeclaims', namespace, claim)
  }

  /** Whether the secret is needed to mount a volume that belongs to a claim which a pod names that is bound to the node. */
  hasVolumeSecret(node: string, namespace: string, name: string): boolean {
    this.#volumesBySecret ??= this.#indexVolumes()
    const volumes = this.#volumesBySecret.get(secretKey(namespace, name)) ?? []
    return [...volumes].some((volume) => this.hasVolume(node, volume))
  }

  /** The node that a volume is attached to, or to be; undefined where there is no such attachment. */
  nodeOfAttachment(name: string): string | undefined {
    const attachment = this.#registries.of(volumeAttachments)?.peek('', name)?.object as VolumeAttachment | undefined
    return attachment?.spec.nodeName
  }

  /** The node whose devices are in a slice; undefined where they are no node's, or there is no such slice. */
  nodeOfSlice(name: string): string | undefined {
    const slice = this.#registries.of(resourceSlices)?.peek('', name)?.object as ResourceSlice | undefined
    return slice?.spec.nodeName
  }

  /** The node a pod is bound to; '' where it is bound to none, undefined where there is no such pod. */
  nodeOfPod(namespace: string, name: string): string | undefined {
    const pod = this.#pods()?.peek(namespace, name)?.object as Pod | undefined
    return pod === undefined ? undefined : (pod.spec.nodeName ?? '')
  }

  #volume(name: string): PersistentVolume | undefined {
    return this.#registries.of(persistentVolumes)?.peek('', name)?.object as PersistentVolume | undefined
  }

  #pods() {
    return this.#registries.byResource('', 'v1', 'pods')
  }

  #build(): Map<string, Map<string, number>> {
    const counts = new Map<string, Map<string, number>>()
    const cache = this.#pods()?.storage.cache
    if (cache === undefined) return counts
    for (const { object } of cache.values()) count(counts, object as Pod, 1)
    cache.onChange((event) => update(counts, event))
    return counts
  }

  #indexVolumes(): Map<string, Set<string>> {
    const volumes = new Map<string, Set<string>>()
    const cache = this.#registries.of(persistentVolumes)?.storage.cache
    if (cache === undefined) return volumes
    for (const { object } of cache.values()) addVolume(volumes, object as PersistentVolume)
    cache.onChange(({ type, stored, previous }) => {
      if (previous !== undefined) removeVolume(volumes, previous.object as PersistentVolume)
      if (type !== 'DELETED') addVolume(volumes, stored.object as PersistentVolume)
    })
    return volumes
  }
}

function update(counts: Map<string, Map<string, number>>, { type, stored, previous }: CacheEvent): void {
  const before = previous?.object as Pod | undefined
  const after = type === 'DELETED' ? undefined : (stored.object as Pod)
  if (namesTheSame(before, after) && isMirror(before) === isMirror(after)) return
  // Counted in first: what both name stays.
  if (after !== undefined) count(counts, after, 1)
  if (before !== undefined) count(counts, before, -1)
}

/** What a pod names is in its spec, and claims of devices that were made for it are in its status: most writes of a pod share these. */
function namesTheSame(before: Pod | undefined, after: Pod | undefined): boolean {
  return (
    before?.spec === after?.spec &&
    before?.status?.resourceClaimStatuses === after?.status?.resourceClaimStatuses &&
    before?.status?.extendedResourceClaimStatus === after?.status?.extendedResourceClaimStatus
  )
}

function count(counts: Map<string, Map<string, number>>, pod: Pod, change: 1 | -1): void {
  const node = pod.spec.nodeName ?? ''
  if (node === '' || isMirror(pod)) return
  const ofNode = counts.get(node) ?? new Map<string, number>()
  counts.set(node, ofNode)
  for (const { plural, name } of podReferences(pod)) {
    const key = slot(plural, pod.metadata.namespace ?? '', name)
    const sum = (ofNode.get(key) ?? 0) + change
    if (sum === 0) ofNode.delete(key)
    else ofNode.set(key, sum)
  }
  if (ofNode.size === 0) counts.delete(node)
}

/** A node makes mirror pods itself: they must not give it rights. */
const isMirror = (pod: Pod | undefined): boolean => pod?.metadata.annotations?.[mirrorAnnotation] !== undefined

function addVolume(volumes: Map<string, Set<string>>, volume: PersistentVolume): void {
  for (const { namespace, name } of mountSecretsOf(volume)) {
    const key = secretKey(namespace, name)
    const known = volumes.get(key)
    if (known === undefined) volumes.set(key, new Set([volume.metadata.name ?? '']))
    else known.add(volume.metadata.name ?? '')
  }
}

function removeVolume(volumes: Map<string, Set<string>>, volume: PersistentVolume): void {
  for (const { namespace, name } of mountSecretsOf(volume)) {
    const key = secretKey(namespace, name)
    const known = volumes.get(key)
    known?.delete(volume.metadata.name ?? '')
    if (known?.size === 0) volumes.delete(key)
  }
}

const secretKey = (namespace: string, name: string): string => `${namespace}/${name}`

const slot = (plural: string, namespace: string, name: string): string => `${plural}/${namespace}/${name}`
