import {
  type PersistentVolume,
  type PersistentVolumeClaim,
  type PersistentVolumeClaimStatus,
  type PersistentVolumeStatus,
  persistentVolumeClaims,
  persistentVolumes,
  type StorageClass,
  volumeAnnotations,
  volumeModeOf,
} from '@coracle/api'
import { finalizersPatch, hasFinalizer, isBeingDeleted, type Plan } from '@coracle/controller-runtime'
import {
  hostnameLabel,
  localPathProvisioner,
  nodeOfLocalVolume,
  provisionerFinalizer,
  volumeNameFor,
} from './provisioner.ts'

/** What to do about a claim. */
export type ProvisionPlan =
  | { readonly type: 'nothing' }
  /** Its volume cannot be made as it is asked for, for this reason. */
  | { readonly type: 'refuse'; readonly message: string }
  /** The volume is made on this node: its directory, and then the object, which is complete but for the path. */
  | { readonly type: 'provision'; readonly nodeName: string; volume(path: string): PersistentVolume }

const accessModes: readonly string[] = ['ReadWriteOnce', 'ReadWriteOncePod']

/** Makes a volume for a claim that asks this provisioner for one. `isOwn`: whether a node is of this process. Pure. */
export function planProvision(
  claim: PersistentVolumeClaim,
  storageClass: StorageClass | undefined,
  isOwn: (nodeName: string) => boolean,
): ProvisionPlan {
  const { annotations = {} } = claim.metadata
  if (claim.spec?.volumeName || isBeingDeleted(claim) || storageClass === undefined) return { type: 'nothing' }
  if (annotations[volumeAnnotations.provisioner] !== localPathProvisioner) return { type: 'nothing' }
  if (storageClass.provisioner !== localPathProvisioner) return { type: 'nothing' }
  const nodeName = annotations[volumeAnnotations.selectedNode]
  if (nodeName !== undefined && !isOwn(nodeName)) return { type: 'nothing' }
  const complaint = complaintOf(claim, nodeName)
  if (complaint !== undefined || nodeName === undefined) {
    const { name } = storageClass.metadata
    return {
      type: 'refuse',
      message: `failed to provision volume with StorageClass ${JSON.stringify(name)}: ${complaint}`,
    }
  }
  return { type: 'provision', nodeName, volume: (path) => localVolume(claim, storageClass, nodeName, path) }
}

function complaintOf({ spec }: PersistentVolumeClaim, nodeName: string | undefined): string | undefined {
  if (nodeName === undefined)
    return 'no node was chosen for it: set volumeBindingMode: WaitForFirstConsumer in the class'
  if (spec?.accessModes?.some((mode) => !accessModes.includes(mode)) === true) {
    return 'a directory of one node only supports the access modes ReadWriteOnce and ReadWriteOncePod'
  }
  if (spec?.selector !== undefined) return 'claim.spec.selector is not supported'
  if (spec?.dataSource !== undefined || spec?.dataSourceRef !== undefined) return 'data sources are not supported'
  return spec?.volumeMode === 'Block' ? 'block volumes are not supported' : undefined
}

/**
 * Leaves it to the scheduler again where a claim gets its volume: its node is not there any more (upstream's provisioners call it
 * rescheduling). Pure.
 */
export function planOtherNode(
  { metadata }: PersistentVolumeClaim,
  nodeName: string,
): Plan<PersistentVolumeClaimStatus> {
  const { namespace = '', name = '', uid, resourceVersion } = metadata
  const body = { metadata: { uid, resourceVersion, annotations: { [volumeAnnotations.selectedNode]: null } } }
  const patch = { type: 'merge', body } as const
  const because = `node ${nodeName}, which was to have its volume, no longer exists`
  return { actions: [{ type: 'patch', resource: persistentVolumeClaims, key: { namespace, name }, patch, because }] }
}

function localVolume(
  claim: PersistentVolumeClaim,
  storageClass: StorageClass,
  nodeName: string,
  path: string,
): PersistentVolume {
  const { namespace, name, uid, resourceVersion } = claim.metadata
  const onNode = { key: hostnameLabel, operator: 'In', values: [nodeName] } as const
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: {
      name: volumeNameFor(claim),
      annotations: { [volumeAnnotations.provisionedBy]: localPathProvisioner },
      finalizers: [provisionerFinalizer],
    },
    spec: {
      capacity: { storage: claim.spec?.resources?.requests?.storage ?? '0' },
      accessModes: claim.spec?.accessModes,
      volumeMode: volumeModeOf(claim) === 'Block' ? 'Block' : 'Filesystem',
      storageClassName: storageClass.metadata.name,
      persistentVolumeReclaimPolicy: storageClass.reclaimPolicy ?? 'Delete',
      mountOptions: storageClass.mountOptions,
      claimRef: { apiVersion: 'v1', kind: 'PersistentVolumeClaim', namespace, name, uid, resourceVersion },
      local: { path },
      nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [onNode] }] } },
    },
  }
}

/** What to do about a volume: what its directory holds goes before the object does. */
export interface DeletionPlan extends Plan<PersistentVolumeStatus> {
  /** The directory that is to be removed before anything else is done. */
  readonly removes?: { readonly nodeName: string; readonly volumeName: string; readonly path: string }
}

/**
 * Deletes a volume of this provisioner and what is in it, once its claim is gone or somebody deletes it, if its policy is Delete.
 * With another policy the object may go and the directory stays; so it does where the node is gone for good. Pure.
 */
export function planDeletion(
  volume: PersistentVolume,
  isOwn: (nodeName: string) => boolean,
  isNodeGone = false,
): DeletionPlan {
  const nodeName = nodeOfLocalVolume(volume)
  if (nodeName === undefined || (!isNodeGone && !isOwn(nodeName))) return { actions: [] }
  const { name = '', uid } = volume.metadata
  const isGoing = isBeingDeleted(volume)
  const held = hasFinalizer(volume, provisionerFinalizer)
  if (volume.spec?.persistentVolumeReclaimPolicy !== 'Delete') {
    return { actions: held ? [withoutFinalizer(volume, 'its policy keeps what is in it')] : [] }
  }
  const { phase } = volume.status ?? {}
  const isUnused = phase === 'Released' || (isGoing && phase !== 'Bound')
  if (!isUnused || (isGoing && !held)) return { actions: [] }
  const because = `its claim is gone, and so is ${isNodeGone ? `node ${nodeName}, which it was on` : 'what was in it'}`
  const deletion = { type: 'delete', resource: persistentVolumes, key: { name }, because } as const
  return {
    ...(isNodeGone ? {} : { removes: { nodeName, volumeName: name, path: volume.spec?.local?.path ?? '' } }),
    actions: isGoing ? [withoutFinalizer(volume, because)] : [uid === undefined ? deletion : { ...deletion, uid }],
  }
}

function withoutFinalizer(volume: PersistentVolume, because: string) {
  const { name = '', finalizers = [] } = volume.metadata
  const left = finalizers.filter((each) => each !== provisionerFinalizer)
  const patch = finalizersPatch(volume, left)
  return { type: 'patch', resource: persistentVolumes, key: { name }, patch, because } as const
}
