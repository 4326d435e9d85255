import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createOrderedMap } from './ordered-map.ts'
import { type SliceOptions, sliceOf, sliceOfKeys } from './slice.ts'
import type { StoredObject } from './stored-object.ts'
import { type PodParts, podSelection, storedPod } from './testing/stored-pods.ts'

function mapOf(pods: Readonly<Record<string, PodParts>>) {
  const objects = createOrderedMap<StoredObject>()
  for (const [key, parts] of Object.entries(pods)) objects.set(key, storedPod(key, parts))
  return objects
}

const web = { labels: { app: 'web' } }
const seven = mapOf({
  'a/1': web,
  'a/2': {},
  'a/3': web,
  'a-b/1': web,
  'b/1': {},
  'b/2': web,
  'c/1': {},
})
const all = { limit: 0, afterKey: '' }
const keyOf = ({ object: { metadata } }: StoredObject) => `${metadata.namespace}/${metadata.name}`

/** `KEYS | last key | how many remain`. */
function slice(options: Parameters<typeof podSelection>[0], sliceOptions: Partial<SliceOptions> = {}): string {
  const { items, lastKey, remaining } = sliceOf(seven, podSelection(options), { ...all, ...sliceOptions })
  return `${items.map((item) => keyOf(item as StoredObject)).join(' ')} | ${lastKey} | ${remaining}`
}

describe('a slice', () => {
  it.each([
    ['everything', {}, {}, 'a-b/1 a/1 a/2 a/3 b/1 b/2 c/1 |  | 0'],
    ['a namespace, without its neighbours', { namespace: 'a' }, {}, 'a/1 a/2 a/3 |  | 0'],
    ['a namespace that has nothing', { namespace: 'aa' }, {}, ' |  | 0'],
    ['what a selector selects', { labelSelector: 'app=web' }, {}, 'a-b/1 a/1 a/3 b/2 |  | 0'],
    ['a first page', {}, { limit: 3 }, 'a-b/1 a/1 a/2 | a/2 | 4'],
    ['a first page, with what follows known', {}, { limit: 3, following: 7 }, 'a-b/1 a/1 a/2 | a/2 | 4'],
    ['a page in the middle', {}, { limit: 2, afterKey: 'a/1' }, 'a/2 a/3 | a/3 | 3'],
    ['the last page, full to the brim', {}, { limit: 3, afterKey: 'a/3' }, 'b/1 b/2 c/1 |  | 0'],
    ['the rest', {}, { afterKey: 'a/3' }, 'b/1 b/2 c/1 |  | 0'],
    ['what comes after a key that is gone', {}, { afterKey: 'a/25' }, 'a/3 b/1 b/2 c/1 |  | 0'],
    ['nothing after the last', {}, { afterKey: 'c/1' }, ' |  | 0'],
    ['a page of a namespace', { namespace: 'a' }, { limit: 2 }, 'a/1 a/2 | a/2 | 1'],
    ['the next page of a namespace', { namespace: 'a' }, { limit: 2, afterKey: 'a/2' }, 'a/3 |  | 0'],
    ['a page of a namespace after a key before it', { namespace: 'b' }, { afterKey: 'a' }, 'b/1 b/2 |  | 0'],
    ['nothing of a namespace after a key behind it', { namespace: 'a' }, { afterKey: 'b/1' }, ' |  | 0'],
    ['a page of what a selector selects', { labelSelector: 'app=web' }, { limit: 2 }, 'a-b/1 a/1 | a/1 | undefined'],
    [
      'its last page, full to the brim',
      { labelSelector: 'app=web' },
      { limit: 2, afterKey: 'a/1', following: 5 },
      'a/3 b/2 |  | 0',
    ],
  ])('is %s', (_, options, sliceOptions, expected) => {
    expect(slice(options, sliceOptions)).toBe(expected)
  })

  it('of nothing is empty', () => {
    const expected = { items: [], lastKey: '', remaining: 0 }
    expect(sliceOf(mapOf({}), podSelection(), all)).toEqual(expected)
    expect(sliceOf(mapOf({}), podSelection(), { limit: 3, afterKey: '' })).toEqual(expected)
    expect(sliceOf(mapOf({}), podSelection({ namespace: 'a' }), all)).toEqual(expected)
  })

  it('after slice adds up to the whole, page by page', () => {
    const key = fc
      .tuple(fc.constantFrom('a', 'a-b', 'b'), fc.constantFrom('1', '2', '3', '4'))
      .map((parts) => parts.join('/'))
    const parts = fc.constantFrom<PodParts>({}, web)
    const options = fc.constantFrom(
      {},
      { namespace: 'a' },
      { labelSelector: 'app=web' },
      { namespace: 'b', labelSelector: 'app!=web' },
    )
    fc.assert(
      fc.property(fc.dictionary(key, parts), options, fc.integer({ min: 1, max: 5 }), (pods, selected, limit) => {
        const objects = mapOf(pods)
        const selection = podSelection(selected)
        const whole = sliceOf(objects, selection, all).items
        const seen: unknown[] = []
        for (let afterKey = '', isOver = false; !isOver; ) {
          const { items, lastKey, remaining } = sliceOf(objects, selection, { limit, afterKey })
          seen.push(...items)
          if (lastKey !== '' && selection.unfiltered) expect(remaining).toBe(whole.length - seen.length)
          isOver = lastKey === ''
          afterKey = lastKey
        }
        expect(seen).toEqual(whole)
      }),
    )
  })
})

describe('a slice of some keys', () => {
  const sliceOfThree = (limit: number) => {
    const selection = podSelection({ labelSelector: 'app=web' })
    const { items, lastKey, remaining } = sliceOfKeys(
      ['a/1', 'a/2', 'a/3', 'gone', 'b/2'],
      (key) => seven.get(key),
      selection,
      limit,
    )
    return [items.map((item) => keyOf(item as StoredObject)), lastKey, remaining]
  }

  it('has those that are there and are selected', () => {
    expect(sliceOfThree(0)).toEqual([['a/1', 'a/3', 'b/2'], '', 0])
  })

  it('says where it stopped, and not how much remains', () => {
    expect(sliceOfThree(2)).toEqual([['a/1', 'a/3'], 'a/3', undefined])
    expect(sliceOfThree(3)).toEqual([['a/1', 'a/3', 'b/2'], '', 0])
  })
})
