import { posix } from 'node:path'
import { deepEqual } from '../../../equality.ts'
import { type FieldError, forbiddenField, invalidField, requiredField, unsupportedField } from '../../../field-error.ts'
import { FieldPath } from '../../../field-path.ts'
import { structValue } from '../../../internal-structs/struct-value.ts'
import { compareQuantity, isQuantity } from '../../../quantity.ts'
import { checkFormat } from '../../../string-formats.ts'
import { describeChanges } from '../../changes-text.ts'
import { shownMap } from '../../shown-values.ts'
import { checkUnchanged } from '../../validation.ts'
import { validateAccessModes } from '../access-modes.ts'
import type { ResourceList } from '../common.ts'
import { negativeAmountErrors } from '../negative-amounts.ts'
import { validateNodeSelector } from '../pod/validation/scheduling.ts'
import { surplusSourceField } from '../pod/validation/volumes.ts'
import {
  type PersistentVolume,
  type PersistentVolumeSpec,
  persistentVolumeSourceNames,
  type VolumeNodeAffinity,
} from './schema.ts'
import { sourceOf, validateSource } from './source-validation.ts'

const specPath = FieldPath.of('spec')
const reclaimPolicies = ['Delete', 'Recycle', 'Retain']
const volumeModes = ['Block', 'Filesystem']

/** What is wrong with a volume (core/validation ValidatePersistentVolume). */
export function validatePersistentVolume({ metadata, spec = {} }: PersistentVolume): readonly FieldError[] {
  return validatePersistentVolumeSpec(spec, metadata.name ?? '', specPath, validateCapacity)
}

/** What is wrong with a volume that is written where it is attached, instead of being an object of its own. */
export function validateInlineVolumeSpec(spec: PersistentVolumeSpec, path: FieldPath): readonly FieldError[] {
  const only = (field: string, value: string): readonly FieldError[] => [
    forbiddenField(path.field(field), `may only be ${value} in the context of inline volumes`),
  ]
  const absent = ['claimRef', 'capacity', 'nodeAffinity', 'storageClassName'] as const
  const { persistentVolumeReclaimPolicy: policy, volumeMode } = spec
  return [
    ...absent.flatMap((field) =>
      spec[field] === undefined
        ? []
        : [forbiddenField(path.field(field), 'may not be specified in the context of inline volumes')],
    ),
    ...(spec.csi === undefined
      ? [requiredField(path.field('csi'), 'has to be specified in the context of inline volumes')]
      : []),
    ...(policy === undefined || policy === 'Retain' ? [] : only('persistentVolumeReclaimPolicy', 'Retain')),
    ...(volumeMode !== undefined && volumeMode !== 'Filesystem'
      ? [
          forbiddenField(
            path.field('volumeMode'),
            'may not specify volumeMode other than Filesystem in the context of inline volumes',
          ),
        ]
      : []),
    ...validatePersistentVolumeSpec(withoutInlineRules(spec), '', path, () => []),
  ]
}

/** The rest of a volume that is written where it is attached, for the rules of all volumes; its attributes class nobody looks at. */
function withoutInlineRules(spec: PersistentVolumeSpec): PersistentVolumeSpec {
  const {
    persistentVolumeReclaimPolicy,
    nodeAffinity,
    storageClassName,
    volumeMode,
    volumeAttributesClassName,
    ...rest
  } = spec
  return rest
}

function validatePersistentVolumeSpec(
  spec: PersistentVolumeSpec,
  name: string,
  path: FieldPath,
  ofCapacity: typeof validateCapacity,
): FieldError[] {
  const { accessModes = [], persistentVolumeReclaimPolicy: policy, volumeMode, storageClassName } = spec
  const modesPath = path.field('accessModes')
  const policyPath = path.field('persistentVolumeReclaimPolicy')
  const isRecycledRoot = spec.hostPath !== undefined && isRoot(spec.hostPath.path) && policy === 'Recycle'
  return [
    ...(accessModes.length === 0 ? [requiredField(modesPath)] : validateAccessModes(accessModes, modesPath)),
    ...ofCapacity(spec.capacity, path.field('capacity')),
    ...(policy === undefined || reclaimPolicies.includes(policy)
      ? []
      : [unsupportedField(policyPath, policy, reclaimPolicies)]),
    ...(spec.nodeAffinity === undefined ? [] : validateNodeAffinity(spec.nodeAffinity, path.field('nodeAffinity'))),
    ...validateSources(spec, name, path),
    ...(isRecycledRoot ? [forbiddenField(policyPath, "may not be 'recycle' for a hostPath mount of '/'")] : []),
    ...checkClassName(storageClassName, path.field('storageClassName')),
    ...(volumeMode === undefined || volumeModes.includes(volumeMode)
      ? []
      : [unsupportedField(path.field('volumeMode'), volumeMode, volumeModes)]),
    ...(spec.volumeAttributesClassName === ''
      ? [requiredField(path.field('volumeAttributesClassName'), 'an empty string is disallowed')]
      : checkClassName(spec.volumeAttributesClassName, path.field('volumeAttributesClassName'))),
    ...(spec.volumeAttributesClassName !== undefined && spec.csi === undefined
      ? [requiredField(path.field('csi'), 'has to be specified when using volumeAttributesClassName')]
      : []),
  ]
}

const isRoot = (path: string | undefined): boolean => path !== undefined && posix.normalize(path) === '/'

const checkClassName = (name: string | undefined, path: FieldPath): FieldError[] =>
  name ? checkFormat('dns1123-subdomain', name).map((why) => invalidField(path, name, why)) : []

function validateCapacity(capacity: ResourceList | undefined, path: FieldPath): readonly FieldError[] {
  const names = Object.keys(capacity ?? {})
  return [
    ...(names.length === 0 ? [requiredField(path)] : []),
    ...(names.length === 1 && names[0] === 'storage'
      ? []
      : [unsupportedField(path, capacity && shownMap(capacity), ['storage'])]),
    ...Object.entries(capacity ?? {}).flatMap(([name, amount]) => {
      if (!isQuantity(amount) || compareQuantity(amount, '0') > 0) return []
      const at = path.key(name)
      return [...negativeAmountErrors(amount, at), invalidField(at, amount, 'must be greater than zero')]
    }),
  ]
}

function validateNodeAffinity({ required }: VolumeNodeAffinity, path: FieldPath): readonly FieldError[] {
  if (required !== undefined) return validateNodeSelector(required, path.field('required'))
  return [requiredField(path.field('required'), 'must specify required node constraints')]
}

function validateSources(spec: PersistentVolumeSpec, name: string, path: FieldPath): readonly FieldError[] {
  const [first, ...others] = persistentVolumeSourceNames.filter((source) => spec[source] !== undefined)
  if (first === undefined) return [requiredField(path, 'must specify a volume type')]
  const needsAffinity = first === 'local' && spec.nodeAffinity === undefined
  return [
    ...validateSource(first, spec, name, path),
    ...others.flatMap((source) =>
      // Upstream does not mind this one beside others.
      source === 'flexVolume'
        ? missingDriver(spec, path.field(source))
        : [forbiddenField(path.field(surplusSourceField(source)), 'may not specify more than 1 volume type')],
    ),
    ...(needsAffinity ? [requiredField(path.field('nodeAffinity'), 'Local volume requires node affinity')] : []),
  ]
}

/** The schema looks at the first source alone. */
const missingDriver = ({ flexVolume }: PersistentVolumeSpec, path: FieldPath): readonly FieldError[] =>
  flexVolume?.driver ? [] : [requiredField(path.field('driver'))]

/** What an update of a volume may not do: it stays where it is. */
export function validatePersistentVolumeUpdate(
  { spec = {} }: PersistentVolume,
  { spec: old = {} }: PersistentVolume,
): readonly FieldError[] {
  const [source, oldSource] = [withoutNewSecret(sourceOf(spec), old), sourceOf(old)]
  const rule = 'spec.persistentvolumesource is immutable after creation'
  return [
    ...(deepEqual(source, oldSource)
      ? []
      : [
          forbiddenField(
            specPath.field('persistentvolumesource'),
            [rule, ...describeChanges(oldSource, source)].join('\n'),
          ),
        ]),
    // Upstream's messages name these fields without what they are in.
    ...checkUnchanged(spec.volumeMode, old.volumeMode, FieldPath.of('volumeMode')),
    ...(old.nodeAffinity === undefined ? [] : affinityChangeErrors(spec.nodeAffinity, old.nodeAffinity)),
    ...validateAttributesUpdate(spec, old),
  ]
}

/** Labels whose names in nodes have changed: a volume may follow. */
const stableLabels: Readonly<Record<string, string>> = {
  'failure-domain.beta.kubernetes.io/zone': 'topology.kubernetes.io/zone',
  'failure-domain.beta.kubernetes.io/region': 'topology.kubernetes.io/region',
  'beta.kubernetes.io/os': 'kubernetes.io/os',
  'beta.kubernetes.io/arch': 'kubernetes.io/arch',
  'beta.kubernetes.io/instance-type': 'node.kubernetes.io/instance-type',
}

type NodeAffinity = NonNullable<PersistentVolumeSpec['nodeAffinity']>
type Requirements = NonNullable<NonNullable<NodeAffinity['required']>['nodeSelectorTerms'][number]['matchExpressions']>

function affinityChangeErrors(affinity: NodeAffinity | undefined, old: NodeAffinity): readonly FieldError[] {
  if (affinity !== undefined && deepEqual(affinity, withStableLabels(old, affinity))) return []
  const why = 'field is immutable, except for updating from beta label to GA'
  return [invalidField(FieldPath.of('nodeAffinity'), structValue('core.VolumeNodeAffinity', affinity), why)]
}

/** The old affinity with the stable names of those labels that have them in the new one, requirement by requirement. */
function withStableLabels(old: NodeAffinity, affinity: NodeAffinity): NodeAffinity {
  if (old.required === undefined) return old
  const renamed = (requirements: Requirements | undefined, now: Requirements | undefined): Requirements | undefined =>
    requirements?.map((each, at) => {
      // Upstream takes a label without a stable name for one whose name is empty, which is refused anyway.
      const key = stableLabels[each.key] ?? ''
      return now?.[at]?.key === key ? { ...each, key } : each
    })
  const nodeSelectorTerms = old.required.nodeSelectorTerms.map((term, index) => {
    const now = affinity.required?.nodeSelectorTerms[index]
    const matchExpressions = renamed(term.matchExpressions, now?.matchExpressions)
    const matchFields = renamed(term.matchFields, now?.matchFields)
    return {
      ...term,
      ...(matchExpressions === undefined ? {} : { matchExpressions }),
      ...(matchFields === undefined ? {} : { matchFields }),
    }
  })
  return { ...old, required: { ...old.required, nodeSelectorTerms } }
}

/** How a driver enlarges its volumes may be said later. */
function withoutNewSecret(source: ReturnType<typeof sourceOf>, old: PersistentVolumeSpec) {
  if (source.csi === undefined || old.csi === undefined || old.csi.controllerExpandSecretRef !== undefined)
    return source
  const { controllerExpandSecretRef: _, ...csi } = source.csi
  return { ...source, csi }
}

function validateAttributesUpdate(spec: PersistentVolumeSpec, old: PersistentVolumeSpec): readonly FieldError[] {
  const path = specPath.field('volumeAttributesClassName')
  const [name, before] = [spec.volumeAttributesClassName, old.volumeAttributesClassName]
  if (before === undefined || name !== undefined) return []
  return [forbiddenField(path, 'update from non-nil value to nil is forbidden')]
}
