import type { Pod } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { pod, secondsAgo, startMs } from '../testing/objects.ts'
import { groupPods } from './pod-groups.ts'

const windowMs = 30_000

function podOf(phase: string, started: number | undefined, ready: string | undefined, changed: number): Pod {
  const conditions =
    ready === undefined ? [] : [{ type: 'Ready', status: ready, lastTransitionTime: secondsAgo(changed) }]
  const startTime = started === undefined ? undefined : secondsAgo(started)
  return { ...pod('p'), status: { phase, startTime, conditions } } as Pod
}

const groupOf = (of: Pod, resource: string) =>
  groupPods([of], new Map([['p', { millis: 1, atMs: startMs, windowMs }]]), resource, startMs)

describe('what is read of a pod', () => {
  it.each<readonly [string, Pod, 'counts' | 'says nothing']>([
    ['that started long ago and is ready', podOf('Running', 600, 'True', 590), 'counts'],
    ['that was ready before', podOf('Running', 600, 'False', 570), 'counts'],
    ['that has not been ready since its start', podOf('Running', 600, 'False', 571), 'says nothing'],
    ['that started five minutes ago and has just become ready', podOf('Running', 300, 'True', 10), 'counts'],
    ['that started after that and has just become ready', podOf('Running', 299, 'True', 29), 'says nothing'],
    ['that became ready before the reading began', podOf('Running', 60, 'True', 30), 'counts'],
    ['that started lately and is not ready', podOf('Running', 60, 'False', 60), 'says nothing'],
    ['that says nothing of its start', podOf('Running', undefined, 'True', 600), 'says nothing'],
    ['that says nothing of being ready', podOf('Running', 600, undefined, 0), 'says nothing'],
  ])('%s: its CPU usage', (_, of, verdict) => {
    const counts = { readyCount: 1, unready: [], missing: [], readings: new Map([['p', expect.anything()]]) }
    const nothing = { readyCount: 0, unready: ['p'], missing: [], readings: new Map() }
    expect(groupOf(of, 'cpu')).toEqual(verdict === 'counts' ? counts : nothing)
    // Memory counts all the same.
    expect(groupOf(of, 'memory')).toEqual(counts)
  })

  it('that waits says nothing, and it is not missed', () => {
    const waiting = podOf('Pending', 600, 'True', 590)
    expect(groupOf(waiting, 'memory')).toMatchObject({ readyCount: 0, unready: ['p'], readings: new Map() })
    expect(groupPods([waiting], new Map(), 'memory', startMs)).toMatchObject({ unready: ['p'], missing: [] })
  })
})
