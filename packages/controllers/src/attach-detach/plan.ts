import {
  attachmentName,
  deepEqual,
  type Node,
  type NodeStatus,
  nodes,
  type PersistentVolume,
  type Pod,
  uniqueVolumeName,
  type VolumeAttachment,
  volumeAttachments,
} from '@coracle/api'
import type { Action, Plan } from '@coracle/controller-runtime'
import type { Time } from '@coracle/environment'

/** A node that is not well keeps volumes for so long that it may still use: upstream's maxWaitForUnmountDuration. */
export const unmountMaxMs = 360_000

const outOfServiceTaint = 'node.kubernetes.io/out-of-service'

/** A volume of a CSI driver that pods of the node have, and that is to be attached. */
export interface WantedVolume {
  readonly volume: PersistentVolume
  readonly pods: readonly Pod[]
  /** Names of pods on other nodes that have it, too. */
  readonly otherPods: readonly string[]
  readonly isAttachedElsewhere: boolean
}

/** What is attached to the node, or is to be, with its volume. */
export interface KnownAttachment {
  readonly attachment: VolumeAttachment
  readonly volume: PersistentVolume
}

/** What is to be remembered of a node from look to look. */
export interface NodeMemory {
  /** Since when attachments are no longer wanted, by name. */
  readonly unwantedSince: ReadonlyMap<string, Time>
  /** What pods have been told. */
  readonly told: ReadonlySet<string>
}

export interface ObservedNode {
  readonly name: string
  /** Undefined: it is gone. */
  readonly node: Node | undefined
  readonly wanted: readonly WantedVolume[]
  readonly attachments: readonly KnownAttachment[]
  readonly memory: NodeMemory
}

export interface AttachmentPlan extends Plan<NodeStatus> {
  readonly memory: NodeMemory
}

/**
 * Has the volumes that pods of a node have attached to it, and others detached when the node does not use them any more; whoever attaches
 * does that as VolumeAttachments say. What the Node says is attached is taken back before it is (upstream's attach detach controller).
 * Pure.
 */
export function planAttachments(observed: ObservedNode, nowMs: Time): AttachmentPlan {
  const { name, wanted, attachments, memory } = observed
  const wantedNames = new Set(wanted.map(({ volume }) => nameOf(volume, name)))
  const unwanted = attachments.filter(
    ({ attachment: { metadata } }) => metadata.deletionTimestamp === undefined && !wantedNames.has(metadata.name ?? ''),
  )
  const unwantedSince = new Map(
    unwanted.map(({ attachment: { metadata } }) => {
      const key = metadata.name ?? ''
      return [key, memory.unwantedSince.get(key) ?? nowMs]
    }),
  )
  const detached = unwanted.filter((each) => mayDetach(each, observed, unwantedSince, nowMs))
  const attached = wanted.map((each) => planWanted(each, observed))
  const told = new Set(attached.flatMap((each) => each.told))
  // One that has had its time stays as long as the Node is well, which is looked at with each change of that.
  const waiting = unwanted.filter((each) => !detached.includes(each) && !isLate(each, unwantedSince, nowMs))
  return {
    actions: [
      ...planStatus(observed, new Set(detached.map(({ attachment }) => attachment))),
      ...detached.map(({ attachment }) => detach(attachment)),
      ...attached.flatMap((each) => each.actions),
    ],
    ...(waiting.length === 0 ? {} : { requeueAfterMs: waitMs(waiting, unwantedSince, nowMs) }),
    memory: { unwantedSince, told },
  }
}

/** The name of the attachment of a volume to a node. */
export const nameOf = ({ spec }: PersistentVolume, nodeName: string): string =>
  attachmentName(spec?.csi?.driver ?? '', spec?.csi?.volumeHandle ?? '', nodeName)

const reportedName = ({ spec }: PersistentVolume): string =>
  uniqueVolumeName(spec?.csi?.driver ?? '', spec?.csi?.volumeHandle ?? '')

/** When the first of those that a node may still use is to be given up, if it does not get well. */
const waitMs = (waiting: readonly KnownAttachment[], since: ReadonlyMap<string, Time>, nowMs: Time): number =>
  Math.min(...waiting.map((each) => endOf(each, since, nowMs))) - nowMs

const endOf = ({ attachment }: KnownAttachment, since: ReadonlyMap<string, Time>, nowMs: Time): Time =>
  (since.get(attachment.metadata.name ?? '') ?? nowMs) + unmountMaxMs

const isLate = (known: KnownAttachment, since: ReadonlyMap<string, Time>, nowMs: Time): boolean =>
  nowMs >= endOf(known, since, nowMs)

/** Whether the node does not use the volume, or is in no state to say so. */
function mayDetach(
  known: KnownAttachment,
  { node }: ObservedNode,
  since: ReadonlyMap<string, Time>,
  nowMs: Time,
): boolean {
  if (node?.spec?.taints?.some(({ key }) => key === outOfServiceTaint) === true) return true
  if (node !== undefined && !(node.status?.volumesInUse ?? []).includes(reportedName(known.volume))) return true
  return isLate(known, since, nowMs) && !isReady(node)
}

const isReady = (node: Node | undefined): boolean =>
  node?.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') === true

const detach = ({ metadata: { name = '', uid } }: VolumeAttachment): Action => ({
  type: 'delete',
  resource: volumeAttachments,
  key: { name },
  ...(uid === undefined ? {} : { uid }),
  because: 'no pod on the node has the volume any more',
})

/** What the Node is to say of what is attached to it, and stays so. Of other kinds of volumes it may say more. */
function planStatus(
  { name, node, attachments }: ObservedNode,
  detached: ReadonlySet<VolumeAttachment>,
): readonly Action[] {
  if (node === undefined) return []
  const before = node.status?.volumesAttached ?? []
  const reported = attachments
    .filter(({ attachment }) => isAttached(attachment) && !detached.has(attachment))
    .map(({ volume }) => ({ name: reportedName(volume), devicePath: '' }))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
  const volumesAttached = [...before.filter((each) => !each.name.startsWith('kubernetes.io/csi/')), ...reported]
  if (deepEqual(before, volumesAttached)) return []
  const patch = { type: 'merge', body: { status: { volumesAttached } } } as const
  const because = 'what is attached to the node has changed'
  return [{ type: 'patch', resource: nodes, key: { name }, subresource: 'status', patch, because }]
}

const isAttached = ({ metadata, status }: VolumeAttachment): boolean =>
  status?.attached === true && metadata.deletionTimestamp === undefined

interface WantedPlan {
  readonly actions: readonly Action[]
  readonly told: readonly string[]
}

function planWanted(wanted: WantedVolume, { name, node, attachments, memory }: ObservedNode): WantedPlan {
  const { volume, pods } = wanted
  const key = nameOf(volume, name)
  const found = attachments.find(({ attachment }) => attachment.metadata.name === key)?.attachment
  if (found === undefined) return planMissing(wanted, name, memory)
  const { attachError } = found.status ?? {}
  if (isAttached(found)) {
    const isKnown = node?.status?.volumesAttached?.some((each) => each.name === reportedName(volume)) === true
    const message = `AttachVolume.Attach succeeded for volume "${volume.metadata.name}" `
    return { actions: isKnown ? [] : tell(pods, 'Normal', 'SuccessfulAttachVolume', message), told: [] }
  }
  if (!attachError?.message) return { actions: [], told: [] }
  const message = `AttachVolume.Attach failed for volume "${volume.metadata.name}" : ${attachError.message}`
  return toldOnce(`${key} ${attachError.time} ${message}`, pods, message, memory)
}

function planMissing(
  { volume, pods, otherPods, isAttachedElsewhere }: WantedVolume,
  nodeName: string,
  memory: NodeMemory,
): WantedPlan {
  const { name: volumeName = '' } = volume.metadata
  const key = nameOf(volume, nodeName)
  if (isAttachedElsewhere && isForOneNode(volume)) {
    const why =
      otherPods.length > 0
        ? `Volume is already used by pod(s) ${otherPods.join(', ')}`
        : "Volume is already exclusively attached to one node and can't be attached to another"
    const message = `Multi-Attach error for volume "${volumeName}" ${why}`
    return toldOnce(`${key} ${message}`, pods, message, memory)
  }
  const attachment: VolumeAttachment = {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'VolumeAttachment',
    metadata: { name: key },
    spec: {
      attacher: volume.spec?.csi?.driver ?? '',
      nodeName,
      source: { persistentVolumeName: volumeName },
    },
  }
  const because = `pod ${pods[0]?.metadata.name} on the node has the volume`
  return { actions: [{ type: 'create', resource: volumeAttachments, object: attachment, because }], told: [] }
}

/** Whether the volume can be attached to one node at a time (upstream's IsMultiAttachAllowed). */
function isForOneNode({ spec }: PersistentVolume): boolean {
  const modes = spec?.accessModes ?? []
  return modes.length > 0 && !modes.some((mode) => mode === 'ReadWriteMany' || mode === 'ReadOnlyMany')
}

const toldOnce = (key: string, pods: readonly Pod[], message: string, { told }: NodeMemory): WantedPlan => ({
  actions: told.has(key) ? [] : tell(pods, 'Warning', 'FailedAttachVolume', message),
  told: [key],
})

const tell = (
  pods: readonly Pod[],
  eventType: 'Normal' | 'Warning',
  reason: string,
  message: string,
): readonly Action[] => pods.map((about) => ({ type: 'event', eventType, reason, message, about, because: message }))
