import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { deepEqual } from '../equality.ts'
import { deepFreeze } from '../freeze.ts'
import type { JsonObject } from '../json.ts'
import { pods } from '../kinds/core/pod/pod.ts'
import { podDisruptionBudgets } from '../kinds/policy/pod-disruption-budget/pod-disruption-budget.ts'
import { arbitraryOf } from '../testing/arbitrary.ts'
import { countWork } from '../testing/count-work.ts'
import { widget } from '../testing/sample-kind.ts'
import { createThreeWayPatch, createTwoWayPatch } from './create-strategic-merge-patch.ts'
import { applyStrategicMergePatch, strategicMergeWorkMax } from './strategic-merge-patch.ts'

/** Applies a patch to the spec of a widget. */
function patched(spec: object, patch: object): unknown {
  const result = applyStrategicMergePatch(widget, deepFreeze({ spec }), deepFreeze({ spec: patch })) as {
    spec: unknown
  }
  return result.spec
}

describe('applyStrategicMergePatch', () => {
  it.each<[string, object, object, object]>([
    [
      'takes several elements of one key into a list that was not there, in the order it wants',
      {},
      {
        '$setElementOrder/parts': [{ name: 'b' }, { name: 'b' }, { name: 'a' }],
        parts: [
          { $patch: 'delete', name: 'z' },
          { name: 'b', image: '1' },
          { name: 'b', image: '2' },
          { name: 'a', image: null },
        ],
      },
      { parts: [{ name: 'b', image: '1' }, { name: 'b', image: '2' }, { name: 'a' }] },
    ],
    [
      'merges objects',
      { selector: { a: '1', b: '2' } },
      { selector: { b: null, c: '3' } },
      { selector: { a: '1', c: '3' } },
    ],
    ['replaces scalars', { replicas: 1 }, { replicas: 2 }, { replicas: 2 }],
    ['removes what is null', { replicas: 1, paused: true }, { replicas: null, size: null }, { paused: true }],
    ['replaces lists that have no strategy', { steps: ['a', 'b'] }, { steps: ['c'] }, { steps: ['c'] }],
    [
      'merges list elements by their key',
      {
        parts: [
          { name: 'a', image: '1' },
          { name: 'b', image: '1' },
        ],
      },
      { parts: [{ name: 'b', image: '2' }] },
      {
        parts: [
          { name: 'a', image: '1' },
          { name: 'b', image: '2' },
        ],
      },
    ],
    [
      'merges the first of several elements of one key, and leaves the others as they are',
      {
        parts: [
          { name: 'a', image: '1' },
          { name: 'a', image: '2' },
        ],
      },
      { parts: [{ name: 'a', image: '9' }] },
      {
        parts: [
          { name: 'a', image: '9' },
          { name: 'a', image: '2' },
        ],
      },
    ],
    [
      'leaves the first of several elements of one key in its place',
      { parts: [{ name: 'a', image: '1' }, { name: 'x' }, { name: 'a', image: '2' }] },
      { parts: [{ name: 'a', image: '9' }] },
      { parts: [{ name: 'a', image: '9' }, { name: 'a', image: '2' }, { name: 'x' }] },
    ],
    [
      'puts new elements where the patch has them',
      { parts: [{ name: 'a' }] },
      { parts: [{ name: 'b' }, { name: 'a', image: '1' }] },
      { parts: [{ name: 'b' }, { name: 'a', image: '1' }] },
    ],
    [
      'deletes elements',
      { parts: [{ name: 'a' }, { name: 'b' }] },
      { parts: [{ $patch: 'delete', name: 'a' }] },
      { parts: [{ name: 'b' }] },
    ],
    [
      'replaces a list that would merge',
      { parts: [{ name: 'a' }, { name: 'b' }] },
      { parts: [{ $patch: 'replace' }, { name: 'c' }] },
      { parts: [{ name: 'c' }] },
    ],
    [
      'replaces an object that would merge',
      { selector: { a: '1' } },
      { selector: { $patch: 'replace', b: '2' } },
      { selector: { b: '2' } },
    ],
    [
      'merges an object also where the patch says so',
      { selector: { a: '1' } },
      { selector: { $patch: 'merge', b: '2' } },
      { selector: { a: '1', b: '2' } },
    ],
    ['replaces an object by what is none', { extra: { a: 1 } }, { extra: 1 }, { extra: 1 }],
    ['replaces a list by what is none', { extra: [1] }, { extra: { a: 1 } }, { extra: { a: 1 } }],
    ['empties an object', { selector: { a: '1' } }, { selector: { $patch: 'delete' } }, { selector: {} }],
    ['adds to lists of scalars', { tags: ['a'] }, { tags: ['b', 'a'] }, { tags: ['b', 'a'] }],
    [
      'deletes from lists of scalars',
      { tags: ['a', 'b', 'c'] },
      { '$deleteFromPrimitiveList/tags': ['b', 'x'], tags: ['d'] },
      { tags: ['d', 'a', 'c'] },
    ],
    [
      'does no more than delete from lists of scalars',
      { tags: ['a', 'b', 'c'] },
      { '$deleteFromPrimitiveList/tags': ['b'] },
      { tags: ['a', 'c'] },
    ],
    [
      'sets the order of elements',
      { parts: [{ name: 'a' }, { name: 'b' }, { name: 'c' }] },
      { '$setElementOrder/parts': [{ name: 'c' }, { name: 'a' }] },
      { parts: [{ name: 'b' }, { name: 'c' }, { name: 'a' }] },
    ],
    [
      'sets the order of elements it adds among those it does not know',
      { parts: [{ name: 'a' }, { name: 'server' }, { name: 'c' }] },
      { '$setElementOrder/parts': [{ name: 'a' }, { name: 'b' }, { name: 'c' }], parts: [{ name: 'b' }] },
      { parts: [{ name: 'a' }, { name: 'b' }, { name: 'server' }, { name: 'c' }] },
    ],
    [
      'clears fields that are not retained',
      { strategy: { type: 'Rolling', rolling: { surge: 1 } } },
      { strategy: { $retainKeys: ['type'], type: 'Recreate' } },
      { strategy: { type: 'Recreate' } },
    ],
    [
      'clears fields of elements that are not retained',
      { sources: [{ name: 'v', secret: { key: 'k' } }] },
      { sources: [{ $retainKeys: ['name', 'empty'], name: 'v', empty: {} }] },
      { sources: [{ name: 'v', empty: {} }] },
    ],
    [
      'lets neither nulls nor directives through where it adds',
      {},
      {
        selector: { a: '1', b: null },
        parts: [
          { name: 'a', image: null },
          { $patch: 'delete', name: 'b' },
        ],
      },
      { selector: { a: '1' }, parts: [{ name: 'a' }] },
    ],
    [
      'takes a list as it stands where there is none',
      {},
      { parts: [{ image: 'x' }, { $patch: 'delete' }, 'y', { image: 'x' }], '$deleteFromPrimitiveList/tags': ['a'] },
      { parts: [{ image: 'x' }, 'y', { image: 'x' }] },
    ],
    ['takes no object that is directed where there is none', {}, { selector: { $patch: 'replace', a: '1' } }, {}],
    ['deletes nothing by what is no list', { tags: ['a'] }, { '$deleteFromPrimitiveList/tags': 'a' }, { tags: ['a'] }],
    [
      'merges what the schema does not know as merge patches do',
      { config: { a: { b: 1, c: 2 }, list: [1] } },
      { config: { a: { b: null }, list: [2] } },
      { config: { a: { c: 2 }, list: [2] } },
    ],
  ])('%s', (_, spec, patch, result) => {
    expect(patched(spec, patch)).toStrictEqual(result)
  })

  it('returns the object where nothing changes, and shares the rest where something does', () => {
    const object = deepFreeze({ spec: { replicas: 1, parts: [{ name: 'a' }, { name: 'b' }], selector: { a: '1' } } })
    expect(applyStrategicMergePatch(widget, object, { spec: { replicas: 1, parts: [{ name: 'a' }] } })).toBe(object)
    const after = applyStrategicMergePatch(widget, object, {
      spec: { parts: [{ name: 'a', image: 'i' }] },
    }) as typeof object
    expect(after.spec.parts[1]).toBe(object.spec.parts[1])
    expect(after.spec.selector).toBe(object.spec.selector)
    const scaled = applyStrategicMergePatch(widget, object, { spec: { replicas: 2, parts: [{ name: 'a' }] } })
    expect((scaled as typeof object).spec.parts).toBe(object.spec.parts)
  })

  it.each<[object, number, string]>([
    [{ parts: [{ image: 'x' }] }, 500, 'map: map[image:x] does not contain declared merge key: name'],
    [{ parts: ['x'] }, 500, 'list element types are not identical: x is not an object'],
    [
      { '$setElementOrder/parts': [{ name: 'a' }], parts: [{ name: 'b' }] },
      500,
      "The order in patch list:\n[map[name:b]]\n doesn't match $setElementOrder list:\n[map[name:a]]\n",
    ],
    [{ parts: [{ $patch: 'merge', name: 'a' }] }, 500, 'merging lists cannot yet be specified in the patch'],
    [{ selector: { $patch: 'grow' } }, 500, 'unknown patch type: grow in map: map[$patch:grow]'],
    [{ tags: ['a', 1] }, 500, 'list element types are not identical: [[x] [a 1]]'],
    [{ '$setElementOrder/tags': 'a' }, 400, 'invalid patch format of setElementOrder list'],
    [{ strategy: { $retainKeys: ['type'], rolling: {} } }, 400, 'invalid patch format of retainKeys'],
  ])('refuses %j', (patch, code, why) => {
    const error = failure(() => patched({ parts: [{ name: 'a' }], selector: {}, strategy: {}, tags: ['x'] }, patch))
    expect(error.code).toBe(code)
    expect(error.status.details?.causes?.[0]?.message ?? error.message).toBe(why)
  })
})

it.each([[[]], ['text'], [null]])('%j is no strategic merge patch', (patch) => {
  expect(() => applyStrategicMergePatch(widget, {}, patch)).toThrow(
    expect.objectContaining({ code: 400, message: 'invalid JSON document' }),
  )
})

describe('the work of a strategic merge patch', () => {
  const parts = (count: number, image: string, from = 0) =>
    Array.from({ length: count }, (_, index) => ({ name: `part-${from + index}`, image }))
  const tags = (count: number) => Array.from({ length: count }, (_, index) => `tag-${index}`)
  const selector = (count: number, value: string | null) =>
    Object.fromEntries(tags(count).map((tag): [string, string | null] => [tag, value]))

  it.each<[string, (count: number) => object, (count: number) => object]>([
    ['changing elements', (n) => ({ parts: parts(n, '1') }), (n) => ({ parts: parts(n, '2').reverse() })],
    ['adding elements', (n) => ({ parts: parts(n, '1') }), (n) => ({ parts: parts(n, '2', n) })],
    [
      'deleting elements',
      (n) => ({ parts: parts(n, '1') }),
      (n) => ({ parts: parts(n, '1').map(({ name }) => ({ name, $patch: 'delete' })) }),
    ],
    [
      'ordering elements',
      (n) => ({ parts: parts(n, '1') }),
      (n) => ({ '$setElementOrder/parts': parts(n, '1').reverse() }),
    ],
    [
      'deleting and ordering scalars',
      (n) => ({ tags: tags(n) }),
      (n) => ({ '$deleteFromPrimitiveList/tags': tags(n / 2), '$setElementOrder/tags': tags(n).reverse() }),
    ],
    ['changing members', (n) => ({ selector: selector(n, '1') }), (n) => ({ selector: selector(n, '2') })],
    ['removing members', (n) => ({ selector: selector(n, '1') }), (n) => ({ selector: selector(n, null) })],
    [
      'changing one object again and again',
      (n) => ({ parts: [{ name: 'a', limits: selector(n, '1') }] }),
      (n) => ({ parts: tags(n).map((tag) => ({ name: 'a', limits: { [tag]: '2' } })) }),
    ],
  ])('grows with the length of %s', (_, spec, patch) => {
    const work = (count: number) =>
      countWork([spec(count), patch(count)], ([before, changes]) =>
        applyStrategicMergePatch(widget, { spec: before }, { spec: changes }),
      )
    work(1)
    expect(work(1_000) / work(100)).toBeLessThan(20)
  })

  it('is bounded where a patch names a long list again and again', () => {
    const env = Array.from({ length: 2_000 }, (_, index) => ({ name: `e${index}` }))
    const merge = (count: number) => {
      const containers = Array.from({ length: count }, () => ({ name: 'a', env: [{ name: 'e0', value: 'x' }] }))
      return applyStrategicMergePatch(
        pods.schema,
        { spec: { containers: [{ name: 'a', env }] } },
        { spec: { containers } },
      )
    }
    expect(merge(10)).toBeDefined()
    expect(() => merge(1_000)).toThrow(
      expect.objectContaining({
        code: 413,
        message: `The patch takes too much work: it copies or compares more than ${strategicMergeWorkMax} values, name each element once, or send less at a time`,
      }),
    )
  })

  it('never changes what it was given, however often it changes the same object', () => {
    const spec = { parts: [{ name: 'a', image: '1' }] }
    const patch = {
      parts: [{ name: 'a', image: '2' }, { name: 'a', image: '3' }, { name: 'b' }, { name: 'b', image: '4' }],
    }
    expect(patched(spec, patch)).toEqual({
      parts: [
        { name: 'a', image: '3' },
        { name: 'b', image: '4' },
      ],
    })
  })
})

describe('createTwoWayPatch', () => {
  it('says what changed, and nothing else', () => {
    const from = {
      spec: {
        replicas: 1,
        selector: { a: '1', b: '2' },
        parts: [{ name: 'a', image: '1' }, { name: 'b' }],
        tags: ['x', 'y'],
      },
    }
    const to = {
      spec: { selector: { a: '1', b: '3' }, parts: [{ name: 'a', image: '2' }, { name: 'c' }], tags: ['y', 'z'] },
    }
    expect(createTwoWayPatch(widget, from, to)).toEqual({
      spec: {
        replicas: null,
        selector: { b: '3' },
        parts: [{ name: 'a', image: '2' }, { name: 'c' }, { $patch: 'delete', name: 'b' }],
        '$setElementOrder/parts': [{ name: 'a' }, { name: 'c' }],
        tags: ['z'],
        '$deleteFromPrimitiveList/tags': ['x'],
        '$setElementOrder/tags': ['y', 'z'],
      },
    })
  })

  const widgetSpec = (spec: object) => ({ spec })
  it.each<[string, object, object, object]>([
    [
      'lists the fields that stay where the schema retains keys',
      { strategy: { type: 'Rolling', rolling: { surge: 1 } } },
      { strategy: { type: 'Recreate' } },
      { strategy: { type: 'Recreate', rolling: null, $retainKeys: ['type'] } },
    ],
    [
      'lists those in the order of their names, and none that are null',
      { strategy: { type: 'Rolling', pace: 1 } },
      { strategy: { type: 'Other', rolling: { surge: 1 }, pace: null } },
      { strategy: { type: 'Other', rolling: { surge: 1 }, pace: null, $retainKeys: ['rolling', 'type'] } },
    ],
    [
      'lists no fields where none stay',
      { strategy: { type: 'Rolling' } },
      { strategy: {} },
      { strategy: { type: null } },
    ],
    [
      'lists no fields where none change',
      { strategy: { type: 'Rolling' }, replicas: 1 },
      { strategy: { type: 'Rolling' }, replicas: 2 },
      { replicas: 2 },
    ],
    [
      'says the order of elements where that alone changes',
      { parts: [{ name: 'a' }, { name: 'b' }, { name: 'c' }], tags: ['a', 'b', 'c'] },
      { parts: [{ name: 'a' }, { name: 'c' }, { name: 'b' }], tags: ['a', 'c', 'b'] },
      {
        '$setElementOrder/parts': [{ name: 'a' }, { name: 'c' }, { name: 'b' }],
        '$setElementOrder/tags': ['a', 'c', 'b'],
      },
    ],
    [
      'says the order of elements also where one changes and one goes',
      { parts: [{ name: 'a' }, { name: 'b' }] },
      { parts: [{ name: 'a', image: '2' }] },
      {
        parts: [
          { name: 'a', image: '2' },
          { name: 'b', $patch: 'delete' },
        ],
        '$setElementOrder/parts': [{ name: 'a' }],
      },
    ],
    [
      'says no order where no elements are left',
      { parts: [{ name: 'a' }], tags: ['x'] },
      { parts: [], tags: [] },
      { parts: [{ name: 'a', $patch: 'delete' }], '$deleteFromPrimitiveList/tags': ['x'] },
    ],
  ])('%s', (_, from, to, patch) => {
    expect(createTwoWayPatch(widget, widgetSpec(from), widgetSpec(to))).toStrictEqual({ spec: patch })
  })

  it('takes what is undefined for absent', () => {
    expect(createTwoWayPatch(widget, {}, { spec: undefined })).toStrictEqual({})
    expect(createTwoWayPatch(widget, { spec: undefined }, {})).toStrictEqual({})
  })

  it('says all of an object that is replaced, and it is', () => {
    const budget = (matchLabels: object) => ({ spec: { selector: { matchLabels } } })
    const patch = createTwoWayPatch(podDisruptionBudgets.schema, budget({ a: '1', b: '1' }), budget({ b: '2' }))
    expect(patch).toStrictEqual(budget({ b: '2' }))
    const after = applyStrategicMergePatch(podDisruptionBudgets.schema, budget({ a: '1', b: '1' }), patch)
    expect(after).toEqual(budget({ b: '2' }))
  })

  it.each([
    ['original', 0],
    ['modified', 1],
    ['current', 2],
  ])('refuses an %s object that nests without end', (_, place) => {
    let deep: JsonObject = {}
    for (let depth = 0; depth < 5000; depth += 1) deep = { extra: deep }
    const [original, modified, current] = [0, 1, 2].map((each) => (each === place ? deep : {}))
    expect(() =>
      createThreeWayPatch(widget, original as JsonObject, modified as JsonObject, current as JsonObject),
    ).toThrow('exceeded max depth')
  })

  it('leads from any object to any other', () => {
    fc.assert(
      fc.property(arbitraryOf(widget), arbitraryOf(widget), (from, to) => {
        const [a, b] = deepFreeze([from as unknown as JsonObject, to as unknown as JsonObject])
        const patch = deepFreeze(createTwoWayPatch(widget, a as JsonObject, b as JsonObject))
        const result = applyStrategicMergePatch(widget, a, JSON.parse(JSON.stringify(patch)))
        if (!deepEqual(result, b)) expect(result).toEqual(b)
      }),
      { numRuns: 300 },
    )
  })

  it('is empty between equal objects', () => {
    fc.assert(
      fc.property(arbitraryOf(widget), (value) => {
        expect(
          createTwoWayPatch(widget, value as unknown as JsonObject, structuredClone(value) as unknown as JsonObject),
        ).toEqual({})
      }),
      { numRuns: 50 },
    )
  })
})

describe('createThreeWayPatch', () => {
  const applied = { spec: { replicas: 1, selector: { a: '1' }, parts: [{ name: 'a', image: '1' }, { name: 'old' }] } }
  const live = {
    spec: {
      replicas: 5,
      selector: { a: '1', injected: 'yes' },
      parts: [{ name: 'a', image: '1', command: ['x'] }, { name: 'old' }, { name: 'sidecar' }],
    },
  }

  it('keeps what others set, changes what is configured, removes what no longer is', () => {
    const configured = { spec: { selector: { a: '2' }, parts: [{ name: 'a', image: '2' }] } }
    const patch = createThreeWayPatch(widget, applied, configured, live)
    expect(applyStrategicMergePatch(widget, live, patch)).toEqual({
      spec: {
        selector: { a: '2', injected: 'yes' },
        parts: [{ name: 'a', image: '2', command: ['x'] }, { name: 'sidecar' }],
      },
    })
  })

  it('clears what others set where the schema retains keys', () => {
    const configured = { spec: { strategy: { type: 'Recreate' } } }
    const changed = { spec: { strategy: { type: 'Recreate', rolling: { surge: 1 } } } }
    const patch = createThreeWayPatch(widget, configured, configured, changed)
    expect(patch).toEqual({ spec: { strategy: { $retainKeys: ['type'] } } })
    expect(applyStrategicMergePatch(widget, changed, patch)).toEqual(configured)
  })

  it('leaves elements of others among the configured ones', () => {
    const configured = { spec: { parts: [{ name: 'a' }, { name: 'b' }] } }
    const changed = { spec: { parts: [{ name: 'a' }, { name: 'sidecar' }, { name: 'b' }] } }
    expect(createThreeWayPatch(widget, configured, configured, changed)).toEqual({})
  })

  it('refuses elements without the key that tells them apart', () => {
    const nameless = { spec: { parts: [{ image: '1' }] } }
    expect(failure(() => createThreeWayPatch(widget, {}, nameless, live)).status.details?.causes?.[0]?.message).toBe(
      'map: {"image":"1"} does not contain declared merge key: name',
    )
  })

  it('takes a configured value back from whoever changed it', () => {
    const patch = createThreeWayPatch(widget, applied, applied, live)
    expect(patch).toEqual({ spec: { replicas: 1 } })
  })

  it('brings any object to have all that is configured', () => {
    fc.assert(
      fc.property(arbitraryOf(widget), arbitraryOf(widget), arbitraryOf(widget), (before, wanted, current) => {
        const objects = [before, wanted, current] as unknown as readonly [JsonObject, JsonObject, JsonObject]
        const patch = createThreeWayPatch(widget, ...objects)
        const result = applyStrategicMergePatch(widget, current, patch) as JsonObject
        // Nothing is left to do, and what was not configured before and is not now stays.
        const again = createThreeWayPatch(
          widget,
          wanted as unknown as JsonObject,
          wanted as unknown as JsonObject,
          result,
        )
        expect(again).toEqual({})
      }),
      { numRuns: 200 },
    )
  })
})

interface Failure {
  readonly code: number
  readonly message: string
  readonly status: { readonly details?: { readonly causes?: readonly { readonly message?: string }[] } }
}

function failure(run: () => unknown): Failure {
  try {
    run()
  } catch (error) {
    return error as Failure
  }
  throw new Error('nothing was thrown')
}
