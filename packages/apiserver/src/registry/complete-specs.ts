/**
 * Desired states, decoded and with their schema's defaults, remembered for objects that come with the same one: a controller gives
 * each of a thousand pods the very spec of its template, and admission changes all of them alike.
 */
import { deepEqual, deepFreeze, type KubernetesObject, type ObjectSchema } from '@coracle/api'

/** A desired state that decoding and the schema's defaults leave as it is. */
export interface CompleteSpec {
  readonly spec: object
  /** How many values were decoded for the object it was first met in. */
  readonly valuesCount: number
}

interface Remembered extends CompleteSpec {
  readonly schema: ObjectSchema
}

const given = new WeakMap<object, Remembered>()

/** What became of the desired state of a request's object, where the same was given before. */
export function completeSpecOf(schema: ObjectSchema, object: unknown): CompleteSpec | undefined {
  const spec = specOf(object)
  const found = spec === undefined ? undefined : given.get(spec)
  return found?.schema === schema ? found : undefined
}

/** Remembers what became of the desired state of a request's object, if that is one that nobody can change any more. */
export function rememberGiven(
  schema: ObjectSchema,
  object: unknown,
  complete: KubernetesObject,
  valuesCount: number,
): void {
  const [before, spec] = [specOf(object), specOf(complete)]
  if (before === undefined || spec === undefined || !Object.isFrozen(before)) return
  given.set(before, { schema, spec: deepFreeze(spec), valuesCount })
}

interface Admitted {
  readonly before: object
  readonly spec: object
}

const admitted = new WeakMap<ObjectSchema, Admitted>()

/** What became of the desired state that admission has made, where it made the same of the last object of this schema. */
export function completeAdmittedSpec(schema: ObjectSchema, object: KubernetesObject): object | undefined {
  const spec = specOf(object)
  const last = admitted.get(schema)
  return last !== undefined && deepEqual(last.before, spec) ? last.spec : undefined
}

/** Remembers what became of the desired state that admission has made. */
export function rememberAdmitted(schema: ObjectSchema, object: KubernetesObject, complete: KubernetesObject): void {
  const [before, spec] = [specOf(object), specOf(complete)]
  if (before !== undefined && spec !== undefined) admitted.set(schema, { before, spec: deepFreeze(spec) })
}

/** An object with another desired state. */
export function withSpec<T>(object: T, spec: object): T {
  return { ...object, spec }
}

function specOf(object: unknown): object | undefined {
  const { spec } = object as { readonly spec?: unknown }
  return typeof spec === 'object' && spec !== null ? spec : undefined
}
