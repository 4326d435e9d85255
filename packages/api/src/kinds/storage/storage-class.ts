import { deepEqual } from '../../equality.ts'
import { duplicateField, type FieldError, invalidField, requiredField, unsupportedField } from '../../field-error.ts'
import { FieldPath } from '../../field-path.ts'
import { kindSchema } from '../../meta.ts'
import {
  atomicList,
  boolean,
  literal,
  object,
  optional,
  pointer,
  required,
  string,
  stringMap,
} from '../../schema/builders.ts'
import type { Infer } from '../../schema/schema.ts'
import { checkFormat } from '../../string-formats.ts'
import { ageColumn, column, nameColumn } from '../columns.ts'
import { nodeLabelWarnings } from '../core/node/deprecated-labels.ts'
import { kind } from '../kind.ts'
import { coreV1 } from '../meta/names.ts'
import { checkUnchanged } from '../validation.ts'
import { storageV1 } from './names.ts'
import { validateParameters } from './parameters.ts'

export interface TopologySelectorLabelRequirement extends Infer<typeof topologySelectorLabelRequirement> {}
export const topologySelectorLabelRequirement = object(
  `${coreV1}.TopologySelectorLabelRequirement`,
  'The values that a label may have.',
  {
    key: required(string(), 'Key of the label.', { default: '' }),
    values: required(atomicList(string()), 'The values, one of which the label must have.', { default: [] }),
  },
)

export interface TopologySelectorTerm extends Infer<typeof topologySelectorTerm> {}
export const topologySelectorTerm = object(
  `${coreV1}.TopologySelectorTerm`,
  'Picks places by their labels. All conditions must hold.',
  {
    matchLabelExpressions: optional(atomicList(topologySelectorLabelRequirement), 'Conditions on labels of nodes.'),
  },
  { mapType: 'atomic' },
)

/** A kind of storage that claims may ask for by name. */
export interface StorageClass extends Infer<typeof storageClassSchema> {}
export const storageClassSchema = kindSchema(
  `${storageV1}.StorageClass`,
  'A kind of storage that claims ask for by its name, and how volumes of that kind are made.',
  {
    provisioner: required(string(), 'Who makes volumes of this class. It cannot be changed.'),
    parameters: optional(stringMap, 'What the provisioner is told. It cannot be changed.'),
    reclaimPolicy: pointer(
      literal<'Delete' | 'Retain' | 'Recycle'>(),
      'What becomes of a volume when its claim is gone: Delete unless set, or Retain. It cannot be changed.',
      { default: 'Delete' },
    ),
    mountOptions: optional(atomicList(string()), 'Options with which volumes are mounted. They are not checked.'),
    allowVolumeExpansion: pointer(boolean, 'Whether claims may ask for more than they have.'),
    volumeBindingMode: pointer(
      literal<'Immediate' | 'WaitForFirstConsumer'>(),
      'Whether a claim gets its volume at once, or when a pod that uses it is scheduled. It cannot be changed.',
      { default: 'Immediate' },
    ),
    allowedTopologies: optional(
      atomicList(topologySelectorTerm),
      'Where volumes may be made; anywhere unless set. Alternatives, of which one must hold.',
    ),
  },
)

const defaultClassAnnotation = 'storageclass.kubernetes.io/is-default-class'
const oldDefaultClassAnnotation = 'storageclass.beta.kubernetes.io/is-default-class'

/** Whether claims that name no class get this one: an annotation says so. */
export function isDefaultStorageClass({ metadata: { annotations = {} } }: StorageClass): boolean {
  return annotations[defaultClassAnnotation] === 'true' || annotations[oldDefaultClassAnnotation] === 'true'
}

const reclaimPolicies = ['Delete', 'Retain']
const bindingModes = ['Immediate', 'WaitForFirstConsumer']

function validate(storageClass: StorageClass): readonly FieldError[] {
  const { provisioner = '', parameters, reclaimPolicy = '', volumeBindingMode = '' } = storageClass
  const provisionerProblems = provisioner === '' ? [] : checkFormat('qualified-name', provisioner.toLowerCase())
  return [
    ...provisionerProblems.map((why) => invalidField(FieldPath.of('provisioner'), provisioner.toLowerCase(), why)),
    ...validateParameters(parameters),
    ...(reclaimPolicies.includes(reclaimPolicy)
      ? []
      : [unsupportedField(FieldPath.of('reclaimPolicy'), reclaimPolicy, reclaimPolicies)]),
    ...(bindingModes.includes(volumeBindingMode)
      ? []
      : [unsupportedField(FieldPath.of('volumeBindingMode'), volumeBindingMode, bindingModes)]),
    ...validateTopologies(storageClass.allowedTopologies ?? [], FieldPath.of('allowedTopologies')),
  ]
}

function validateTopologies(terms: readonly TopologySelectorTerm[], path: FieldPath): readonly FieldError[] {
  // Upstream compares each with as many empty ones as there are terms, and with those before it.
  const compared = [...terms.map(() => ({})), ...terms.map(valuesByKey)]
  const timesRepeated = (term: TopologySelectorTerm, index: number): number =>
    compared.slice(0, terms.length + index).filter((each) => deepEqual(each, valuesByKey(term))).length
  return terms.flatMap((term, index) => {
    const expressions = path.index(index).field('matchLabelExpressions')
    return [
      ...validateTopologyTerm(term, expressions),
      ...Array.from({ length: timesRepeated(term, index) }, () => duplicateField(expressions, '')),
    ]
  })
}

const valuesByKey = ({ matchLabelExpressions = [] }: TopologySelectorTerm) =>
  Object.fromEntries(matchLabelExpressions.map(({ key, values }) => [key, [...values].sort()]))

function validateTopologyTerm({ matchLabelExpressions = [] }: TopologySelectorTerm, path: FieldPath): FieldError[] {
  return matchLabelExpressions.flatMap(({ key, values }, index) => {
    const at = path.index(index)
    const isRepeated = matchLabelExpressions.slice(0, index).some((earlier) => earlier.key === key)
    return [
      ...(values.length === 0 ? [requiredField(at.field('values'))] : []),
      ...values.flatMap((value, position) =>
        values.indexOf(value) < position ? [duplicateField(at.field('values').index(position), value)] : [],
      ),
      ...checkFormat('qualified-name', key).map((why) => invalidField(at.field('key'), key, why)),
      ...(isRepeated ? [duplicateField(at.field('key'), key)] : []),
    ]
  })
}

function validateUpdate(next: StorageClass, old: StorageClass): readonly FieldError[] {
  const fixed = ['parameters', 'provisioner', 'reclaimPolicy', 'volumeBindingMode'] as const
  return fixed.flatMap((field) => checkUnchanged(next[field], old[field], FieldPath.of(field)))
}

const nameWithMark = (each: StorageClass): string =>
  `${each.metadata.name ?? ''}${isDefaultStorageClass(each) ? ' (default)' : ''}`

/** `storage.k8s.io/v1` storageclasses. */
export const storageClasses = kind<StorageClass>(storageClassSchema, {
  plural: 'storageclasses',
  shortNames: ['sc'],
  namespaced: false,
  columns: [
    { ...nameColumn, cell: nameWithMark },
    column('Provisioner', ({ provisioner }) => provisioner, { field: 'provisioner' }),
    column('ReclaimPolicy', ({ reclaimPolicy }) => reclaimPolicy ?? 'Delete', { field: 'reclaimPolicy' }),
    column('VolumeBindingMode', ({ volumeBindingMode }) => volumeBindingMode ?? 'Immediate', {
      field: 'volumeBindingMode',
    }),
    column('AllowVolumeExpansion', ({ allowVolumeExpansion }) => allowVolumeExpansion === true, {
      type: 'string',
      description: 'Whether claims may ask for more than they have.',
    }),
    ageColumn,
  ],
  rules: { returnsDeletedObject: true },
  validate,
  validateUpdate,
  warnings: ({ allowedTopologies = [] }) =>
    allowedTopologies.flatMap(({ matchLabelExpressions = [] }, index) =>
      matchLabelExpressions.flatMap(({ key }, at) =>
        nodeLabelWarnings([key], () =>
          FieldPath.of('allowedTopologies').index(index).field('matchLabelExpressions').index(at).field('key'),
        ),
      ),
    ),
})
