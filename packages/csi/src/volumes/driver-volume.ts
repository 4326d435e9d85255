import { createHash } from 'node:crypto'
import type { AccessMode, CsiDriver, CsiPersistentVolumeSource, PersistentVolume, Pod, Volume } from '@coracle/api'

/** A secret, by where it is. */
export interface SecretKey {
  readonly namespace: string
  readonly name: string
}

/** A volume of a driver that a pod has, by a claim or as its own. */
export interface DriverVolume {
  /** What events call it: the name of the PersistentVolume, or the pod's name for it. */
  readonly name: string
  /** What the pod calls it. */
  readonly podName: string
  readonly driver: string
  /** What the driver calls it. */
  readonly handle: string
  readonly lifecycle: 'Persistent' | 'Ephemeral'
  readonly readOnly: boolean
  readonly isBlock: boolean
  readonly fsType: string
  readonly accessModes: readonly AccessMode[]
  readonly mountOptions: readonly string[]
  readonly attributes: Readonly<Record<string, string>>
  readonly stageSecret?: SecretKey
  readonly publishSecret?: SecretKey
}

/** What a driver volume of a pod is like; undefined where the volume is no driver's. Pure. */
export function driverVolumeOf(
  pod: Pod,
  volume: Volume,
  persistent: PersistentVolume | undefined,
): DriverVolume | undefined {
  const source = persistent?.spec?.csi
  if (persistent !== undefined && source !== undefined) return claimed(volume, persistent, source)
  const { csi } = volume
  if (csi === undefined) return undefined
  const { namespace = '', uid = '' } = pod.metadata
  const secretName = csi.nodePublishSecretRef?.name
  return {
    name: volume.name,
    podName: volume.name,
    driver: csi.driver,
    handle: ephemeralHandle(uid, volume.name),
    lifecycle: 'Ephemeral',
    readOnly: csi.readOnly === true,
    isBlock: false,
    fsType: csi.fsType ?? '',
    accessModes: [],
    mountOptions: [],
    attributes: csi.volumeAttributes ?? {},
    ...(secretName ? { publishSecret: { namespace, name: secretName } } : {}),
  }
}

function claimed(
  { name: podName, persistentVolumeClaim }: Volume,
  { metadata, spec }: PersistentVolume,
  source: CsiPersistentVolumeSource,
): DriverVolume {
  const stageSecret = keyOf(source.nodeStageSecretRef)
  const publishSecret = keyOf(source.nodePublishSecretRef)
  return {
    name: metadata.name ?? '',
    podName,
    driver: source.driver,
    handle: source.volumeHandle,
    lifecycle: 'Persistent',
    readOnly: persistentVolumeClaim?.readOnly === true,
    isBlock: spec?.volumeMode === 'Block',
    fsType: source.fsType ?? '',
    accessModes: spec?.accessModes ?? [],
    mountOptions: spec?.mountOptions ?? [],
    attributes: source.volumeAttributes ?? {},
    ...(stageSecret === undefined ? {} : { stageSecret }),
    ...(publishSecret === undefined ? {} : { publishSecret }),
  }
}

/** Throws where the driver is not for volumes of this kind (upstream's supportsVolumeLifecycleMode). Pure. */
export function checkLifecycle({ driver: name, lifecycle }: DriverVolume, driver: CsiDriver | undefined): void {
  const modes = driver?.spec.volumeLifecycleModes ?? ['Persistent']
  if (modes.includes(lifecycle)) return
  const why = driver === undefined ? 'no CSIDriver object' : `only supports [${modes.map(quoted).join(' ')}]`
  throw new Error(`volume mode ${quoted(lifecycle)} not supported by driver ${name} (${why})`)
}

const quoted = (text: string): string => JSON.stringify(text)

const keyOf = (reference: CsiPersistentVolumeSource['nodeStageSecretRef']): SecretKey | undefined =>
  reference === undefined ? undefined : { namespace: reference.namespace ?? '', name: reference.name ?? '' }

/** Upstream's makeVolumeHandle. */
const ephemeralHandle = (podUid: string, volumeName: string): string =>
  `csi-${createHash('sha256').update(`${podUid}${volumeName}`).digest('hex')}`
