import { VirtualClock } from '@coracle/environment'
import { beforeEach, describe, expect, it } from 'vitest'
import { Bursts, gatherMs, toldOneByOneMax } from './bursts.ts'
import { sameMax } from './flood.ts'
import type { ChangeOf } from './log-changes.ts'

let clock: VirtualClock
let bursts: Bursts
let lines: string[]

beforeEach(() => {
  clock = new VirtualClock()
  lines = []
  bursts = new Bursts(clock, (_, { about, what }) => lines.push(`${about} ${what}`))
  bursts.follow({
    groupOf: (about) => (about.startsWith('pod/web-') ? 'replicationcontroller/web' : undefined),
    tally: () => ({ ready: 3, total: 50 }),
  })
})

const pods = (count: number, change: Partial<ChangeOf>) => {
  for (let index = 0; index < count; index++) {
    bursts.tell({ about: `pod/web-${index}`, what: 'ready', tone: 'plain', ...change })
  }
}

describe('Bursts', () => {
  it('sums up what happens to many pods of a controller', async () => {
    pods(50, { what: 'created by replication-controller: 0 of 50 replicas exist' })
    pods(50, { what: 'scheduled to node-0', isStep: true })
    pods(3, { what: 'ready', isStep: true })
    expect(lines).toEqual([])
    await clock.advance(gatherMs)
    expect(lines).toEqual([
      'replicationcontroller/web 50 pods created by replication-controller: 0 of 50 replicas exist',
      'replicationcontroller/web 3 of 50 ready',
    ])
    await clock.advance('1h')
    expect(lines).toHaveLength(2)
  })

  it('goes on with sums until the last of many have changed', async () => {
    pods(20, { what: 'started', isStep: true })
    await clock.advance('1s')
    pods(1, { what: 'ready', isStep: true })
    await clock.advance('1s')
    expect(lines).toEqual(['replicationcontroller/web 3 of 50 ready', 'replicationcontroller/web 3 of 50 ready'])
    await clock.advance('1m')
    pods(1, { what: 'gone' })
    await clock.advance('1s')
    expect(lines.at(-1)).toBe('pod/web-0 gone')
  })

  it('tells of trouble with how many it concerns', async () => {
    pods(toldOneByOneMax + 1, { what: 'cannot be scheduled: no room', tone: 'bad' })
    await clock.advance(gatherMs)
    expect(lines).toEqual(['replicationcontroller/web 5 pods cannot be scheduled: no room'])
  })

  it('tells of few pods, and of pods of nobody, one by one and in order', async () => {
    pods(toldOneByOneMax, { what: 'gone' })
    for (let index = 0; index < 9; index++) bursts.tell({ about: `pod/alone-${index}`, what: 'gone', tone: 'plain' })
    await clock.advance(gatherMs)
    expect(lines).toHaveLength(toldOneByOneMax + 9)
    expect(lines[0]).toBe('pod/web-0 gone')
    expect(lines.at(-1)).toBe('pod/alone-8 gone')
  })

  it('tells of eight thousand pods in some tens of lines, however long they take', async () => {
    const total = 8_000
    let ready = 0
    bursts.follow({ groupOf: () => 'replicationcontroller/big', tally: () => ({ ready, total }) })
    // A minute and a half, in which every tenth of a second some are created, and others become ready.
    for (let index = 0; index < total; index++) {
      const about = `pod/big-${index}`
      const what = `created by replication-controller: ${index - (index % 500)} of ${total} replicas exist`
      bursts.tell({ about, what, tone: 'plain' })
      for (const step of ['scheduled to node-1', 'started, on 10.128.0.1', 'ready'])
        bursts.tell({ about, what: step, tone: 'plain', isStep: true })
      ready += 1
      if (index % 9 === 0) await clock.advance(100)
    }
    await clock.advance('1m')
    expect(lines.length).toBeLessThan(40)
    expect(lines.at(-1)).toBe('replicationcontroller/big 8000 of 8000 ready')
    const created = lines.flatMap((line) => Number(/ (\d+) pods? created/.exec(line)?.[1] ?? 0))
    expect(created.reduce((sum, count) => sum + count, 0)).toBe(total)
  })

  it('tells of many objects of a kind by the first ones, and the number of the others', async () => {
    for (let index = 0; index < 500; index++) {
      bursts.tell({ about: `node/node-${index}`, what: 'ready', tone: 'good' })
      bursts.tell({ about: `pod/job-${index}`, what: `scheduled to node-${index}`, tone: 'plain' })
    }
    expect(lines.slice(0, sameMax)).toEqual(Array.from({ length: sameMax }, (_, index) => `node/node-${index} ready`))
    await clock.advance('2s')
    expect(lines).toHaveLength(2 * sameMax + 2)
    expect(lines.slice(-2)).toEqual(['node/… 480 more: ready', 'pod/… 480 more: scheduled to node-499'])
    // Components repeat themselves as well.
    for (const name of ['a', 'b', 'c', 'd', 'e'].flatMap((a) => ['v', 'w', 'x', 'y', 'z'].map((b) => a + b)))
      bursts.tell({ about: 'cluster', what: `event dropped: too many wait: about ${name}`, tone: 'bad' })
    expect(lines).toHaveLength(3 * sameMax + 2)
    await clock.advance('2s')
    expect(lines.at(-1)).toBe('cluster 5 more: event dropped: too many wait: about ez')
    // What goes on is told of less and less often; then it begins anew.
    await clock.advance('1m')
    bursts.tell({ about: 'node/late', what: 'ready', tone: 'good' })
    expect(lines.at(-1)).toBe('node/late ready')
  })

  it('holds up nothing else, and tells all when it is flushed', () => {
    pods(1, { what: 'gone' })
    bursts.tell({ about: 'cluster', what: 'stopping', tone: 'plain' })
    expect(lines).toEqual(['cluster stopping'])
    bursts.flush()
    expect(lines).toEqual(['cluster stopping', 'pod/web-0 gone'])
  })
})
