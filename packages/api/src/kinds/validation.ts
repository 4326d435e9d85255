import { deepEqual } from '../equality.ts'
import { type FieldError, forbiddenField, invalidField } from '../field-error.ts'
import { FieldPath } from '../field-path.ts'
import type { ShownStruct } from '../internal-structs/data.ts'
/** Checks that several kinds share, in the words of apimachinery's api/validation. */
import { structValue } from '../internal-structs/struct-value.ts'
import type { ObjectMeta } from '../meta.ts'

/** Finalizers that need no prefix: of namespaces, and those by which the garbage collector is told what to do. */
export const standardFinalizers: ReadonlySet<string> = new Set(['kubernetes', 'orphan', 'foregroundDeletion'])

/** Finalizers of kinds in the core group are standard ones or have a prefix (validateKubeFinalizerName). */
export function checkFinalizers({ finalizers = [] }: ObjectMeta): readonly FieldError[] {
  return finalizers.flatMap((finalizer, index) => checkFinalizer(finalizer, finalizersPath.index(index)))
}

/** One finalizer, as checkFinalizers has it. */
export function checkFinalizer(finalizer: string, path: FieldPath): readonly FieldError[] {
  if (finalizer.includes('/') || standardFinalizers.has(finalizer)) return []
  return [invalidField(path, finalizer, 'name is neither a standard finalizer name nor is it fully qualified')]
}

const finalizersPath = FieldPath.of('metadata', 'finalizers')

/** `must be greater than or equal to 0`; an absent number is fine. */
export function checkNonNegative(value: number | bigint | undefined, path: FieldPath): readonly FieldError[] {
  if (value === undefined || value >= 0) return []
  return [invalidField(path, value, 'must be greater than or equal to 0')]
}

/** `field is immutable`, where the two differ. Absent and empty values are the same. `struct` is what upstream has the value in. */
export function checkUnchanged(
  value: unknown,
  old: unknown,
  path: FieldPath,
  struct?: ShownStruct,
): readonly FieldError[] {
  if (deepEqual(value, old)) return []
  return [invalidField(path, struct === undefined ? value : structValue(struct, value), 'field is immutable')]
}

/** What the `immutable` flag of ConfigMaps and Secrets forbids: taking it back, and changing any of `fields`. */
export function checkImmutableFlag<T extends { readonly immutable?: boolean | undefined }>(
  object: T,
  old: T,
  path: FieldPath,
  fields: readonly (keyof T & string)[],
): readonly FieldError[] {
  if (old.immutable !== true) return []
  const changed = fields.filter((field) => !deepEqual(object[field] ?? {}, old[field] ?? {}))
  const all = object.immutable === true ? changed : ['immutable', ...changed]
  return all.map((field) => forbiddenField(path.field(field), 'field is immutable when `immutable` is set'))
}

const percentPattern = /^([0-9]+)%$/

/** A number that is not negative, or a percentage (apps/validation ValidatePositiveIntOrPercent). */
export function checkIntOrPercent(value: number | string | undefined, path: FieldPath): readonly FieldError[] {
  if (typeof value !== 'string') return checkNonNegative(value, path)
  if (percentPattern.test(value)) return []
  const why =
    "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')"
  return [invalidField(path, value, why)]
}

/** Of percentages: not more than there are (apps/validation IsNotMoreThan100Percent). Others pass. */
export function checkAtMostAll(value: number | string | undefined, path: FieldPath): readonly FieldError[] {
  const percent = typeof value === 'string' ? percentPattern.exec(value)?.[1] : undefined
  return Number(percent ?? 0) > 100 ? [invalidField(path, value, 'must not be greater than 100%')] : []
}

/** Whether a number or percentage is none at all, as an absent one is. What is neither counts as none too. */
export function isNone(value: number | string | undefined): boolean {
  if (typeof value !== 'string') return (value ?? 0) === 0
  return !numberPattern.test(value) || Number.parseInt(value, 10) === 0
}

/** What Go's Atoi reads as a number, or a percentage. */
const numberPattern = /^(?:[+-]?[0-9]+|[0-9]+%)$/

/** A count that a hash collision raises: it never goes back, or an old name would be used again. */
export function checkNotDecremented(
  count: number | undefined,
  old: number | undefined,
  path: FieldPath,
): readonly FieldError[] {
  if (old === undefined || (count ?? 0) >= old) return []
  return [invalidField(path, count ?? 0, 'cannot be decremented')]
}

/** What is wrong with counts in a status: each of them must not be negative. */
export function checkCounts<K extends string>(
  status: { readonly [k in K]?: number | undefined },
  names: readonly K[],
  path: FieldPath,
): readonly FieldError[] {
  return names.flatMap((name) => checkNonNegative(status[name], path.field(name)))
}

/** What is wrong where a count in a status is greater than another. `limitName` is how the message calls the other. */
export function checkCountAtMost(
  count: number | undefined,
  limit: number | undefined,
  path: FieldPath,
  limitName: string,
): readonly FieldError[] {
  if ((count ?? 0) <= (limit ?? 0)) return []
  return [invalidField(path, count ?? 0, `cannot be greater than ${limitName}`)]
}

interface ReplicaCounts {
  readonly replicas?: number | undefined
  readonly fullyLabeledReplicas?: number | undefined
  readonly readyReplicas?: number | undefined
  readonly availableReplicas?: number | undefined
  readonly terminatingReplicas?: number | undefined
  readonly observedGeneration?: number | undefined
}

/** What is wrong with the counts of a ReplicaSet or of its elder, the ReplicationController (ValidateReplicaSetStatus). */
export function validateReplicaCounts(status: ReplicaCounts, path: FieldPath): readonly FieldError[] {
  const { replicas, readyReplicas } = status
  const within = ['fullyLabeledReplicas', 'readyReplicas', 'availableReplicas'] as const
  return [
    ...checkCounts(status, ['replicas', ...within, 'terminatingReplicas', 'observedGeneration'], path),
    ...within.flatMap((name) => checkCountAtMost(status[name], replicas, path.field(name), 'status.replicas')),
    ...checkCountAtMost(status.availableReplicas, readyReplicas, path.field('availableReplicas'), 'readyReplicas'),
  ]
}
