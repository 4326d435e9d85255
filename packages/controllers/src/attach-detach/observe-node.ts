import {
  type CsiDriver,
  claimNameOf,
  csiDrivers,
  isClaimedBy,
  type Node,
  type PersistentVolume,
  type Pod,
  persistentVolumeClaims,
  persistentVolumes,
  pods,
  type VolumeAttachment,
  volumeAttachments,
} from '@coracle/api'
import { keyText } from '@coracle/client'
import type { Lookup } from '@coracle/controller-runtime'
import { claimIndexName } from '../pods/by-claim.ts'
import { nodeIndexName } from '../pods/by-node.ts'
import { attachmentNodeIndexName, attachmentVolumeIndexName } from './indexes.ts'
import { type KnownAttachment, type NodeMemory, nameOf, type ObservedNode, type WantedVolume } from './plan.ts'

/** What there is to know of the volumes of a node. */
export function observeNode(name: string, node: Node | undefined, memory: NodeMemory, lookup: Lookup): ObservedNode {
  return { name, node, memory, wanted: wantedOn(name, lookup), attachments: attachmentsTo(name, lookup) }
}

function wantedOn(nodeName: string, lookup: Lookup): readonly WantedVolume[] {
  const users = new Map<string, { readonly volume: PersistentVolume; readonly pods: Pod[] }>()
  for (const pod of lookup.informer(pods).byIndex(nodeIndexName, nodeName)) {
    if (isOver(pod)) continue
    for (const volume of attachedVolumesOf(pod, lookup)) {
      const name = volume.metadata.name ?? ''
      const known = users.get(name) ?? { volume, pods: [] }
      known.pods.push(pod)
      users.set(name, known)
    }
  }
  return [...users.values()].map(({ volume, pods: own }) => ({
    volume,
    pods: own,
    otherPods: otherPodsOf(volume, nodeName, lookup),
    isAttachedElsewhere: lookup
      .informer(volumeAttachments)
      .byIndex(attachmentVolumeIndexName, volume.metadata.name ?? '')
      .some(({ spec }) => spec.nodeName !== nodeName),
  }))
}

function attachedVolumesOf(pod: Pod, lookup: Lookup): readonly PersistentVolume[] {
  const { namespace } = pod.metadata
  return (pod.spec.volumes ?? []).flatMap((each) => {
    const claimName = claimNameOf(pod, each)
    const claim = claimName && lookup.informer(persistentVolumeClaims).get(keyText(namespace, claimName))
    if (!claim) return []
    const volume = lookup.informer(persistentVolumes).get(claim.spec?.volumeName ?? '')
    const isIts = volume !== undefined && isClaimedBy(volume, claim)
    return isIts && needsAttachment(volume, lookup) ? [volume] : []
  })
}

/** Where nobody says what the driver needs, it does, as upstream. */
function needsAttachment({ spec }: PersistentVolume, lookup: Lookup): boolean {
  const driver: CsiDriver | undefined = spec?.csi && lookup.informer(csiDrivers).get(spec.csi.driver)
  return spec?.csi !== undefined && driver?.spec.attachRequired !== false
}

function otherPodsOf({ spec }: PersistentVolume, nodeName: string, lookup: Lookup): readonly string[] {
  const { namespace, name = '' } = spec?.claimRef ?? {}
  const users = lookup.informer(pods).byIndex(claimIndexName, keyText(namespace, name))
  return users
    .filter((pod) => Boolean(pod.spec.nodeName) && pod.spec.nodeName !== nodeName && !isOver(pod))
    .map(({ metadata }) => metadata.name ?? '')
    .sort()
}

/** Those of volumes that are there, and which are called as this controller calls them. */
function attachmentsTo(nodeName: string, lookup: Lookup): readonly KnownAttachment[] {
  const found: readonly VolumeAttachment[] = lookup
    .informer(volumeAttachments)
    .byIndex(attachmentNodeIndexName, nodeName)
  return found.flatMap((attachment) => {
    const volume = lookup.informer(persistentVolumes).get(attachment.spec.source.persistentVolumeName ?? '')
    const isOwn = volume !== undefined && nameOf(volume, nodeName) === attachment.metadata.name
    return isOwn ? [{ attachment, volume }] : []
  })
}

/** Whether the pod has ended, or is about to go and runs nothing any more (upstream's IsPodTerminated). */
function isOver({ metadata, status }: Pod): boolean {
  if (status?.phase === 'Succeeded' || status?.phase === 'Failed') return true
  const runs = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])]
  return metadata.deletionTimestamp !== undefined && runs.every(({ state }) => state?.running === undefined)
}
