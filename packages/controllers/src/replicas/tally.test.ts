import { nothing, type Pod, selectorFromMap } from '@coracle/api'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { availableAt, isActive, isReady, isTerminating } from '../pods/pod-state.ts'
import { pod, startMs } from '../testing/objects.ts'
import { type CountingRule, isSameRule, type ReplicaCounts, ReplicaTally } from './tally.ts'

const rule: CountingRule = {
  selector: selectorFromMap({ app: 'web' }),
  templateLabels: { app: 'web', tier: 'front' },
  minReadySeconds: 30,
}

/** The counts as their definitions say, from all pods at once. */
function recount(pods: readonly Pod[], { selector, templateLabels, minReadySeconds }: CountingRule, nowMs: number) {
  const matching = pods.filter(({ metadata }) => selector.matches(metadata.labels))
  const active = matching.filter(isActive)
  const times = active.map((each) => availableAt(each, minReadySeconds))
  const later = times.filter((at) => at > nowMs && at !== Number.POSITIVE_INFINITY)
  const counts: ReplicaCounts = {
    replicas: active.length,
    fullyLabeled: active.filter(({ metadata }) => selectorFromMap(templateLabels).matches(metadata.labels)).length,
    ready: active.filter(isReady).length,
    available: times.filter((at) => at <= nowMs).length,
    terminating: matching.filter(isTerminating).length,
    nextAvailableAt: later.length === 0 ? undefined : Math.min(...later),
  }
  const mismatched = pods.filter((each) => isActive(each) && !matching.includes(each))
  return { counts, mismatched: mismatched.map(({ metadata }) => metadata.name).sort() }
}

const traits = fc.record(
  {
    labels: fc.constantFrom({ app: 'web' }, { app: 'web', tier: 'front' }, { app: 'other' }),
    phase: fc.constantFrom('Pending', 'Running', 'Succeeded', 'Failed'),
    readyFor: fc.integer({ min: -20, max: 40 }),
    isGoing: fc.boolean(),
  },
  { requiredKeys: [] },
)

const steps = fc.array(
  fc.oneof(
    fc.record({ type: fc.constant('set' as const), name: fc.constantFrom('a', 'b', 'c', 'd'), traits }),
    fc.record({ type: fc.constant('delete' as const), name: fc.constantFrom('a', 'b', 'c', 'd') }),
    fc.record({ type: fc.constant('pass' as const), seconds: fc.integer({ min: 0, max: 40 }) }),
  ),
  { maxLength: 40 },
)

describe('the tally of an object’s pods', () => {
  it.each([0, 30])('equals a recount after any changes, with minReadySeconds %i', (minReadySeconds) => {
    fc.assert(
      fc.property(steps, (changes) => {
        const tally = new ReplicaTally({ ...rule, minReadySeconds })
        const pods = new Map<string, Pod>()
        let nowMs = startMs
        for (const change of changes) {
          if (change.type === 'pass') nowMs += change.seconds * 1000
          else {
            const old = pods.get(change.name)
            if (old !== undefined) tally.remove(old)
            pods.delete(change.name)
            if (change.type === 'set') {
              const made = pod(change.name, change.traits)
              pods.set(change.name, made)
              tally.add(made)
            }
          }
          const mismatched = tally.mismatched.map(({ metadata }) => metadata.name).sort()
          const now = recount([...pods.values()], tally.rule, nowMs)
          expect({ counts: tally.counts(nowMs), mismatched }).toEqual(now)
        }
      }),
    )
  })

  it('is of no use once another rule counts', () => {
    expect(isSameRule(rule, { ...rule, selector: selectorFromMap({ app: 'web' }) })).toBe(true)
    expect(isSameRule(rule, { ...rule, selector: selectorFromMap({ app: 'api' }) })).toBe(false)
    expect(isSameRule({ ...rule, selector: selectorFromMap({}) }, { ...rule, selector: nothing })).toBe(false)
    expect(isSameRule(rule, { ...rule, templateLabels: { app: 'web' } })).toBe(false)
    expect(isSameRule(rule, { ...rule, minReadySeconds: 0 })).toBe(false)
  })
})
