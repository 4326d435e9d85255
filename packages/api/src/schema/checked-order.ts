import type { FieldError } from '../field-error.ts'
import { resolveSchema } from './resolve.ts'
import type { ObjectSchema, Schema } from './schema.ts'

/** Of more errors than this only the first are ever shown, and their order is not worth the time. */
const orderedMax = 1000

/**
 * What a schema finds wrong and what a kind's own rules do, in the order in which upstream looks at the fields: rules tell theirs so
 * already, and each error of the schema comes before the first of them about something that is looked at later (`checkedOrder`). So do
 * those of rules that are `onlyNow`, for what is created. Custom kinds have no rules but their schema's.
 */
export function inCheckedOrder(
  schema: ObjectSchema,
  bySchema: readonly FieldError[],
  byRules: readonly FieldError[],
  onlyNow: readonly FieldError[] = [],
): readonly FieldError[] {
  const all = [...bySchema, ...byRules, ...onlyNow]
  if (schema.dialect === 'structural' || all.length < 2 || all.length > orderedMax) return all
  const rank = (errors: readonly FieldError[]) => errors.map((error) => ranked(schema, error))
  const inOrder = rank(bySchema).sort(compareRanks)
  return merged(inOrder, merged(rank(onlyNow), rank(byRules))).map(({ error }) => error)
}

/** Both lists as they are, each of `errors` before the first of `others` that does not come before it. */
function merged(errors: readonly Ranked[], others: readonly Ranked[]): readonly Ranked[] {
  const all: Ranked[] = []
  let next = 0
  for (const other of others) {
    for (let error = errors[next]; error !== undefined && compareRanks(error, other) <= 0; error = errors[next]) {
      all.push(error)
      next += 1
    }
    all.push(other)
  }
  return [...all, ...errors.slice(next)]
}

/** An error, and where its field stands at each level among those beside it. */
interface Ranked {
  readonly error: FieldError
  readonly ranks: readonly number[]
}

function compareRanks({ ranks: a }: Ranked, { ranks: b }: Ranked): number {
  for (let level = 0; level < a.length && level < b.length; level += 1) {
    const difference = (a[level] ?? 0) - (b[level] ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}

/** After everything else in an object. */
const last = Number.MAX_SAFE_INTEGER

function ranked(root: ObjectSchema, error: FieldError): Ranked {
  const ranks: number[] = []
  let schema: Schema | undefined = root
  for (const [, name, index] of error.field.matchAll(/([^.[\]]+)|\[([^\]]*)\]/g)) {
    const resolved: Schema | undefined = schema === undefined ? undefined : resolveSchema(schema)
    if (name !== undefined && resolved?.type === 'object') {
      ranks.push(rankOf(resolved, name))
      schema = resolved.fields[name]?.schema
    } else if (index !== undefined && resolved?.type === 'list') {
      ranks.push(Number(index))
      schema = resolved.items
    } else if (index !== undefined && resolved?.type === 'map') {
      // Keys have no order.
      ranks.push(0)
      schema = resolved.values
    } else schema = undefined
  }
  const resolved = schema === undefined ? undefined : resolveSchema(schema)
  return { error, ranks: [...ranks, resolved?.type === 'object' ? ownRank(resolved) : -1] }
}

function rankOf({ checkedOrder = [], fields }: ObjectSchema, name: string): number {
  const listed = checkedOrder.indexOf(name)
  if (listed >= 0) return listed
  const position = Object.keys(fields).indexOf(name)
  return position < 0 ? last : checkedOrder.length + position
}

/** Where what is said of an object as a whole stands among what is said of its fields. */
function ownRank({ checkedOrder = [] }: ObjectSchema): number {
  const listed = checkedOrder.indexOf('')
  return listed < 0 ? last : listed
}
