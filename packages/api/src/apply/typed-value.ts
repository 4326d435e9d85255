/** How server-side apply sees values: what owns what in lists and maps, and how the elements of lists are told apart. */
import { compareText } from '../compare-text.ts'
import { isJsonObject, type JsonObject, member } from '../json.ts'
import { isWrittenZero, zeroOf } from '../schema/go/go-types.ts'
import { resolveSchema } from '../schema/resolve.ts'
import type { Field, ListSchema, Schema } from '../schema/schema.ts'
import { fieldElement } from './field-set.ts'

/**
 * What a value is made of, for the ownership of fields:
 * - `atomic`: it is owned as a whole.
 * - `fields`: each member is owned by itself.
 * - `elements`: each element is owned by itself; the list says how they are identified.
 */
export type Composition =
  | { readonly type: 'atomic' }
  | { readonly type: 'fields' }
  | { readonly type: 'elements'; readonly list: ListSchema }

const atomic: Composition = { type: 'atomic' }
const fields: Composition = { type: 'fields' }

/**
 * The composition of a value under its schema; undefined stands for a value that no schema describes. A null is an object or a
 * list that holds nothing, where the schema allows one.
 */
export function compositionOf(schema: Schema | undefined, value: unknown): Composition {
  const resolved = schema === undefined ? undefined : resolveSchema(schema)
  if (Array.isArray(value) || (value === null && resolved?.type === 'list')) {
    if (resolved?.type !== 'list') return atomic
    return resolved.listType === 'set' || resolved.listType === 'map' ? { type: 'elements', list: resolved } : atomic
  }
  if (value !== null && !isJsonObject(value)) return atomic
  if (resolved === undefined || resolved.type === 'any') return fields
  if (resolved.type !== 'object' && resolved.type !== 'map') return atomic
  return resolved.mapType === 'atomic' ? atomic : fields
}

/** The schema of the member `name` of an object; undefined where none describes it. */
export function memberSchema(schema: Schema | undefined, name: string): Schema | undefined {
  const resolved = schema === undefined ? undefined : resolveSchema(schema)
  if (resolved?.type === 'map') return resolved.values
  return resolved?.type === 'object' ? fieldOf(resolved.fields, name)?.schema : undefined
}

/** Whether the schema of an object names this member, so that it is a field and no key of a map. */
export function isNamedField(schema: Schema | undefined, name: string): boolean {
  const resolved = schema === undefined ? undefined : resolveSchema(schema)
  return resolved?.type === 'object' && fieldOf(resolved.fields, name) !== undefined
}

/** Whether a field is in the JSON of its object although there is nothing in it. */
export function isAlwaysWritten(schema: Schema | undefined, name: string): boolean {
  const resolved = schema === undefined ? undefined : resolveSchema(schema)
  return resolved?.type === 'object' && fieldOf(resolved.fields, name)?.alwaysWritten === true
}

const fieldOf = (all: Readonly<Record<string, Field>>, name: string): Field | undefined =>
  Object.hasOwn(all, name) ? all[name] : undefined

/** Elements of a list lack what would tell them from one another. */
export class UnidentifiedElementError extends Error {
  override readonly name = 'UnidentifiedElementError'
}

/** The path element of one element of a list. Throws where the element does not say which it is. */
export function listElement(list: ListSchema, value: unknown): string {
  return list.listType === 'map' ? keyedElement(list, value) : `v:${JSON.stringify(value)}`
}

function keyedElement({ mapKeys = [], items }: ListSchema, value: unknown): string {
  if (!isJsonObject(value)) {
    const what = value === null ? 'a null element' : 'non-map elements'
    throw new UnidentifiedElementError(`associative list with keys may not have ${what}`)
  }
  const keys: Record<string, unknown> = {}
  for (const name of sortedKeys(mapKeys)) {
    const key = member(value, name) ?? keyDefault(items, name)
    // An element without one of its keys is another than those with it.
    if (key !== undefined) keys[name] = key
  }
  if (mapKeys.length > 0 && Object.keys(keys).length === 0) {
    const names = mapKeys.map((name) => JSON.stringify(name)).join(' ')
    throw new UnidentifiedElementError(
      `associative list with keys has an element that omits all key fields [${names}] (and doesn't have default values for any key fields)`,
    )
  }
  return `k:${JSON.stringify(keys)}`
}

const sortedKeysKnown = new WeakMap<readonly string[], readonly string[]>()

function sortedKeys(keys: readonly string[]): readonly string[] {
  const known = sortedKeysKnown.get(keys)
  if (known !== undefined) return known
  const made = keys.length < 2 ? keys : [...keys].sort(compareText)
  sortedKeysKnown.set(keys, made)
  return made
}

/** What a key is that is left out. In the definitions of built-in kinds what Go writes in any case has its zero. */
function keyDefault(items: Schema, name: string): unknown {
  const resolved = resolveSchema(items)
  if (resolved.type !== 'object') return undefined
  const field = fieldOf(resolved.fields, name)
  const byDefault = field?.default ?? field?.schema.default
  if (byDefault !== undefined || field === undefined || resolved.name === '') return byDefault
  return isWrittenZero(field) ? zeroOf(field.schema) : undefined
}

/** The members of an object with their path elements. */
export function* membersOf(value: JsonObject): Generator<readonly [element: string, name: string, member: unknown]> {
  for (const name of Object.keys(value)) {
    const each = value[name]
    if (each !== undefined) yield [fieldElement(name), name, each]
  }
}

/** Whether a value is an object or a list that holds nothing, or null, which may be either. */
export function isEmptyContainer(value: unknown): boolean {
  if (value === null) return true
  if (Array.isArray(value)) return value.length === 0
  if (!isJsonObject(value)) return false
  for (const name in value) if (value[name] !== undefined) return false
  return true
}
