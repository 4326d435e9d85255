/** The examples of structured-merge-diff, and its schemas as the schema language has them. `data/README.md` says where they come from. */
import { readFileSync } from 'node:fs'
import { any, boolean, double, lazy, optional, string } from '../src/schema/builders.ts'
import type { Field, ListSchema, MapSchema, ObjectSchema, Schema } from '../src/schema/schema.ts'

/** One of `types`: exactly one of scalar, list and map, or all of them for values of any type. */
interface TypeDefinition {
  readonly scalar?: 'numeric' | 'string' | 'boolean' | 'untyped'
  readonly list?: {
    readonly elementType: TypeReference
    readonly elementRelationship: Relationship
    readonly keys?: readonly string[]
  }
  readonly map?: {
    readonly fields?: readonly { readonly name: string; readonly type: TypeReference; readonly default?: unknown }[]
    readonly elementType?: TypeReference
    readonly elementRelationship?: Relationship
  }
}

type Relationship = 'associative' | 'separable' | 'atomic'

interface TypeReference extends TypeDefinition {
  readonly namedType?: string
  readonly elementRelationship?: Relationship
}

export type Types = readonly (TypeDefinition & { readonly name: string })[]

/** The schema of the type `name`. Without types everything follows from the values. */
export function schemaOfType(types: Types | undefined, name: string): Schema {
  if (types === undefined) return any
  const type = types.find((each) => each.name === name)
  if (type === undefined) throw new Error(`no type ${name}`)
  return schemaOfDefinition(types, type)
}

function schemaOfDefinition(types: Types, { scalar, list, map }: TypeDefinition): Schema {
  // What is only ever owned as a whole may as well be a text; what is of any type is known by its values.
  if (scalar === 'untyped') return map?.elementRelationship === 'atomic' ? string() : any
  if (scalar !== undefined) return scalar === 'numeric' ? double() : scalar === 'string' ? string() : boolean
  if (list !== undefined) {
    const { elementType, elementRelationship, keys } = list
    const listType = elementRelationship === 'atomic' ? 'atomic' : keys === undefined ? 'set' : 'map'
    return { type: 'list', items: schemaOfReference(types, elementType), listType, mapKeys: keys ?? [] }
  }
  const { fields, elementType, elementRelationship } = map ?? {}
  const mapType = elementRelationship === 'atomic' ? 'atomic' : 'granular'
  if (fields === undefined && elementType !== undefined) {
    return { type: 'map', values: schemaOfReference(types, elementType), mapType }
  }
  const described = (fields ?? []).map((field): [string, Field] => [
    field.name,
    { ...optional(schemaOfReference(types, field.type), ''), default: field.default },
  ])
  const preserveUnknownFields = elementType !== undefined
  return { type: 'object', name: '', doc: '', fields: Object.fromEntries(described), mapType, preserveUnknownFields }
}

function schemaOfReference(types: Types, reference: TypeReference): Schema {
  const { namedType, elementRelationship } = reference
  if (elementRelationship === undefined) {
    return namedType === undefined ? schemaOfDefinition(types, reference) : lazy(() => schemaOfType(types, namedType))
  }
  const definition = namedType === undefined ? reference : types.find(({ name }) => name === namedType)
  return overridden(schemaOfDefinition(types, definition ?? {}), elementRelationship)
}

/** A schema as a reference to it says that it is: as a whole, or each part by itself. */
function overridden(schema: Schema, relationship: Relationship): Schema {
  const isAtomic = relationship === 'atomic'
  if (schema.type === 'list') return { ...schema, listType: isAtomic ? 'atomic' : 'set' } satisfies ListSchema
  if (schema.type !== 'map' && schema.type !== 'object') return schema
  return { ...schema, mapType: isAtomic ? 'atomic' : 'granular' } satisfies MapSchema | ObjectSchema
}

export interface NamedSchema {
  readonly types: Types
  /** The type of objects; where there is none it has the name of their version. */
  readonly root?: string
}

/** What somebody does with the object, or `schema`: from now on it has that one. */
export interface ExampleStep {
  readonly operation: 'apply' | 'force' | 'update' | 'extract' | 'schema'
  readonly manager: string
  readonly version: string
  readonly object: unknown
  /** Of an apply: what it is refused for. */
  readonly conflicts?: readonly { readonly manager: string; readonly path: string }[]
  readonly schema?: string
}

/** What comes of a row of steps. */
export interface UpdaterExample {
  readonly test: string
  readonly name: string
  readonly schema: string
  readonly conversion?: 'repeating' | 'reliantFields'
  /** Fields that nobody owns, by version. */
  readonly ignored?: Readonly<Record<string, readonly string[]>>
  readonly steps: readonly ExampleStep[]
  /** Whether a step fails. */
  readonly refused?: true
  readonly object?: unknown
  readonly version?: string
  readonly managed?: Readonly<Record<string, { readonly version: string; readonly fields: readonly string[] }>>
}

/** Cases of one type. */
interface Group<Case> {
  readonly name: string
  readonly types?: Types
  readonly root?: string
  readonly cases: readonly Case[]
}

export interface Examples {
  readonly schemas: Readonly<Record<string, NamedSchema>>
  readonly updater: readonly UpdaterExample[]
  readonly merge: readonly Group<{ readonly lhs: unknown; readonly rhs: unknown; readonly out: unknown }>[]
  readonly compare: readonly Group<{
    readonly lhs: unknown
    readonly rhs: unknown
    readonly removed: readonly string[]
    readonly modified: readonly string[]
    readonly added: readonly string[]
  }>[]
  readonly fields: readonly Group<{ readonly object: unknown; readonly fields: readonly string[] }>[]
  readonly remove: readonly Group<{
    readonly object: unknown
    readonly fields: readonly string[]
    readonly removed: unknown
  }>[]
  readonly reconcile: readonly {
    readonly name: string
    readonly root: string
    readonly types: Types
    readonly fields: readonly string[]
    readonly fixed: readonly string[] | null
  }[]
}

export const examples: Examples = JSON.parse(
  readFileSync(new URL('./data/structured-merge-diff.json', import.meta.url), 'utf8'),
)
