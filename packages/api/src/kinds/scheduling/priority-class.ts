import { type FieldError, forbiddenField } from '../../field-error.ts'
import { FieldPath } from '../../field-path.ts'
import { kindSchema } from '../../meta.ts'
import { boolean, defaulted, int32, literal, optional, pointer, string } from '../../schema/builders.ts'
import type { Infer } from '../../schema/schema.ts'
import { ageColumn, column, nameColumn } from '../columns.ts'
import { kind } from '../kind.ts'
import { checkUnchanged } from '../validation.ts'
import { checkPreemptionPolicy } from './preemption-policy.ts'

/** How important pods are, under a name that they refer to. */
export interface PriorityClass extends Infer<typeof priorityClassSchema> {}
export const priorityClassSchema = kindSchema(
  'io.k8s.api.scheduling.v1.PriorityClass',
  'Gives a name to a priority. Pods with a higher one are scheduled first, and may take the place of others.',
  {
    value: defaulted(int32(), 'The priority that pods of this class get. It cannot be changed.', 0),
    globalDefault: optional(boolean, 'Whether pods that name no class get this one. At most one class should say so.'),
    description: optional(string(), 'When to use the class, for people.'),
    preemptionPolicy: pointer(
      literal<'Never' | 'PreemptLowerPriority'>(),
      'Whether pods of this class may have others evicted to make room: PreemptLowerPriority unless set, or Never.',
      { default: 'PreemptLowerPriority' },
    ),
  },
)

/** Classes of users may not go higher: what is above is for the system. */
export const userPriorityMax = 1_000_000_000

/** The priorities of classes that every cluster has, by name. Nobody else may use the prefix of their names. */
export const systemPriorities: Readonly<Record<string, number>> = {
  'system-cluster-critical': 2 * userPriorityMax,
  'system-node-critical': 2 * userPriorityMax + 1000,
}
const systemPrefix = 'system-'

const validateCreate = (priorityClass: PriorityClass): readonly FieldError[] => [
  ...reservedErrors(priorityClass),
  // An update may not change it: whether it is one of those there are is not asked again.
  ...checkPreemptionPolicy(priorityClass.preemptionPolicy, FieldPath.of('preemptionPolicy')),
]

function reservedErrors(priorityClass: PriorityClass): readonly FieldError[] {
  const { metadata, value } = priorityClass
  if (metadata.name?.startsWith(systemPrefix)) {
    const problem = systemClassProblem(priorityClass)
    if (problem === undefined) return []
    const why = `priority class names with '${systemPrefix}' prefix are reserved for system use only. error: ${problem}`
    return [forbiddenField(FieldPath.of('metadata', 'name'), why)]
  }
  if (value <= userPriorityMax) return []
  const why = `maximum allowed value of a user defined priority is ${userPriorityMax}`
  return [forbiddenField(FieldPath.of('value'), why)]
}

/** Why this is not one of the classes that every cluster has. */
function systemClassProblem({ metadata: { name = '' }, value, globalDefault }: PriorityClass): string | undefined {
  if (!Object.hasOwn(systemPriorities, name)) return `${name} is not a known system priority class`
  if (value !== systemPriorities[name]) return `value of ${name} PriorityClass must be ${systemPriorities[name]}`
  return globalDefault === true ? `globalDefault of ${name} PriorityClass must be false` : undefined
}

function validateUpdate(next: PriorityClass, old: PriorityClass): readonly FieldError[] {
  const value = FieldPath.of('value')
  return [
    ...(next.value === old.value ? [] : [forbiddenField(value, 'may not be changed in an update.')]),
    ...checkUnchanged(next.preemptionPolicy, old.preemptionPolicy, FieldPath.of('preemptionPolicy')),
  ]
}

/** `scheduling.k8s.io/v1` priorityclasses. */
export const priorityClasses = kind<PriorityClass>(priorityClassSchema, {
  plural: 'priorityclasses',
  shortNames: ['pc'],
  namespaced: false,
  columns: [
    nameColumn,
    column('Value', ({ value }) => value, { field: 'value' }),
    column('Global-Default', ({ globalDefault }) => globalDefault === true, { field: 'globalDefault' }),
    ageColumn,
    column('PreemptionPolicy', ({ preemptionPolicy }) => preemptionPolicy ?? '', { field: 'preemptionPolicy' }),
  ],
  rules: {
    deletionRefusal: (name) =>
      Object.hasOwn(systemPriorities, name) ? 'this is a system priority class and cannot be deleted' : undefined,
  },
  countsGenerations: 'first-only',
  validateCreate,
  validateUpdate,
})
