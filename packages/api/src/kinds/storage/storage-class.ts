import { deepEqual } from '../../equality.ts'
import {
  duplicateField,
  type FieldError,
  fieldErrorsMax,
  invalidField,
  requiredField,
  unsupportedField,
} from '../../field-error.ts'
import { FieldPath } from '../../field-path.ts'
import { repeatedAt } from '../../finder.ts'
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
import { shownMap } from '../shown-values.ts'
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
  // An empty policy is none that would be wrong: it is the driver's to choose.
  const { provisioner = '', parameters, reclaimPolicy = '', volumeBindingMode = '' } = storageClass
  const provisionerProblems = provisioner === '' ? [] : checkFormat('qualified-name', provisioner.toLowerCase())
  return [
    ...provisionerProblems.map((why) => invalidField(FieldPath.of('provisioner'), provisioner.toLowerCase(), why)),
    ...validateParameters(parameters),
    ...(reclaimPolicy === '' || reclaimPolicies.includes(reclaimPolicy)
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
  const times = new Map([[textOfTerm({}), terms.length]])
  return terms.flatMap((term, index) => {
    const expressions = path.index(index).field('matchLabelExpressions')
    const text = textOfTerm(term)
    const timesRepeated = times.get(text) ?? 0
    times.set(text, timesRepeated + 1)
    return [
      ...validateTopologyTerm(term, expressions),
      // No answer names more of them.
      ...Array.from({ length: Math.min(timesRepeated, fieldErrorsMax) }, () => duplicateField(expressions, '')),
    ]
  })
}

/** Terms that pick the same places have the same text. */
function textOfTerm({ matchLabelExpressions = [] }: TopologySelectorTerm): string {
  const valuesByKey = new Map(matchLabelExpressions.map(({ key, values }) => [key, [...new Set(values)].sort()]))
  return JSON.stringify([...valuesByKey].sort(([a], [b]) => (a < b ? -1 : 1)))
}

function validateTopologyTerm({ matchLabelExpressions = [] }: TopologySelectorTerm, path: FieldPath): FieldError[] {
  const repeatedKeys = repeatedAt(matchLabelExpressions, ({ key }) => key)
  return matchLabelExpressions.flatMap(({ key, values }, index) => {
    const at = path.index(index)
    const repeatedValues = repeatedAt(values)
    return [
      ...(values.length === 0 ? [requiredField(at.field('values'))] : []),
      ...[...repeatedValues].map((position) => duplicateField(at.field('values').index(position), values[position])),
      ...checkFormat('qualified-name', key).map((why) => invalidField(at.field('key'), key, why)),
      ...(repeatedKeys.has(index) ? [duplicateField(at.field('key'), key)] : []),
    ]
  })
}

function validateUpdate(next: StorageClass, old: StorageClass): readonly FieldError[] {
  const { parameters } = next
  const fixed = ['provisioner', 'reclaimPolicy', 'volumeBindingMode'] as const
  return [
    ...(deepEqual(parameters, old.parameters)
      ? []
      : [invalidField(FieldPath.of('parameters'), parameters && shownMap(parameters), 'field is immutable')]),
    ...fixed.flatMap((field) => checkUnchanged(next[field], old[field], FieldPath.of(field))),
  ]
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
