import { selectorFromMap } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { pod, replicationController, startMs } from '../testing/objects.ts'
import { ReplicaTallies } from './tallies.ts'
import type { CountingRule } from './tally.ts'

const rule: CountingRule = { selector: selectorFromMap({ app: 'web' }), templateLabels: {}, minReadySeconds: 0 }
const controlledBy = replicationController(0)
const one = pod('one', { controlledBy })
const other = pod('other', { controlledBy })

/** Walks these pods, and remembers how often. */
function walker(...pods: readonly (typeof one)[]) {
  const walks = {
    count: 0,
    owned() {
      walks.count++
      return pods
    },
  }
  return walks
}

describe('the tallies of many objects', () => {
  it('walk an object’s pods once, and follow their changes', () => {
    const tallies = new ReplicaTallies()
    const walks = walker(one)
    expect(tallies.of('default/web', 'rc', rule, walks.owned, startMs).counts(startMs).replicas).toBe(1)
    tallies.add(other)
    tallies.add(pod('foreign', { controlledBy: { ...controlledBy, metadata: { name: 'x', uid: 'x' } } }))
    tallies.remove(one)
    tallies.add(pod('third', { controlledBy }))
    expect(tallies.of('default/web', 'rc', rule, walks.owned, startMs).counts(startMs).replicas).toBe(2)
    expect(walks.count).toBe(1)
  })

  it('walk them again when they count in another way', () => {
    const tallies = new ReplicaTallies()
    tallies.of('default/web', 'rc', rule, () => [one], startMs)
    const walks = walker(one, other)
    const changed = { ...rule, templateLabels: { tier: 'front' } }
    expect(tallies.of('default/web', 'rc', changed, walks.owned, startMs).counts(startMs)).toMatchObject({
      replicas: 2,
      fullyLabeled: 0,
    })
    expect(walks.count).toBe(1)
  })

  it('walk them again when the clock has been put back, and know again what is yet to come', () => {
    const tallies = new ReplicaTallies()
    const patient = { ...rule, minReadySeconds: 10 }
    const ready = pod('ready', { controlledBy, readyFor: 0 })
    const walks = walker(ready)
    const availableAt = (nowMs: number) => {
      const { available } = tallies.of('default/web', 'rc', patient, walks.owned, nowMs).counts(nowMs)
      return available
    }
    expect(availableAt(startMs + 3_600_000)).toBe(1)
    expect([availableAt(startMs), walks.count]).toEqual([0, 2])
    expect([availableAt(startMs + 10_000), availableAt(startMs + 9_999), walks.count]).toEqual([1, 1, 2])
  })

  it('count for another object of the same name anew, and forget what is gone', () => {
    const tallies = new ReplicaTallies()
    tallies.of('default/web', 'rc', rule, () => [one], startMs)
    expect(tallies.of('default/web', 'rc-2', rule, () => [], startMs).counts(startMs).replicas).toBe(0)
    tallies.forget('default/web')
    const walks = walker()
    tallies.of('default/web', 'rc-2', rule, walks.owned, startMs)
    tallies.of('default/web', 'rc', rule, walks.owned, startMs)
    expect(walks.count).toBe(2)
  })
})
