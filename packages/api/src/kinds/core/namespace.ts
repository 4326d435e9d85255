import { type FieldError, invalidField } from '../../field-error.ts'
import { FieldPath } from '../../field-path.ts'
import { kindSchema } from '../../meta.ts'
import { atomicList, mapList, object, optional, string } from '../../schema/builders.ts'
import type { Infer } from '../../schema/schema.ts'
import { checkFormat } from '../../string-formats.ts'
import { ageColumn, column, nameColumn } from '../columns.ts'
import { kind } from '../kind.ts'
import { conditionOf } from '../meta/condition.ts'
import { coreV1 } from '../meta/names.ts'
import { checkFinalizer } from '../validation.ts'
import { allVerbsButDeleteCollection } from '../verbs.ts'

/** The finalizer in `spec.finalizers` that holds a namespace until everything in it is gone. */
export const namespaceFinalizer = 'kubernetes'

/** The label by which selectors find a namespace by name. */
export const namespaceNameLabel = 'kubernetes.io/metadata.name'

export interface NamespaceSpec extends Infer<typeof namespaceSpec> {}
export const namespaceSpec = object(`${coreV1}.NamespaceSpec`, 'What holds a namespace.', {
  finalizers: optional(
    atomicList(string()),
    'Who still has to clean up before the namespace goes. Changed through the finalize subresource only.',
  ),
})

export interface NamespaceCondition extends Infer<typeof namespaceCondition> {}
export const namespaceCondition = conditionOf(
  `${coreV1}.NamespaceCondition`,
  'One aspect of how the deletion of a namespace is going.',
  'What it is about, such as NamespaceContentRemaining.',
)

export interface NamespaceStatus extends Infer<typeof namespaceStatus> {}
export const namespaceStatus = object(`${coreV1}.NamespaceStatus`, 'Where a namespace is in its life.', {
  phase: optional(string(), 'Active, or Terminating once it is being deleted.', { default: 'Active' }),
  conditions: optional(
    mapList(namespaceCondition, ['type'], { duplicates: 'allowed' }),
    'What the deletion is waiting for, by type.',
  ),
})

/** A room for the names of objects. */
export interface Namespace extends Infer<typeof namespaceSchema> {}
export const namespaceSchema = kindSchema(
  `${coreV1}.Namespace`,
  'A room for names: objects in different namespaces may be called the same. What is in it goes when it goes.',
  {
    spec: optional(namespaceSpec, 'What holds the namespace.', { default: {} }),
    status: optional(namespaceStatus, 'Where the namespace is in its life.', { default: {} }),
  },
)

const finalizersPath = FieldPath.of('spec', 'finalizers')
// Upstream spells the field like this in its messages.
const phasePath = FieldPath.of('status', 'Phase')

/** What is wrong with the finalizers that its finalize subresource gives a namespace. */
export function validateNamespace({ spec }: Namespace): readonly FieldError[] {
  return finalizerErrors(spec, (index) => finalizersPath.index(index))
}

function finalizerErrors(spec: NamespaceSpec | undefined, pathOf: (index: number) => FieldPath): readonly FieldError[] {
  return (spec?.finalizers ?? []).flatMap((finalizer, index) => {
    const path = pathOf(index)
    const problems = checkFormat('qualified-name', finalizer)
    return [...problems.map((problem) => invalidField(path, finalizer, problem)), ...checkFinalizer(finalizer, path)]
  })
}

/** A namespace is Terminating exactly while it is being deleted. */
function validateStatusUpdate({ metadata, status }: Namespace): readonly FieldError[] {
  const phase = status?.phase ?? ''
  if (metadata.deletionTimestamp === undefined) {
    return phase === 'Active'
      ? []
      : [invalidField(phasePath, phase, "may only be 'Active' if `deletionTimestamp` is empty")]
  }
  return phase === 'Terminating'
    ? []
    : [invalidField(phasePath, phase, "may only be 'Terminating' if `deletionTimestamp` is not empty")]
}

/** With the label that selectors find it by. A namespace that has no name yet gets it when it has one. */
function withNameLabel(namespace: Namespace): Namespace {
  const { name, labels } = namespace.metadata
  if (name === undefined || name === '' || labels?.[namespaceNameLabel] === name) return namespace
  return {
    ...namespace,
    metadata: { ...namespace.metadata, labels: { ...labels, [namespaceNameLabel]: name } },
  }
}

function withNamespaceFinalizer(spec: NamespaceSpec = {}): NamespaceSpec {
  const finalizers = spec.finalizers ?? []
  return finalizers.includes(namespaceFinalizer) ? spec : { ...spec, finalizers: [...finalizers, namespaceFinalizer] }
}

/** `v1` namespaces. */
export const namespaces = kind<Namespace>(namespaceSchema, {
  plural: 'namespaces',
  shortNames: ['ns'],
  namespaced: false,
  verbs: allVerbsButDeleteCollection,
  subresources: { finalize: { kind: 'Namespace', verbs: ['update'] } },
  nameFormat: 'dns1123-label',
  columns: [nameColumn, column('Status', ({ status }) => status?.phase ?? '', { field: 'status.phase' }), ageColumn],
  selectableFields: {
    'status.phase': ({ status }) => status?.phase ?? '',
    // Upstream accepts the bare name as well, for old clients.
    name: ({ metadata }) => metadata.name ?? '',
  },
  defaults: withNameLabel,
  prepareForCreate: (namespace) =>
    withNameLabel({ ...namespace, spec: withNamespaceFinalizer(namespace.spec), status: { phase: 'Active' } }),
  prepareForUpdate: (namespace, old) =>
    withNameLabel({ ...namespace, spec: { ...namespace.spec, finalizers: old.spec?.finalizers } }),
  prepareForStatusUpdate: (namespace, old) => ({ ...namespace, spec: old.spec }),
  // An update cannot change the finalizers. On creation upstream names the list where one of them is wrong.
  validateCreate: ({ spec }) => finalizerErrors(spec, () => finalizersPath),
  validateStatusUpdate,
})
