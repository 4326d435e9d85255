import { FieldPath } from '../../../field-path.ts'
import { ageColumn, column, nameColumn, wideColumn } from '../../columns.ts'
import { kind } from '../../kind.ts'
import { shownAccessModes } from '../access-modes.ts'
import { wholeMillis } from '../common.ts'
import { oldStorageClassAnnotation } from '../persistent-volume/annotations.ts'
import { storageWarnings } from '../pod/pod-warnings.ts'
import type { PersistentVolumeClaimSpec } from '../pod/volume.ts'
import { claimChecks } from './claim-checks.ts'
import { type PersistentVolumeClaim, persistentVolumeClaimSchema } from './schema.ts'

/** The class that a claim names: empty for storage without a class, undefined where it says nothing. */
export function storageClassOfClaim({
  metadata,
  spec,
}: Pick<PersistentVolumeClaim, 'metadata' | 'spec'>): string | undefined {
  return metadata.annotations?.[oldStorageClassAnnotation] ?? spec?.storageClassName
}

const whenBound = (claim: PersistentVolumeClaim, cell: string): string => (claim.spec?.volumeName ? cell : '')

/** `v1` persistentvolumeclaims. */
export const persistentVolumeClaims = kind<PersistentVolumeClaim>(persistentVolumeClaimSchema, {
  plural: 'persistentvolumeclaims',
  shortNames: ['pvc'],
  columns: [
    nameColumn,
    column('Status', shownPhase, { field: 'status.phase' }),
    column('Volume', ({ spec }) => spec?.volumeName ?? '', { field: 'spec.volumeName' }),
    column('Capacity', (claim) => whenBound(claim, claim.status?.capacity?.storage ?? '0'), 'How large the volume is.'),
    column('Access Modes', (claim) => whenBound(claim, shownAccessModes(claim.status?.accessModes)), {
      field: 'status.accessModes',
    }),
    column('StorageClass', (claim) => storageClassOfClaim(claim) ?? '', { field: 'spec.storageClassName' }),
    column('VolumeAttributesClass', ({ spec }) => spec?.volumeAttributesClassName ?? '<unset>', {
      field: 'spec.volumeAttributesClassName',
    }),
    ageColumn,
    wideColumn('VolumeMode', ({ spec }) => spec?.volumeMode ?? '<unset>', { field: 'spec.volumeMode' }),
  ],
  rules: { returnsDeletedObject: true },
  defaults: withWholeMillis,
  prepareForCreate: (claim) => ({
    ...claim,
    spec: withDataSources(withoutForeignSource(claim.spec ?? {}, undefined)),
    status: { phase: 'Pending' },
  }),
  // A claim that has a source keeps it, whichever of its fields a client leaves out.
  prepareForUpdate: (claim, old) => {
    const hasSource = old.spec?.dataSource !== undefined || old.spec?.dataSourceRef !== undefined
    const spec = withoutForeignSource(claim.spec ?? {}, old.spec)
    const after = hasSource ? withBothSources(spec) : withDataSources(spec)
    return after === claim.spec ? claim : { ...claim, spec: after }
  },
  load: claimChecks.load,
  validate: (claim) => claimChecks.get().validatePersistentVolumeClaim(claim),
  validateUpdate: (claim, old) => claimChecks.get().validatePersistentVolumeClaimUpdate(claim, old),
  validateStatusUpdate: (claim) => claimChecks.get().validatePersistentVolumeClaimStatus(claim),
  warnings: ({ metadata, spec }) => [
    ...(metadata.annotations?.[oldStorageClassAnnotation] === undefined
      ? []
      : [
          `metadata.annotations[${oldStorageClassAnnotation}]: deprecated since v1.8; use "storageClassName" attribute instead`,
        ]),
    ...storageWarnings(spec?.resources, FieldPath.of('spec', 'resources')),
  ],
})

function withWholeMillis(claim: PersistentVolumeClaim): PersistentVolumeClaim {
  const { spec, status } = claim
  const [limits, requests] = [wholeMillis(spec?.resources?.limits), wholeMillis(spec?.resources?.requests)]
  const capacity = wholeMillis(status?.capacity)
  const keepsSpec = limits === spec?.resources?.limits && requests === spec?.resources?.requests
  if (keepsSpec && capacity === status?.capacity) return claim
  return {
    ...claim,
    ...(keepsSpec ? {} : { spec: { ...spec, resources: { ...spec?.resources, limits, requests } } }),
    ...(capacity === status?.capacity ? {} : { status: { ...status, capacity } }),
  }
}

/**
 * dataSourceRef takes any kind that somebody fills volumes from, dataSource only the two it always knew; whichever is
 * given fills the other, and what dataSource does not know is dropped there: https://kep.k8s.io/1495.
 */
function withDataSources(spec: PersistentVolumeClaimSpec): PersistentVolumeClaimSpec {
  const { dataSource, dataSourceRef } = spec
  if (dataSource !== undefined && dataSourceRef === undefined && !isClaimOrSnapshot(dataSource)) {
    const { dataSource: _, ...rest } = spec
    return rest
  }
  return withBothSources(spec)
}

/** A source in another namespace is taken only with a feature that is off unless asked for (CrossNamespaceVolumeDataSource). */
function withoutForeignSource(
  spec: PersistentVolumeClaimSpec,
  old: PersistentVolumeClaimSpec | undefined,
): PersistentVolumeClaimSpec {
  if (!spec.dataSourceRef?.namespace || old?.dataSourceRef !== undefined) return spec
  const { dataSourceRef: _, ...rest } = spec
  return rest
}

/** Whichever of the two is given fills the other; a source in another namespace can only be said by one. */
function withBothSources(spec: PersistentVolumeClaimSpec): PersistentVolumeClaimSpec {
  const { dataSource, dataSourceRef } = spec
  if (dataSource !== undefined && dataSourceRef === undefined) return { ...spec, dataSourceRef: dataSource }
  if (dataSource !== undefined || dataSourceRef === undefined || dataSourceRef.namespace) return spec
  const { namespace: _, ...local } = dataSourceRef
  return { ...spec, dataSource: local }
}

const isClaimOrSnapshot = ({ apiGroup = '', kind }: NonNullable<PersistentVolumeClaimSpec['dataSource']>): boolean =>
  (apiGroup === '' && kind === 'PersistentVolumeClaim') ||
  (apiGroup === 'snapshot.storage.k8s.io' && kind === 'VolumeSnapshot')

function shownPhase({ metadata, status }: PersistentVolumeClaim): string {
  return metadata.deletionTimestamp === undefined ? (status?.phase ?? '') : 'Terminating'
}
