import { seenRevisionsMax } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { NewlySeen } from './newly-seen.ts'

const at = (resourceVersion: string) => ({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web', resourceVersion } })

describe('the changes a key was queued for', () => {
  it('are given once, the latest first, to the next reconcile of that key', () => {
    const seen = new NewlySeen()
    for (const version of ['5', '5', '7', '6', '5']) seen.add('a', at(version))
    seen.add('b', at('9'))
    expect([seen.take('a'), seen.take('a'), seen.take('b')]).toEqual([[7, 6, 5], [], [9]])
  })

  it('are noted again where the reconcile has failed', () => {
    const seen = new NewlySeen()
    seen.add('a', at('5'))
    const taken = seen.take('a')
    seen.add('a', at('6'))
    seen.giveBack('a', taken)
    expect(seen.take('a')).toEqual([6, 5])
    seen.giveBack('a', [])
    expect(seen.take('a')).toEqual([])
  })

  it('are the latest of many', () => {
    const seen = new NewlySeen()
    for (let version = 1; version <= 20; version += 1) seen.add('a', at(String(version)))
    const taken = seen.take('a')
    expect(taken).toEqual(Array.from({ length: seenRevisionsMax }, (_, index) => 20 - index))
    seen.add('a', at('21'))
    seen.giveBack('a', taken)
    expect(seen.take('a')).toEqual(Array.from({ length: seenRevisionsMax }, (_, index) => 21 - index))
  })

  it('leave out versions that are no revisions', () => {
    const seen = new NewlySeen()
    for (const version of ['', '0', 'abc', '-1']) seen.add('a', at(version))
    expect(seen.take('a')).toEqual([])
  })
})
