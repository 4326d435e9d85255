import { expect, it } from 'vitest'
import { podGroup } from './pod-group.ts'

const all = () => '         0          0 4294967295\n'

it('is the same for a pod at any time, another for another, and none that a pod can name', () => {
  const uids = Array.from({ length: 1_000 }, (_, index) => `9b2c7a2e-0b5a-4a5e-8f0e-${String(index).padStart(12, '0')}`)
  const groups = uids.map((uid) => podGroup(uid, all))
  expect(groups).toEqual(uids.map((uid) => podGroup(uid, all)))
  expect(new Set(groups).size).toBe(uids.length)
  for (const group of groups) {
    expect(group).toBeGreaterThanOrEqual(2 ** 31)
    expect(group).toBeLessThan(2 ** 32 - 2)
  }
})

it.each([
  ['has only a part of them', () => '0 100000 65536\n'],
  ['has them in pieces', () => '0 0 3000000000\n3000000000 3000000000 1294967295\n'],
  ['does not say', () => ''],
])('is none where the system %s', (_, map) => {
  expect(podGroup('uid-1', map)).toBeUndefined()
})
