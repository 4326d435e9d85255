/** Defaults of custom resources: of any node, put in where a value is absent or a null that may not be there. */
import { isJsonObject, setMember } from '../../json.ts'
import { type Defaulter, defaulterOf, listDefaulter, mapDefaulter, unchanged } from '../defaults.ts'
import { resolveSchema } from '../resolve.ts'
import type { ObjectSchema, Schema } from '../schema.ts'
import { withKnownMetadata } from './embedded-resources.ts'

const defaulters = new WeakMap<object, Defaulter>()

/** The function that fills in the defaults of a schema of a custom kind; the identity where it has none. */
export function structuralDefaulterOf(schema: Schema): Defaulter {
  const known = defaulters.get(schema)
  if (known !== undefined) return known
  const made = makeDefaulter(schema)
  defaulters.set(schema, made)
  return made
}

function makeDefaulter(schema: Schema): Defaulter {
  switch (schema.type) {
    case 'object':
      return schema.dialect === 'go' ? goDefaulter(schema) : objectDefaulter(schema)
    case 'list':
      return listDefaulter(presentDefaulter(schema.items))
    case 'map':
      return mapDefaulter(presentDefaulter(schema.values))
    case 'lazy':
      return (value) => structuralDefaulterOf(resolveSchema(schema))(value)
    default:
      return unchanged
  }
}

function goDefaulter(schema: ObjectSchema): Defaulter {
  const below = defaulterOf(schema)
  if (schema.described === undefined) return below
  const described = structuralDefaulterOf(schema.described)
  return (value) => below(described(value))
}

/** What becomes of a value that is there: null gives way to the default where the schema does not allow it. */
function presentDefaulter(schema: Schema): Defaulter {
  const below = structuralDefaulterOf(schema)
  const { nullable, default: byDefault } = resolveSchema(schema)
  if (byDefault === undefined || nullable === true) return below
  const complete = completeDefault(schema, byDefault)
  return (value) => (value === null ? complete : below(value))
}

/** A default with the defaults in it, and without what metadata in it may not have (apiextensions' PruneDefaults). */
const completeDefault = (schema: Schema, value: unknown): unknown =>
  structuralDefaulterOf(schema)(withKnownMetadata(schema, value))

interface DefaultedField {
  readonly name: string
  readonly present: Defaulter
  /** The default with the defaults in it; undefined where there is none. Shared by all who get it: nobody changes values. */
  readonly absent: unknown
}

function objectDefaulter(schema: ObjectSchema): Defaulter {
  const fields: DefaultedField[] = []
  for (const [name, field] of Object.entries(schema.fields)) {
    const present = presentDefaulter(field.schema)
    const { default: byDefault } = resolveSchema(field.schema)
    if (present === unchanged && byDefault === undefined) continue
    fields.push({
      name,
      present,
      absent: byDefault === undefined ? undefined : completeDefault(field.schema, byDefault),
    })
  }
  if (fields.length === 0) return unchanged
  return (value) => {
    if (!isJsonObject(value)) return value
    let copy: Record<string, unknown> | undefined
    for (const { name, present, absent } of fields) {
      const before = Object.hasOwn(value, name) ? value[name] : undefined
      const after = before === undefined ? absent : present(before)
      if (after === before) continue
      copy ??= { ...value }
      setMember(copy, name, after)
    }
    return copy ?? value
  }
}
