/** Checks that several kinds share, in the words of apimachinery's api/validation. */
import { deepEqual } from '../equality.ts'
import { type FieldError, forbiddenField, invalidField } from '../field-error.ts'
import { FieldPath } from '../field-path.ts'
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
export function checkNonNegative(value: number | undefined, path: FieldPath): readonly FieldError[] {
  if (value === undefined || value >= 0) return []
  return [invalidField(path, value, 'must be greater than or equal to 0')]
}

/** `field is immutable`, where the two differ. Absent and empty values are the same. */
export function checkUnchanged(value: unknown, old: unknown, path: FieldPath): readonly FieldError[] {
  return deepEqual(value, old) ? [] : [invalidField(path, value, 'field is immutable')]
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
