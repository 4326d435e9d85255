import { compareQuantity, goText, isJsonObject, type JsonObject } from '@coracle/api'
import type { Description } from './description.ts'

/** A line of a description: its label, the field it shows or what reads it, and what it shows where that is absent. */
type FieldLine = readonly [
  label: string,
  field: string | ((source: JsonObject, persistent: boolean) => unknown),
  absent: unknown,
]

interface SourceForm {
  readonly title: string
  readonly lines: readonly FieldLine[]
}

const isAboveZero = (amount: unknown): boolean => typeof amount === 'string' && compareQuantity(amount, '0') > 0

const fsType: FieldLine = ['FSType', 'fsType', '']
const readOnly: FieldLine = ['ReadOnly', 'readOnly', false]
const secretRef: FieldLine = ['SecretRef', (source, persistent) => referenceText(source.secretRef, persistent), 'nil']
const optional: FieldLine = ['Optional', 'optional', false]

/**
 * What kubectl tells of the sources of volumes whose fields follow from a list, in pods and PersistentVolumes alike
 * (describe.go's print…VolumeSource). Where both have a source, the fields that only one has stand in `persistentOnly`.
 */
const forms: Readonly<Record<string, SourceForm>> = {
  awsElasticBlockStore: {
    title: 'AWSElasticBlockStore (a Persistent Disk resource in AWS)',
    lines: [['VolumeID', 'volumeID', ''], fsType, ['Partition', 'partition', 0], readOnly],
  },
  azureDisk: {
    title: 'AzureDisk (an Azure Data Disk mount on the host and bind mount to the pod)',
    lines: [
      ['DiskName', 'diskName', ''],
      ['DiskURI', 'diskURI', ''],
      ['Kind', 'kind', ''],
      fsType,
      ['CachingMode', 'cachingMode', ''],
      readOnly,
    ],
  },
  azureFile: {
    title: 'AzureFile (an Azure File Service mount on the host and bind mount to the pod)',
    lines: [['SecretName', 'secretName', ''], ['ShareName', 'shareName', ''], readOnly],
  },
  cephfs: {
    title: "CephFS (a CephFS mount on the host that shares a pod's lifetime)",
    lines: [
      ['Monitors', 'monitors', []],
      ['Path', 'path', ''],
      ['User', 'user', ''],
      ['SecretFile', 'secretFile', ''],
      secretRef,
      readOnly,
    ],
  },
  cinder: {
    title: 'Cinder (a Persistent Disk resource in OpenStack)',
    lines: [['VolumeID', 'volumeID', ''], fsType, readOnly, secretRef],
  },
  configMap: {
    title: 'ConfigMap (a volume populated by a ConfigMap)',
    lines: [['Name', 'name', ''], optional],
  },
  csi: {
    title: 'CSI (a Container Storage Interface (CSI) volume source)',
    lines: [['Driver', 'driver', ''], fsType, readOnly],
  },
  emptyDir: {
    title: "EmptyDir (a temporary directory that shares a pod's lifetime)",
    lines: [
      ['Medium', 'medium', ''],
      ['SizeLimit', ({ sizeLimit }) => (isAboveZero(sizeLimit) ? sizeLimit : undefined), '<unset>'],
    ],
  },
  fc: {
    title: 'FC (a Fibre Channel disk)',
    lines: [
      ['TargetWWNs', ({ targetWWNs }) => (Array.isArray(targetWWNs) ? targetWWNs.join(', ') : undefined), ''],
      ['LUN', 'lun', '<none>'],
      fsType,
      readOnly,
    ],
  },
  flexVolume: {
    title: 'FlexVolume (a generic volume resource that is provisioned/attached using an exec based plugin)',
    lines: [['Driver', 'driver', ''], fsType, secretRef, readOnly, ['Options', 'options', {}]],
  },
  flocker: {
    title: 'Flocker (a Flocker volume mounted by the Flocker agent)',
    lines: [
      ['DatasetName', 'datasetName', ''],
      ['DatasetUUID', 'datasetUUID', ''],
    ],
  },
  gcePersistentDisk: {
    title: 'GCEPersistentDisk (a Persistent Disk resource in Google Compute Engine)',
    lines: [['PDName', 'pdName', ''], fsType, ['Partition', 'partition', 0], readOnly],
  },
  gitRepo: {
    title: 'GitRepo (a volume that is pulled from git when the pod is created)',
    lines: [
      ['Repository', 'repository', ''],
      ['Revision', 'revision', ''],
    ],
  },
  glusterfs: {
    title: "Glusterfs (a Glusterfs mount on the host that shares a pod's lifetime)",
    lines: [['EndpointsName', 'endpoints', ''], ['Path', 'path', ''], readOnly],
  },
  hostPath: {
    title: 'HostPath (bare host directory volume)',
    lines: [
      ['Path', 'path', ''],
      ['HostPathType', 'type', '<none>'],
    ],
  },
  image: {
    title: 'Image (a container image or OCI artifact)',
    lines: [
      ['Reference', 'reference', ''],
      ['PullPolicy', 'pullPolicy', ''],
    ],
  },
  iscsi: {
    title: "ISCSI (an ISCSI Disk resource that is attached to a kubelet's host machine and then exposed to the pod)",
    lines: [
      ['TargetPortal', 'targetPortal', ''],
      ['IQN', 'iqn', ''],
      ['Lun', 'lun', 0],
      ['ISCSIInterface', 'iscsiInterface', ''],
      fsType,
      readOnly,
      ['Portals', 'portals', []],
      ['DiscoveryCHAPAuth', 'chapAuthDiscovery', false],
      ['SessionCHAPAuth', 'chapAuthSession', false],
      secretRef,
      ['InitiatorName', 'initiatorName', '<none>'],
    ],
  },
  local: {
    title: 'LocalVolume (a persistent volume backed by local storage on a node)',
    lines: [['Path', 'path', '']],
  },
  nfs: {
    title: 'NFS (an NFS mount that lasts the lifetime of a pod)',
    lines: [['Server', 'server', ''], ['Path', 'path', ''], readOnly],
  },
  persistentVolumeClaim: {
    title: 'PersistentVolumeClaim (a reference to a PersistentVolumeClaim in the same namespace)',
    lines: [['ClaimName', 'claimName', ''], readOnly],
  },
  photonPersistentDisk: {
    title: 'PhotonPersistentDisk (a Persistent Disk resource in photon platform)',
    lines: [['PdID', 'pdID', ''], fsType],
  },
  portworxVolume: {
    title: 'PortworxVolume (a Portworx Volume resource)',
    lines: [['VolumeID', 'volumeID', '']],
  },
  quobyte: {
    title: "Quobyte (a Quobyte mount on the host that shares a pod's lifetime)",
    lines: [['Registry', 'registry', ''], ['Volume', 'volume', ''], readOnly],
  },
  rbd: {
    title: "RBD (a Rados Block Device mount on the host that shares a pod's lifetime)",
    lines: [
      ['CephMonitors', 'monitors', []],
      ['RBDImage', 'image', ''],
      fsType,
      ['RBDPool', 'pool', ''],
      ['RadosUser', 'user', ''],
      ['Keyring', 'keyring', ''],
      secretRef,
      readOnly,
    ],
  },
  scaleIO: {
    title: 'ScaleIO (a persistent volume backed by a block device in ScaleIO)',
    lines: [
      ['Gateway', 'gateway', ''],
      ['System', 'system', ''],
      ['Protection Domain', 'protectionDomain', ''],
      ['Storage Pool', 'storagePool', ''],
      ['Storage Mode', 'storageMode', ''],
      ['VolumeName', 'volumeName', ''],
      fsType,
      readOnly,
    ],
  },
  secret: {
    title: 'Secret (a volume populated by a Secret)',
    lines: [['SecretName', 'secretName', ''], optional],
  },
  storageos: {
    title: 'StorageOS (a StorageOS Persistent Disk resource)',
    lines: [['VolumeName', 'volumeName', ''], ['VolumeNamespace', 'volumeNamespace', ''], fsType, readOnly],
  },
  vsphereVolume: {
    title: 'vSphereVolume (a Persistent Disk resource in vSphere)',
    lines: [['VolumePath', 'volumePath', ''], fsType, ['StoragePolicyName', 'storagePolicyName', '']],
  },
}

/** Lines that PersistentVolumes have beside those of pods, by source, after the line of this label. */
const persistentOnly: Readonly<Record<string, { readonly after: string; readonly lines: readonly FieldLine[] }>> = {
  azureFile: { after: 'SecretName', lines: [['SecretNamespace', 'secretNamespace', '']] },
  csi: { after: 'FSType', lines: [['VolumeHandle', 'volumeHandle', '']] },
  glusterfs: { after: 'EndpointsName', lines: [['EndpointsNamespace', 'endpointsNamespace', '<unset>']] },
  scaleIO: {
    after: 'VolumeName',
    lines: [
      ['SecretName', ({ secretRef }) => (isJsonObject(secretRef) ? secretRef.name : undefined), ''],
      ['SecretNamespace', ({ secretRef }) => (isJsonObject(secretRef) ? secretRef.namespace : undefined), ''],
    ],
  },
}

/**
 * Tells the type of a volume and the fields of its source, which stands in `volume` under the name of its type. False
 * where the source is of a type that this says nothing of.
 */
export function describeVolumeSource(text: Description, volume: JsonObject, { persistent = false } = {}): boolean {
  const type = Object.keys(volume).find((key) => Object.hasOwn(forms, key) && isJsonObject(volume[key]))
  const form = type === undefined ? undefined : forms[type]
  if (type === undefined || form === undefined) return false
  const source = volume[type] as JsonObject
  text.field(2, 'Type', form.title)
  const added = persistent ? persistentOnly[type] : undefined
  for (const line of form.lines) {
    describeLine(text, line, source, persistent)
    if (line[0] === added?.after) for (const each of added.lines) describeLine(text, each, source, persistent)
  }
  if (type === 'csi') describeAttributes(text, source.volumeAttributes)
  return true
}

function describeLine(
  text: Description,
  [label, field, absent]: FieldLine,
  source: JsonObject,
  persistent: boolean,
): void {
  const value = typeof field === 'string' ? source[field] : field(source, persistent)
  // kubectl forgot the colon here.
  const colon = label === 'ISCSIInterface' ? '' : ':'
  text.line(2, `${label}${colon}\t${goText(value ?? absent)}`)
}

/** A reference to a secret as Go prints the structure: those of PersistentVolumes may be of any namespace. */
function referenceText(reference: unknown, persistent: boolean): string | undefined {
  if (!isJsonObject(reference)) return undefined
  const { name = '', namespace = '' } = reference
  if (!persistent) return `&LocalObjectReference{Name:${name},}`
  return `&SecretReference{Name:${name},Namespace:${namespace},}`
}

/** Longest attribute that is shown whole. */
const attributeLengthMax = 140

function describeAttributes(text: Description, attributes: unknown): void {
  const pairs = Object.entries(isJsonObject(attributes) ? attributes : {}).sort()
  const lines = pairs.map(([key, value]) => `${key}=${value}`)
  const [first, ...others] = lines.map((line) =>
    line.length > attributeLengthMax ? `${line.slice(0, attributeLengthMax)}...` : line,
  )
  text.field(2, 'VolumeAttributes', first === undefined ? '<none>' : `    ${first}`)
  for (const other of others) text.line(4, `\t    ${other}`)
}
