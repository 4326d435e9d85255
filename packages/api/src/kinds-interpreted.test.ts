import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { deepEqual } from './equality.ts'
import { deepFreeze } from './freeze.ts'
import type { JsonObject } from './json.ts'
import { builtinResources } from './kinds/builtin-kinds.ts'
import { openApiV2 } from './openapi/v2.ts'
import { openApiV3 } from './openapi/v3.ts'
import { createTwoWayPatch } from './patch/create-strategic-merge-patch.ts'
import { applyStrategicMergePatch } from './patch/strategic-merge-patch.ts'
import { compile } from './schema/compile.ts'
import { arbitraryOf } from './testing/arbitrary.ts'

describe.each(builtinResources.map((each) => [each.kind, each] as const))('%s', (_, { schema }) => {
  const { decode, applyDefaults } = compile(schema)

  it('comes back from JSON as it was, with and without defaults', () => {
    fc.assert(
      fc.property(arbitraryOf(schema), (value) => {
        const object = deepFreeze(decode(value).value)
        expect(decode(object).value).toBe(object)
        expect(decode(JSON.parse(JSON.stringify(object))).value).toEqual(object)
        const complete = deepFreeze(applyDefaults(object))
        expect(applyDefaults(complete)).toBe(complete)
        expect(decode(complete).value).toBe(complete)
      }),
      { numRuns: 10 },
    )
  })

  it('can be patched into any other of its kind', () => {
    fc.assert(
      fc.property(arbitraryOf(schema), arbitraryOf(schema), (from, to) => {
        const [a, b] = deepFreeze([from, to] as unknown as [JsonObject, JsonObject])
        const result = applyStrategicMergePatch(schema, a, deepFreeze(createTwoWayPatch(schema, a, b)))
        if (!deepEqual(result, b)) expect(result).toEqual(b)
      }),
      { numRuns: 10 },
    )
  })
})

describe('OpenAPI documents', () => {
  const definedBy = (document: JsonObject, prefix: string, definitions: JsonObject): void => {
    for (const [, name = ''] of JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)) {
      expect(definitions).toHaveProperty([name.slice(prefix.length)])
    }
  }

  it('define all they refer to', () => {
    const v2 = openApiV2(builtinResources)
    definedBy(v2, 'definitions/', v2.definitions as JsonObject)
    for (const { group, version } of builtinResources) {
      const v3 = openApiV3(builtinResources, group, version) as { components: { schemas: JsonObject } }
      definedBy(v3, 'components/schemas/', v3.components.schemas)
    }
  })

  it('give every operation a name of its own', () => {
    const ids = [...JSON.stringify(openApiV2(builtinResources)).matchAll(/"operationId":"([^"]+)"/g)].map(
      (match) => match[1],
    )
    expect(ids).toContain('patchCoreV1NamespacedReplicationControllerScale')
    expect(new Set(ids).size).toBe(ids.length)
  })
})
