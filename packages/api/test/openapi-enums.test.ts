/** Compares the values that the documents list for fields with those that upstream's list. `data/README.md` says where they come from. */
import { describe, expect, it } from 'vitest'
import { builtinResources, unstoredResources } from '../src/kinds/builtin-kinds.ts'
import { type OpenApiVersion, openApiDefinitions } from '../src/openapi/definitions.ts'
import { enumsOf, type OpenApiEnums, readOpenApiEnums } from './data/extract-openapi-enums.ts'

const facts = readOpenApiEnums()

describe('the values of the fields of built-in kinds', () => {
  it('are those of upstream in OpenAPI v3', () => {
    const ours = enumsIn('v3')
    const both = Object.keys(facts).filter((name) => name in ours)
    expect(both.length).toBeGreaterThan(300)
    const only = (enums: OpenApiEnums) => Object.fromEntries(both.map((name) => [name, enums[name]]))
    expect(only(ours)).toEqual(only(facts))
  })

  it('are not told in OpenAPI v2', () => {
    expect(Object.values(enumsIn('v2')).every((fields) => Object.keys(fields).length === 0)).toBe(true)
  })
})

function enumsIn(version: OpenApiVersion): OpenApiEnums {
  const roots = [...builtinResources, ...unstoredResources].map(({ schema }) => ({ schema, kinds: [] }))
  return enumsOf({ components: { schemas: openApiDefinitions(roots, version) } })
}
