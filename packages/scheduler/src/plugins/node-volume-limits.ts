import { claimNameOf, claimsOfPod, type Pod, storageClassOfClaim } from '@coracle/api'
import type { NodeInfo } from '../node-info.ts'
import type { Storage } from '../storage/storage.ts'
import type { ClusterPlugin, Refusal } from './plugin.ts'

const tooMany: Refusal = { reasons: ['node(s) exceed max volume count'], isHelpedByEviction: true }

/**
 * A node takes only so many volumes of a CSI driver as its CSINode says. Pods that use the same volume count once. What is still attached
 * for pods that are gone counts as well.
 */
export function nodeVolumeLimits(storage: Storage): ClusterPlugin {
  return {
    name: 'NodeVolumeLimits',
    scope: 'cluster',
    signature: (pod) => [pod.metadata.namespace, claimsOfPod(pod)],
    filter(pod) {
      const wanted = csiVolumesOf(pod, storage)
      if (wanted.size === 0) return undefined
      /** By volume: how many of those who have it are taken to have left. What is attached for them goes with them. */
      const left = new Map<string, number>()
      const adjust = (other: Pod, by: 1 | -1) => {
        for (const id of csiVolumesOf(other, storage).keys()) left.set(id, (left.get(id) ?? 0) + by)
      }
      const isLeft = (id: string) => (left.get(id) ?? 0) > 0
      return {
        refuse: (node) => (exceedsLimit(wanted, node, storage, isLeft) ? tooMany : undefined),
        add: (other) => adjust(other, -1),
        remove: (other) => adjust(other, 1),
      }
    },
    isHelpedBy(pod, event) {
      if (event.type === 'claim-changed') {
        const { namespace, name = '' } = event.claim.metadata
        return namespace === pod.metadata.namespace && claimsOfPod(pod).includes(name)
      }
      return event.type === 'volume-changed'
    },
  }
}

const noVolumes: ReadonlyMap<string, string> = new Map()

/** The CSI volumes of a pod: the driver of each, by what tells it from others. */
function csiVolumesOf(pod: Pod, storage: Storage): ReadonlyMap<string, string> {
  if (claimsOfPod(pod).length === 0) return noVolumes
  const volumes = new Map<string, string>()
  const { namespace } = pod.metadata
  for (const volume of pod.spec.volumes ?? []) {
    const name = claimNameOf(pod, volume)
    const claim = name === undefined ? undefined : storage.claim(namespace, name)
    if (claim === undefined) continue
    const { volumeName } = claim.spec ?? {}
    const bound = volumeName ? storage.volume(volumeName) : undefined
    const csi = bound?.spec?.csi
    if (csi !== undefined) volumes.set(idOf(csi), csi.driver)
    // A volume that has yet to be made, or is not there any more, is taken for one of the driver that its class names.
    else if (bound === undefined) {
      const driver = storage.storageClass(storageClassOfClaim(claim) ?? '')?.provisioner
      if (driver !== undefined) volumes.set(`${driver} ${namespace}/${name}`, driver)
    }
  }
  return volumes
}

const idOf = ({ driver, volumeHandle }: { readonly driver: string; readonly volumeHandle: string }): string =>
  `${driver} ${volumeHandle}`

function exceedsLimit(
  wanted: ReadonlyMap<string, string>,
  { name, podsWithClaims }: NodeInfo,
  storage: Storage,
  isLeft: (id: string) => boolean,
): boolean {
  const limits = new Map<string, number>()
  for (const { name: driver, allocatable } of storage.csiNode(name)?.spec.drivers ?? []) {
    if (allocatable?.count !== undefined) limits.set(driver, allocatable.count)
  }
  if (limits.size === 0) return false
  const used = new Map<string, string>()
  for (const pod of podsWithClaims.values()) for (const [id, driver] of csiVolumesOf(pod, storage)) used.set(id, driver)
  for (const { spec } of storage.attachments(name)) {
    const csi = storage.volume(spec.source.persistentVolumeName ?? '')?.spec?.csi
    if (csi !== undefined && !isLeft(idOf(csi))) used.set(idOf(csi), csi.driver)
  }
  const added = new Map([...wanted].filter(([id]) => !used.has(id)))
  return [...new Set(added.values())].some((driver) => {
    const limit = limits.get(driver)
    return limit !== undefined && countOf(driver, used) + countOf(driver, added) > limit
  })
}

function countOf(driver: string, volumes: ReadonlyMap<string, string>): number {
  let count = 0
  for (const each of volumes.values()) if (each === driver) count++
  return count
}
