import { type PersistentVolume, type PersistentVolumeClaim, type StorageClass, volumeAnnotations } from '@coracle/api'

/** The name under which classes and volumes know the provisioner. */
export const localPathProvisioner = 'coracle.dev/local-path'

/** The user it acts as. */
export const localPathProvisionerIdentity = 'system:serviceaccount:kube-system:local-path-provisioner'

/** The label by which volumes say on which node they are. */
export const hostnameLabel = 'kubernetes.io/hostname'

/**
 * Keeps a volume until its directory is gone, also where it is deleted before its claim: the finalizer of provisioners in general
 * (https://kep.k8s.io/2644).
 */
export const provisionerFinalizer = 'external-provisioner.volume.kubernetes.io/finalizer'

/** The class that a new cluster has: every claim that names none gets a directory of the node on which it is first used. */
export const localPathClass: StorageClass = {
  apiVersion: 'storage.k8s.io/v1',
  kind: 'StorageClass',
  metadata: { name: 'local-path', annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
  provisioner: localPathProvisioner,
  reclaimPolicy: 'Delete',
  volumeBindingMode: 'WaitForFirstConsumer',
}

/** Where the directories of volumes are made: on the nodes that this process is, or those of agents that it can ask. */
export interface LocalVolumes {
  /** Whether the node is one of them. */
  isOwn(nodeName: string): boolean
  /** Whether nodes come and go. Then they are watched: what waits for one is looked at when that is there. False unless set. */
  readonly nodesChange?: boolean
  /** Makes the directory of a volume, where it is not there yet, and gives its path. */
  create(nodeName: string, volumeName: string): Promise<string>
  /** Removes it and all that is in it. Rejects where `path` is not the one that `create` gave. */
  remove(nodeName: string, volumeName: string, path: string): Promise<void>
}

/** The node that a volume of this provisioner is on; undefined for volumes of others. */
export function nodeOfLocalVolume({ metadata, spec }: PersistentVolume): string | undefined {
  if (metadata.annotations?.[volumeAnnotations.provisionedBy] !== localPathProvisioner) return undefined
  const [term] = spec?.nodeAffinity?.required?.nodeSelectorTerms ?? []
  return term?.matchExpressions?.find(({ key }) => key === hostnameLabel)?.values?.[0]
}

/** The name of the volume that is made for a claim, the same however often it is tried. */
export const volumeNameFor = ({ metadata }: PersistentVolumeClaim): string => `pvc-${metadata.uid}`
