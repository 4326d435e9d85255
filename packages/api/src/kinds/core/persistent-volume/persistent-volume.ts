import { formatTime } from '../../../time.ts'
import { ageColumn, column, nameColumn, wideColumn } from '../../columns.ts'
import { kind } from '../../kind.ts'
import { shownAccessModes } from '../access-modes.ts'
import { wholeMillis } from '../common.ts'
import { oldStorageClassAnnotation } from './annotations.ts'
import { type PersistentVolume, persistentVolumeSchema } from './schema.ts'
import { validatePersistentVolume, validatePersistentVolumeUpdate } from './validation.ts'

/** The class that a volume belongs to; empty for none. */
export function storageClassOfVolume({ metadata, spec }: PersistentVolume): string {
  return metadata.annotations?.[oldStorageClassAnnotation] ?? spec?.storageClassName ?? ''
}

const claimOf = ({ spec }: PersistentVolume): string =>
  spec?.claimRef === undefined ? '' : `${spec.claimRef.namespace ?? ''}/${spec.claimRef.name ?? ''}`

/** `v1` persistentvolumes. */
export const persistentVolumes = kind<PersistentVolume>(persistentVolumeSchema, {
  plural: 'persistentvolumes',
  shortNames: ['pv'],
  namespaced: false,
  columns: [
    nameColumn,
    column('Capacity', ({ spec }) => spec?.capacity?.storage ?? '0', 'How large the volume is.'),
    column('Access Modes', ({ spec }) => shownAccessModes(spec?.accessModes), { field: 'spec.accessModes' }),
    column('Reclaim Policy', ({ spec }) => spec?.persistentVolumeReclaimPolicy ?? '', {
      field: 'spec.persistentVolumeReclaimPolicy',
    }),
    column('Status', shownPhase, { field: 'status.phase' }),
    column('Claim', claimOf, 'The claim that has the volume.'),
    column('StorageClass', storageClassOfVolume, { field: 'spec.storageClassName' }),
    column('VolumeAttributesClass', ({ spec }) => spec?.volumeAttributesClassName ?? '<unset>', {
      field: 'spec.volumeAttributesClassName',
    }),
    column('Reason', ({ status }) => status?.reason ?? '', { field: 'status.reason' }),
    ageColumn,
    wideColumn('VolumeMode', ({ spec }) => spec?.volumeMode ?? '<unset>', { field: 'spec.volumeMode' }),
  ],
  rules: { returnsDeletedObject: true },
  defaults: withWholeMillis,
  prepareForCreate: (volume, nowMs) => ({
    ...volume,
    status: { phase: 'Pending', lastPhaseTransitionTime: formatTime(nowMs) },
  }),
  validate: validatePersistentVolume,
  validateUpdate: validatePersistentVolumeUpdate,
})

function withWholeMillis(volume: PersistentVolume): PersistentVolume {
  const capacity = wholeMillis(volume.spec?.capacity)
  return capacity === volume.spec?.capacity ? volume : { ...volume, spec: { ...volume.spec, capacity } }
}

function shownPhase({ metadata, status }: PersistentVolume): string {
  return metadata.deletionTimestamp === undefined ? (status?.phase ?? '') : 'Terminating'
}
