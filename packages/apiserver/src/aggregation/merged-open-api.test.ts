import type { JsonObject } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { mergedOpenApi, openApiBelow } from './merged-open-api.ts'

const reference = (name: string) => ({ $ref: `#/definitions/${name}` })
const gives = (name: string) => ({ get: { responses: { 200: { schema: reference(name) } } } })
const text = { type: 'string' }
const document = (paths: object, definitions: object) =>
  ({ swagger: '2.0', paths, definitions }) as unknown as JsonObject

describe('what a document says of a version of a group', () => {
  it('is its paths, and the definitions that they lead to', () => {
    const all = document(
      { '/apis/a/v1/x': gives('X'), '/apis/a/v1beta1/x': gives('Old'), '/apis/b/v1/y': gives('Y') },
      {
        X: { properties: { part: reference('Part') } },
        Part: { items: reference('X') },
        Old: text,
        Y: text,
        Unused: text,
      },
    )
    const found = openApiBelow(all, '/apis/a/v1/')
    expect(Object.keys(found?.paths ?? {})).toEqual(['/apis/a/v1/x'])
    expect(Object.keys(found?.definitions ?? {})).toEqual(['X', 'Part'])
  })

  it.each([
    ['null', null],
    ['a list', []],
    ['paths that are none', { paths: 1 }],
  ])('is nothing in %s', (_what, all) => {
    expect(openApiBelow(all, '/apis/a/v1/')).toBeUndefined()
  })
})

describe('documents together', () => {
  const own = document({ '/apis/apps/v1/x': gives('Meta') }, { Meta: text, List: { items: reference('Meta') } })

  it('are the first where there is no other', () => {
    expect(mergedOpenApi(own, [])).toBe(own)
  })

  it('have the paths of all, and what is the same once', () => {
    const merged = mergedOpenApi(own, [document({ '/apis/a/v1/x': gives('X') }, { X: text, Meta: text }) as never])
    expect(merged.paths).toEqual({ '/apis/apps/v1/x': gives('Meta'), '/apis/a/v1/x': gives('X') })
    expect(merged.definitions).toEqual({ Meta: text, List: { items: reference('Meta') }, X: text })
    expect(merged.swagger).toBe('2.0')
  })

  it('keep a path that the first has', () => {
    const merged = mergedOpenApi(own, [document({ '/apis/apps/v1/x': gives('X') }, {}) as never])
    expect(merged.paths).toEqual(own.paths)
  })

  it('give another name to what is different, wherever it is referred to', () => {
    const other = {
      paths: { '/apis/a/v1/x': gives('Meta') },
      definitions: { Meta: { type: 'object' }, X: { items: reference('Meta') } },
    }
    const merged = mergedOpenApi(own, [other, { ...other, paths: { '/apis/b/v1/x': gives('Meta') } }])
    expect(merged.definitions).toMatchObject({
      Meta: text,
      Meta_v2: { type: 'object' },
      X: { items: reference('Meta_v2') },
      Meta_v3: { type: 'object' },
    })
    expect(merged.paths).toMatchObject({ '/apis/a/v1/x': gives('Meta_v2'), '/apis/b/v1/x': gives('Meta_v3') })
  })

  it('give another name to what leads to something different, though it reads the same', () => {
    const definitions = { Meta: { type: 'object' }, List: { items: reference('Meta') } }
    const merged = mergedOpenApi(own, [{ paths: { '/apis/a/v1/x': gives('List') }, definitions }])
    expect(merged.paths).toMatchObject({ '/apis/a/v1/x': gives('List_v2') })
    expect(merged.definitions).toMatchObject({ List_v2: { items: reference('Meta_v2') } })
  })

  it('take what stands for kinds of each for the kinds of all', () => {
    const ofGroup = (...groups: readonly string[]) => ({
      type: 'object',
      'x-kubernetes-group-version-kind': groups.map((group) => ({ group, kind: 'DeleteOptions', version: 'v1' })),
    })
    const merged = mergedOpenApi(document({}, { Options: ofGroup('', 'a') }), [
      { paths: {}, definitions: { Options: ofGroup('a', 'b') } } as never,
    ])
    expect(merged.definitions).toEqual({ Options: ofGroup('', 'a', 'b') })
  })
})
