import { FieldPath } from '../../../field-path.ts'
import { formatTime } from '../../../time.ts'
import { ageColumn, column, nameColumn, wideColumn } from '../../columns.ts'
import { kind } from '../../kind.ts'
import { shownAccessModes } from '../access-modes.ts'
import { wholeMillis } from '../common.ts'
import { nodeTermWarnings } from '../node/deprecated-labels.ts'
import { formerVolumeWarnings } from '../pod/pod-warnings.ts'
import { oldStorageClassAnnotation } from './annotations.ts'
import { type PersistentVolume, persistentVolumeSchema } from './schema.ts'
import { volumeChecks } from './volume-checks.ts'

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
  prepareForStatusUpdate: withTransitionTime,
  load: volumeChecks.load,
  validate: (volume) => volumeChecks.get().validatePersistentVolume(volume),
  validateUpdate: (volume, old) => volumeChecks.get().validatePersistentVolumeUpdate(volume, old),
  warnings,
})

/** When the phase last changed is known even where whoever changes it does not say so. */
function withTransitionTime(volume: PersistentVolume, old: PersistentVolume, nowMs: number): PersistentVolume {
  const { lastPhaseTransitionTime: said } = volume.status ?? {}
  const { lastPhaseTransitionTime: before } = old.status ?? {}
  const changes = volume.status?.phase !== old.status?.phase
  if (changes ? said !== undefined && said !== before : said !== undefined || before === undefined) return volume
  const lastPhaseTransitionTime = changes ? formatTime(nowMs) : before
  return { ...volume, status: { ...volume.status, lastPhaseTransitionTime } }
}

const deprecatedAnnotations: Readonly<Record<string, string>> = {
  'volume.beta.kubernetes.io/storage-class': 'deprecated since v1.8; use "storageClassName" attribute instead',
  'volume.beta.kubernetes.io/mount-options': 'deprecated since v1.31; use "mountOptions" attribute instead',
}

/** What is out of use (api/persistentvolume GetWarningsForPersistentVolume). */
function warnings({ metadata: { annotations = {} }, spec = {} }: PersistentVolume): readonly string[] {
  const specPath = FieldPath.of('spec')
  const terms = specPath.field('nodeAffinity').field('required').field('nodeSelectorTerms')
  return [
    ...Object.entries(deprecatedAnnotations).flatMap(([key, message]) =>
      annotations[key] === undefined ? [] : [`${FieldPath.of('metadata', 'annotations').key(key)}: ${message}`],
    ),
    ...(spec.persistentVolumeReclaimPolicy === 'Recycle'
      ? [
          'spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning.',
        ]
      : []),
    ...(spec.nodeAffinity?.required?.nodeSelectorTerms ?? []).flatMap((term, index) =>
      nodeTermWarnings(term, terms.index(index), { checksValues: false }),
    ),
    ...formerVolumeWarnings(spec, specPath, ['flocker', 'quobyte']),
  ]
}

function withWholeMillis(volume: PersistentVolume): PersistentVolume {
  const capacity = wholeMillis(volume.spec?.capacity)
  return capacity === volume.spec?.capacity ? volume : { ...volume, spec: { ...volume.spec, capacity } }
}

function shownPhase({ metadata, status }: PersistentVolume): string {
  return metadata.deletionTimestamp === undefined ? (status?.phase ?? '') : 'Terminating'
}
