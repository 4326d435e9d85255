/** Plays what a server does with a request through one kind, for the tests of kinds. */
import { describeFieldError, type FieldError } from '../src/field-error.ts'
import { builtinKinds } from '../src/kinds/builtin-kinds.ts'
import type { KubernetesObject } from '../src/meta.ts'
import { apiVersionOf, type Cell } from '../src/resource.ts'
import { inCheckedOrder } from '../src/schema/checked-order.ts'
import { compile } from '../src/schema/compile.ts'
import type { StoredKind } from '../src/stored-kind.ts'

// As a server does before each write.
await Promise.all(builtinKinds.map(({ strategy }) => strategy.load?.()))

/** What a client sends, without what is the same for all objects of the kind. */
export type Draft = Readonly<Record<string, unknown>>

/** The object as decoded, with all its defaults. Unknown fields are refused. */
export function decoded<T extends KubernetesObject>(kind: StoredKind<T>, draft: Draft): T {
  const schema = compile(kind.schema)
  const typeMeta = { apiVersion: apiVersionOf(kind), kind: kind.kind }
  const { value } = schema.decode({ ...typeMeta, metadata: { name: 'x' }, ...draft }, { fieldValidation: 'Strict' })
  const object = schema.applyDefaults(value)
  return kind.applyDefaults?.(object) ?? object
}

/** The object as a server would store it on creation. */
export function created<T extends KubernetesObject>(kind: StoredKind<T>, draft: Draft): T {
  const object = decoded(kind, draft)
  return kind.strategy.prepareForCreate?.(object, 0) ?? object
}

/** What is wrong with a creation, one line per fault. */
export function problemsOfCreate<T extends KubernetesObject>(
  kind: StoredKind<T>,
  draft: Draft,
  requested: string = apiVersionOf(kind),
): readonly string[] {
  const object = created(kind, draft)
  return problemsOf(kind, object, requested, kind.strategy.validateCreate?.(object, requested))
}

/** What is wrong with an update from one draft to another. */
export function problemsOfUpdate<T extends KubernetesObject>(
  kind: StoredKind<T>,
  before: Draft,
  after: Draft,
  requested: string = apiVersionOf(kind),
): readonly string[] {
  const old = decoded(kind, before)
  const object = decoded(kind, after)
  const prepared = kind.strategy.prepareForUpdate?.(object, old, 0) ?? object
  const errors = kind.strategy.validateUpdate?.(prepared, old, requested) ?? []
  return [...problemsOf(kind, prepared, requested), ...errors.map(describeFieldError)]
}

/** What is wrong with a new status. */
export function problemsOfStatus<T extends KubernetesObject>(
  kind: StoredKind<T>,
  draft: Draft,
  before: Draft = draft,
): readonly string[] {
  const errors = kind.strategy.validateStatusUpdate?.(decoded(kind, draft), decoded(kind, before)) ?? []
  return errors.map(describeFieldError)
}

/** What whoever creates an object, or changes it from another draft, is warned of. */
export function warningsOf<T extends KubernetesObject>(
  kind: StoredKind<T>,
  draft: Draft,
  before?: Draft,
): readonly string[] {
  const old = before === undefined ? undefined : decoded(kind, before)
  return kind.strategy.warnings?.(decoded(kind, draft), old) ?? []
}

function problemsOf<T extends KubernetesObject>(
  kind: StoredKind<T>,
  object: T,
  requested: string,
  onlyNow: readonly FieldError[] = [],
): readonly string[] {
  const bySchema = compile(kind.schema).validate(object)
  const byRules = kind.strategy.validate?.(object, requested) ?? []
  return inCheckedOrder(kind.schema, bySchema, byRules, onlyNow).map(describeFieldError)
}

/** The row of a table, by column: all columns, or only those that are always shown. */
export function row<T extends KubernetesObject>(
  kind: StoredKind<T>,
  draft: Draft,
  nowMs: number,
): Readonly<Record<string, Cell>> {
  const object = decoded(kind, draft)
  return Object.fromEntries(kind.columns.map(({ name, cell }) => [name, cell(object, nowMs)]))
}

/** The names of the columns that are always shown, and of those that are only shown when asked for. */
export function columnNames<T extends KubernetesObject>(
  kind: StoredKind<T>,
): { readonly shown: readonly string[]; readonly wide: readonly string[] } {
  const named = (wide: boolean): readonly string[] =>
    kind.columns.filter((column) => column.priority > 0 === wide).map((column) => column.name)
  return { shown: named(false), wide: named(true) }
}
