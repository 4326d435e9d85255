import type { StatefulSet } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { pod } from '../testing/objects.ts'
import { ordinalOf } from './identity.ts'

describe('the number of a pod of the stateful set web', () => {
  const set = { metadata: { name: 'web' } } as StatefulSet

  it.each([
    ['web-0', 0],
    ['web-12', 12],
    ['web-2147483647', 2_147_483_647],
    ['web-2147483648', undefined],
    ['web', undefined],
    ['web-', undefined],
    ['web-x', undefined],
    ['web-1x', undefined],
    ['web-1-1', undefined],
    ['other-1', undefined],
  ])('in the name %s is %j', (name, ordinal) => {
    expect(ordinalOf(set, pod(name))).toBe(ordinal)
  })
})
