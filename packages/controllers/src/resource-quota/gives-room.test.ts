import type { ResourceQuota, ResourceQuotaStatus } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { givesRoom } from './gives-room.ts'

const quota = (status?: ResourceQuotaStatus): ResourceQuota => ({
  apiVersion: 'v1',
  kind: 'ResourceQuota',
  metadata: { name: 'q' },
  ...(status === undefined ? {} : { status }),
})

describe('a change of a quota', () => {
  it.each<readonly [string, ResourceQuotaStatus | undefined, ResourceQuotaStatus | undefined, boolean]>([
    ['less used', { used: { pods: '3' } }, { used: { pods: '2' } }, true],
    [
      'less of one thing used, more of another',
      { used: { pods: '3', cpu: '1' } },
      { used: { pods: '4', cpu: '900m' } },
      true,
    ],
    ['more used', { used: { pods: '2' } }, { used: { pods: '3' } }, false],
    ['as much, written otherwise', { used: { cpu: '1' } }, { used: { cpu: '1000m' } }, false],
    ['more allowed', { hard: { pods: '3' } }, { hard: { pods: '4' } }, true],
    ['less allowed', { hard: { pods: '4' } }, { hard: { pods: '3' } }, false],
    ['something counted for the first time', undefined, { hard: { pods: '4' }, used: { pods: '0' } }, false],
  ])('with %s', (_, before, after, expected) => {
    expect(givesRoom({ type: 'update', old: quota(before), object: quota(after) })).toBe(expected)
  })

  it('gives room where the quota is gone, and none where it is new', () => {
    expect(givesRoom({ type: 'delete', object: quota() })).toBe(true)
    expect(givesRoom({ type: 'add', object: quota() })).toBe(false)
  })
})
