import type { CsiDriver } from '@coracle/api'
import { nodeCapabilities } from '../wire/messages.ts'
import type { DriverVolume } from './driver-volume.ts'

/**
 * Whether what is in the volume is to be given to the group that the pod names, by the node agent (supportsFSGroup of upstream's
 * csi_mounter.go). Pure.
 */
export function givesToGroup(
  { readOnly, fsType, lifecycle, accessModes }: DriverVolume,
  driver: CsiDriver | undefined,
  capabilities: ReadonlySet<number>,
): boolean {
  const policy = driver?.spec.fsGroupPolicy ?? 'ReadWriteOnceWithFSType'
  if (readOnly || policy === 'None' || capabilities.has(nodeCapabilities.volumeMountGroup)) return false
  if (policy === 'File') return true
  if (fsType === '') return false
  return (
    lifecycle === 'Ephemeral' || accessModes.some((mode) => mode === 'ReadWriteOnce' || mode === 'ReadWriteOncePod')
  )
}
