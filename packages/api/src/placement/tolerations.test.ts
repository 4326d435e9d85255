import { expect, it } from 'vitest'
import type { Toleration } from '../kinds/core/pod/scheduling.ts'
import { isTolerated, toleratesTaint } from './tolerations.ts'

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
