/** Compares the defaults that the documents state with those of upstream's. `data/README.md` says where they come from. */
import { describe, expect, it } from 'vitest'
import { builtinResources, unstoredResources } from '../src/kinds/builtin-kinds.ts'
import { type OpenApiVersion, openApiDefinitions } from '../src/openapi/definitions.ts'
import { type OpenApiDefaults, readOpenApiDefaults } from './data/extract-openapi-defaults.ts'

const facts = readOpenApiDefaults()

describe('the defaults of the fields of built-in kinds', () => {
  it('are those of upstream in OpenAPI v3', () => {
    const ours = defaultsIn('v3')
    const both = Object.keys(facts).filter((name) => name in ours)
    expect(both.length).toBeGreaterThan(300)
    const only = (defaults: OpenApiDefaults) => Object.fromEntries(both.map((name) => [name, defaults[name]]))
    expect(only(ours)).toEqual(only(facts))
  })

  it('are not told in OpenAPI v2', () => {
    expect(Object.values(defaultsIn('v2')).every((fields) => Object.keys(fields).length === 0)).toBe(true)
  })
})

function defaultsIn(version: OpenApiVersion): OpenApiDefaults {
  const roots = [...builtinResources, ...unstoredResources].map(({ schema }) => ({ schema, kinds: [] }))
  const entries = Object.entries(openApiDefinitions(roots, version)).map(([name, { properties = {} }]) => {
    const stated = Object.entries(properties as Readonly<Record<string, { readonly default?: unknown }>>)
    const defaults = stated.filter(([, field]) => 'default' in field).map(([field, value]) => [field, value.default])
    return [name, Object.fromEntries(defaults)] as const
  })
  return Object.fromEntries(entries)
}
