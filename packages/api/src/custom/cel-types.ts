/** Values of custom resources in expressions: their types, from the schema, and how JSON becomes one. */

import type { SizeAt } from '../cel/estimate.ts'
import { parseDuration, parseTimestamp } from '../cel/library/times.ts'
import { type CelType, fieldNamed, type ObjectType, types } from '../cel/types.ts'
import {
  CelList,
  CelMap,
  CelObject,
  type CelValue,
  type Duration,
  type ListIdentity,
  type Timestamp,
} from '../cel/values.ts'
import { isJsonObject, type JsonObject } from '../json.ts'
import type { Field, ListSchema, ObjectSchema, Schema } from '../schema/schema.ts'

/** No request is larger: what a schema does not bound is bounded by that. */
export const requestBytesMax = 3 * 1024 * 1024
/** The longest text, list or map that fits in, without its quotes or brackets. */
const contentBytesMax = requestBytesMax - 2

/** Values of one schema in expressions. Undefined where they are of no type: what is not described cannot be asked about. */
export interface CelBinding {
  readonly type: CelType
  valueOf(json: unknown): CelValue
}

type Bindings = WeakMap<object, { readonly binding: CelBinding | undefined }>

const bindings: Bindings = new WeakMap()
const roots: Bindings = new WeakMap()

/** The binding of what a rule is about: the types in it are named by the way to them. */
export function celBinding(schema: Schema): CelBinding | undefined {
  return once(roots, schema, () => {
    const binding = bindingWithin(schema)
    return binding && { ...binding, type: named(binding.type, unnamed) }
  })
}

const bindingWithin = (schema: Schema): CelBinding | undefined => once(bindings, schema, () => makeBinding(schema))

function once(known: Bindings, schema: Schema, make: () => CelBinding | undefined): CelBinding | undefined {
  const made = known.get(schema)
  if (made !== undefined) return made.binding
  const binding = make()
  known.set(schema, { binding })
  return binding
}

/** The name of an object's type whose place is not known. */
const unnamed = 'object'

/** Names the types of objects by their place, as upstream does (`MaybeAssignTypeName`): at two places they are not the same. */
function named(type: CelType, name: string): CelType {
  switch (type.kind) {
    case 'list':
      return { ...type, element: named(type.element, `${name}.@idx`) }
    case 'map':
      return { ...type, value: named(type.value, `${name}.@elem`) }
    case 'object': {
      const own = type.name === unnamed ? name : type.name
      return {
        ...type,
        name: own,
        fields: new Map([...type.fields].map(([field, each]) => [field, named(each, `${own}.${field}`)])),
      }
    }
    default:
      return type
  }
}

function makeBinding(schema: Schema): CelBinding | undefined {
  switch (schema.type) {
    case 'boolean':
      return { type: types.bool, valueOf: scalar }
    case 'integer':
      return { type: types.int, valueOf: integer }
    case 'number':
      return { type: types.double, valueOf: (json) => (json === null ? null : Number(json)) }
    case 'int-or-string':
      return { type: { kind: 'dyn', maxSize: textSizeMax(schema.checks) ?? contentBytesMax }, valueOf: intOrString }
    case 'string':
      return textBinding(schema)
    case 'time':
      return dateTimeBinding
    case 'list':
      return listBinding(schema)
    case 'map':
      return mapBinding(schema)
    case 'object':
      return objectBinding(schema)
    default:
      return undefined
  }
}

const scalar = (json: unknown): CelValue => json as CelValue
const integer = (json: unknown): CelValue =>
  typeof json === 'number' && Number.isInteger(json) ? BigInt(json) : scalar(json)
const intOrString = (json: unknown): CelValue => (typeof json === 'string' ? json : integer(json))

/** A text that is no duration or timestamp has been refused before: it cannot be asked about. */
function lenient(json: unknown, parse: (text: string) => Duration | Timestamp): CelValue {
  if (typeof json !== 'string') return scalar(json)
  return parse(json)
}

/** A character takes four bytes at most. */
const bytesPerCharacterMax = 4

const textSizeMax = ({ maxLength }: { readonly maxLength?: number } = {}): number | undefined =>
  maxLength === undefined ? undefined : maxLength * bytesPerCharacterMax

/** How many bytes texts of a format take as JSON, at least and at most, as upstream counts. */
const formatSizes = {
  date: { min: 12, max: 12 },
  'date-time': { min: 21, max: 32 },
  duration: { min: 3, max: 32 },
} as const

const dateTimeBinding: CelBinding = {
  type: { kind: 'timestamp', maxSize: formatSizes['date-time'].max },
  valueOf: (json) => lenient(json, parseTimestamp),
}

function textBinding({ checks = {} }: Schema): CelBinding {
  switch (checks.format) {
    case 'duration':
      return {
        type: { kind: 'duration', maxSize: formatSizes.duration.max },
        valueOf: (json) => lenient(json, parseDuration),
      }
    case 'date':
      return {
        type: { kind: 'timestamp', maxSize: formatSizes.date.max },
        valueOf: (json) => lenient(json, (text) => parseTimestamp(`${text}T00:00:00Z`)),
      }
    case 'date-time':
      return dateTimeBinding
    case 'byte':
      return {
        type: { kind: 'bytes', maxSize: checks.maxLength ?? contentBytesMax },
        valueOf: (json) => Uint8Array.from(Buffer.from(String(json), 'base64')),
      }
    default: {
      const longest = checks.enum?.reduce<number>((max, each) => Math.max(max, String(each).length), 0)
      return { type: { kind: 'string', maxSize: textSizeMax(checks) ?? longest ?? contentBytesMax }, valueOf: scalar }
    }
  }
}

function listBinding(schema: ListSchema): CelBinding | undefined {
  const items = bindingWithin(schema.items)
  if (items === undefined) return undefined
  const unbounded = Math.floor(contentBytesMax / (minSize(schema.items) + 1))
  const identity = identityOf(schema)
  return {
    type: { kind: 'list', element: items.type, maxSize: schema.checks?.maxItems ?? unbounded },
    valueOf: (json) =>
      Array.isArray(json) ? new CelList(json.length, (index) => items.valueOf(json[index]), identity) : scalar(json),
  }
}

function identityOf({ listType, mapKeys = [] }: ListSchema): ListIdentity {
  if (listType !== 'map') return { type: listType === 'set' ? 'set' : 'atomic' }
  const keyIn = (element: CelValue, key: string): CelValue | undefined => {
    if (element instanceof CelObject) return element.get(escapeName(key) ?? key)
    return element instanceof CelMap ? element.get(key) : ''
  }
  return { type: 'map', keyOf: (element) => JSON.stringify(mapKeys.map((key) => String(keyIn(element, key)))) }
}

function mapBinding(schema: Extract<Schema, { type: 'map' }>): CelBinding | undefined {
  // A map of whatever there may be is an object of which no field is known.
  if (schema.values.type === 'any' && schema.values.isUndescribed === true) {
    const type: ObjectType = { kind: 'object', name: unnamed, fields: new Map() }
    return {
      type,
      valueOf: (json) => (isJsonObject(json) ? objectValue(json, new Map(), new Set()) : scalar(json)),
    }
  }
  const values = bindingWithin(schema.values)
  if (values === undefined) return undefined
  // Each key takes its quotes, a colon and a comma.
  const unbounded = Math.floor(contentBytesMax / (minSize(schema.values) + 6))
  return {
    type: { kind: 'map', key: types.string, value: values.type, maxSize: schema.checks?.maxProperties ?? unbounded },
    valueOf: (json) =>
      isJsonObject(json)
        ? new CelMap(
            Object.entries(json).map(([name, each]): readonly [CelValue, CelValue] => [name, values.valueOf(each)]),
            true,
          )
        : scalar(json),
  }
}

interface BoundField {
  readonly name: string
  readonly binding: CelBinding
}

function objectBinding(schema: ObjectSchema): CelBinding | undefined {
  const fields = new Map<string, BoundField>()
  for (const [name, field] of visibleFields(schema)) {
    const escaped = escapeName(name)
    const binding = bindingWithin(field.schema)
    if (escaped !== undefined && binding !== undefined) fields.set(escaped, { name, binding })
  }
  const type: ObjectType = {
    kind: 'object',
    name: schema.name === '' ? unnamed : schema.name,
    fields: new Map([...fields].map(([escaped, { binding }]) => [escaped, binding.type])),
  }
  const members = new Set([...fields.values()].map(({ name }) => name))
  return { type, valueOf: (json) => (isJsonObject(json) ? objectValue(json, fields, members) : scalar(json)) }
}

/** A field that is null, as one may be that is nullable, is one that is not there. As upstream has it, its type is that of maps. */
function objectValue(
  json: JsonObject,
  fields: ReadonlyMap<string, BoundField>,
  members: ReadonlySet<string>,
): CelObject {
  const made = new Map<string, CelValue>()
  const get = (escaped: string): CelValue | undefined => {
    const known = made.get(escaped)
    if (known !== undefined) return known
    const field = fieldNamed(fields, escaped)
    const own = field === undefined || !Object.hasOwn(json, field.name) ? undefined : json[field.name]
    if (field === undefined || own === undefined || own === null) return undefined
    const value = field.binding.valueOf(own)
    made.set(escaped, value)
    return value
  }
  return new CelObject('map', () => [...fields.keys()], get, { json, isField: (member) => members.has(member) })
}

/** Of metadata only the names can be asked about. */
function visibleFields({ fields, dialect }: ObjectSchema): readonly (readonly [string, Field])[] {
  const all = Object.entries(fields)
  return dialect === 'go' ? all.filter(([name]) => name === 'name' || name === 'generateName') : all
}

const keywords: ReadonlySet<string> = new Set(
  'true false null in as break const continue else for function if import let loop package namespace return var void while'.split(
    ' ',
  ),
)
const escapes: readonly (readonly [string, string])[] = [
  ['__', '__underscores__'],
  ['.', '__dot__'],
  ['-', '__dash__'],
  ['/', '__slash__'],
]

/** The name a field has in expressions; undefined where it cannot have one. */
export function escapeName(name: string): string | undefined {
  if (keywords.has(name)) return `__${name}__`
  if (!/^[A-Za-z_][A-Za-z0-9_./-]*$/.test(name)) return undefined
  let escaped = ''
  let at = 0
  while (at < name.length) {
    const [plain, replacement] = escapes.find(([each]) => name.startsWith(each, at)) ?? [name[at] ?? '', name[at] ?? '']
    escaped += replacement
    at += plain.length
  }
  return escaped
}

/** The fewest bytes that a value takes as JSON. */
function minSize(schema: Schema): number {
  switch (schema.type) {
    case 'boolean':
      return 4
    case 'time':
      return formatSizes['date-time'].min
    case 'string': {
      const format = schema.checks?.format ?? ''
      return isSizedFormat(format) ? formatSizes[format].min : 2
    }
    case 'object': {
      if (schema.dialect === 'go') return 2
      const required = schema.checks?.required ?? []
      return required.reduce((size, name) => {
        const field = schema.fields[name]
        if (field === undefined || field.schema.default !== undefined || bindingWithin(field.schema) === undefined)
          return size
        return size + name.length + 4 + minSize(field.schema)
      }, 2)
    }
    case 'list':
    case 'map':
      return 2
    default:
      return 1
  }
}

const isSizedFormat = (format: string): format is keyof typeof formatSizes => Object.hasOwn(formatSizes, format)

/**
 * How large the values may be that a type holds, by their path from a variable of it. As upstream has it the sizes of keys
 * are not counted, and a path whose variable is not known begins at this type.
 */
export function sizesWithin(root: CelType): SizeAt {
  return (path) => {
    const type = path.slice(1).reduce<CelType | undefined>((each, name) => each && typeOfPart(each, name), root)
    return type && { min: 0, max: ('maxSize' in type ? type.maxSize : undefined) ?? 0 }
  }
}

function typeOfPart(type: CelType, name: string): CelType | undefined {
  switch (name) {
    case '@items':
    case '@values':
      if (type.kind === 'list') return type.element
      return type.kind === 'map' ? type.value : undefined
    case '@keys':
      return type.kind === 'map' ? type.key : undefined
    default:
      return type.kind === 'object' ? type.fields.get(name) : undefined
  }
}

/** How often values of a schema may be in one request. */
export function cardinalityMax(schema: Schema): number {
  return Math.floor(requestBytesMax / (minSize(schema) + 1))
}
