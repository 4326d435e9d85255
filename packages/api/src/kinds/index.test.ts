import { describe, expect, it } from 'vitest'
import { listSchema } from '../meta.ts'
import type { ObjectSchema, Schema } from '../schema/schema.ts'
import { builtinKinds, builtinResources } from './builtin-kinds.ts'
import {
  bindingSchema,
  deleteOptionsSchema,
  evictionSchema,
  scaleSchema,
  statusSchema,
  watchEventSchema,
} from './index.ts'

const roots: readonly Schema[] = [
  bindingSchema,
  deleteOptionsSchema,
  evictionSchema,
  scaleSchema,
  statusSchema,
  watchEventSchema,
  ...builtinResources.flatMap(({ schema }) => [schema, listSchema(`${schema.name}List`, schema)]),
]

/** Every object schema that is reached from a built-in kind. */
function reached(): ReadonlySet<ObjectSchema> {
  const found = new Set<ObjectSchema>()
  const queue: Schema[] = [...roots]
  for (let schema = queue.pop(); schema !== undefined; schema = queue.pop()) {
    if (schema.type === 'lazy') queue.push(schema.resolve())
    if (schema.type === 'list') queue.push(schema.items)
    if (schema.type === 'map') queue.push(schema.values)
    if (schema.type !== 'object' || found.has(schema.definition ?? schema)) continue
    found.add(schema.definition ?? schema)
    queue.push(...Object.values(schema.fields).map((field) => field.schema))
  }
  return found
}

describe('the built-in kinds', () => {
  const schemas = [...reached()]

  it('explain every definition and field', () => {
    const silent = schemas.flatMap(({ name, doc, fields }) => [
      ...(doc.endsWith('.') ? [] : [name]),
      ...Object.entries(fields).flatMap(([field, of]) => (of.doc.endsWith('.') ? [] : [`${name}.${field}`])),
    ])
    expect(silent).toEqual([])
  })

  it('say of a field something else than of its definition: both stand together where people read them', () => {
    const definitionOf = (schema: Schema): ObjectSchema | undefined => {
      if (schema.type === 'lazy') return definitionOf(schema.resolve())
      if (schema.type === 'list') return definitionOf(schema.items)
      if (schema.type === 'map') return definitionOf(schema.values)
      return schema.type === 'object' ? schema : undefined
    }
    const repeated = schemas.flatMap(({ name, fields }) =>
      Object.entries(fields).flatMap(([field, { doc, schema }]) =>
        definitionOf(schema)?.doc === doc ? [`${name}.${field}: ${doc}`] : [],
      ),
    )
    expect(repeated).toEqual([])
  })

  it('give each definition a name of its own', () => {
    const names = schemas.map(({ name }) => name)
    expect(names).not.toContain('')
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([])
  })

  it('are found by names that mean one of them', () => {
    // Endpoints are many in the singular too.
    const names = builtinKinds.flatMap(({ plural, singular, shortNames }) => [
      ...new Set([plural, singular, ...shortNames]),
    ])
    expect(new Set(names).size).toBe(names.length)
  })
})
