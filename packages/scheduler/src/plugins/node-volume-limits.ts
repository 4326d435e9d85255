import { claimNameOf, claimsOfPod, type Pod, storageClassOfClaim } from '@coracle/api'
import type { NodeInfo } from '../node-info.ts'
import type { Storage } from '../storage/storage.ts'
import type { ClusterPlugin, Refusal } from './plugin.ts'

const tooMany: Refusal = { reasons: ['node(s) exceed max volume count'], isHelpedByEviction: true }

/** A node takes only so many volumes of a CSI driver as its CSINode says. Pods that use the same volume count once. */
export function nodeVolumeLimits(storage: Storage): ClusterPlugin {
  return {
    name: 'NodeVolumeLimits',
    scope: 'cluster',
    signature: (pod) => [pod.metadata.namespace, claimsOfPod(pod)],
    filter(pod) {
      const wanted = csiVolumesOf(pod, storage)
      if (wanted.size === 0) return undefined
      return {
        refuse: (node) => (exceedsLimit(wanted, node, storage) ? tooMany : undefined),
        add: () => {},
        remove: () => {},
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
    if (csi !== undefined) volumes.set(`${csi.driver} ${csi.volumeHandle}`, csi.driver)
    // A volume that has yet to be made, or is not there any more, is taken for one of the driver that its class names.
    else if (bound === undefined) {
      const driver = storage.storageClass(storageClassOfClaim(claim) ?? '')?.provisioner
      if (driver !== undefined) volumes.set(`${driver} ${namespace}/${name}`, driver)
    }
  }
  return volumes
}

function exceedsLimit(
  wanted: ReadonlyMap<string, string>,
  { name, podsWithClaims }: NodeInfo,
  storage: Storage,
): boolean {
  const limits = new Map<string, number>()
  for (const { name: driver, allocatable } of storage.csiNode(name)?.spec.drivers ?? []) {
    if (allocatable?.count !== undefined) limits.set(driver, allocatable.count)
  }
  if (limits.size === 0) return false
  const used = new Map<string, string>()
  for (const pod of podsWithClaims.values()) for (const [id, driver] of csiVolumesOf(pod, storage)) used.set(id, driver)
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
