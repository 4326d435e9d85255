import { expect, it } from 'vitest'
import type { Toleration } from '../kinds/core/pod/scheduling.ts'
import { isTolerated, toleratesTaint, tolerationOf } from './tolerations.ts'

const taint = { key: 'dedicated', value: 'db', effect: 'NoSchedule' }

it.each<[Toleration, boolean]>([
  [{ key: 'dedicated', operator: 'Equal', value: 'db', effect: 'NoSchedule' }, true],
  [{ key: 'dedicated', value: 'db' }, true],
  [{ key: 'dedicated', operator: '', value: 'db', effect: '' }, true],
  [{ key: 'dedicated', operator: 'Equal', value: 'web' }, false],
  [{ key: 'dedicated', operator: 'Equal' }, false],
  [{ key: 'other', operator: 'Equal', value: 'db' }, false],
  [{ key: 'dedicated', operator: 'Exists' }, true],
  [{ key: 'other', operator: 'Exists' }, false],
  [{ operator: 'Exists' }, true],
  [{ operator: 'Exists', effect: 'NoExecute' }, false],
])('the toleration %o covers a taint: %s', (toleration, covers) => {
  expect(toleratesTaint(toleration, taint)).toBe(covers)
  const others = Array.from({ length: 20 }, (_, index) => ({ key: 'dedicated', value: `other-${index}` }))
  expect(isTolerated(taint, [...others, toleration])).toBe(covers)
})

it('looks at each of many tolerations once, however many taints there are', () => {
  let looks = 0
  const tolerations = Array.from({ length: 2000 }, (_, index) => ({
    get key() {
      looks += 1
      return `key-${index}`
    },
    operator: 'Exists' as const,
  }))
  const tolerated = Array.from({ length: 2000 }, (_, index) =>
    isTolerated({ key: `key-${index * 2}`, effect: 'NoSchedule' }, tolerations),
  )
  expect(tolerated.filter((each) => each)).toHaveLength(1000)
  expect(looks).toBe(2000)
})

it.each([1, 20])('tells the first of %i and more that cover a taint', (count) => {
  const others = Array.from({ length: count }, (_, index) => ({ key: 'dedicated', value: `other-${index}` }))
  const every = { operator: 'Exists' as const, tolerationSeconds: 1 }
  const own = { key: 'dedicated', value: 'db', tolerationSeconds: 2 }
  expect(tolerationOf(taint, [...others, own, every])).toBe(own)
  expect(tolerationOf(taint, [...others, every, own, { ...own }])).toBe(every)
  expect(tolerationOf({ ...taint, key: 'other' }, [...others, own])).toBeUndefined()
})

it('takes an absent value for an empty one', () => {
  expect(toleratesTaint({ key: 'a', value: '' }, { key: 'a', effect: 'NoSchedule' })).toBe(true)
})

it('wants one toleration that covers the taint', () => {
  const [wrong, right] = [
    { key: 'dedicated', value: 'web' },
    { key: 'dedicated', value: 'db' },
  ]
  expect(isTolerated(taint, [wrong, right])).toBe(true)
  expect(isTolerated(taint, [wrong])).toBe(false)
  expect(isTolerated(taint, undefined)).toBe(false)
})
