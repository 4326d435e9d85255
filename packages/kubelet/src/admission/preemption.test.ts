import type { PodSpec } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { testContainer, testPod } from '../testing/pods.ts'
import { podsToPreempt } from './preemption.ts'

type Quality = 'BestEffort' | 'Burstable' | 'Guaranteed'

const asking = (quality: Quality, requests: Readonly<Record<string, string>>, more: Partial<PodSpec> = {}) =>
  testPod({ containers: [testContainer({ resources: { requests } })], ...more }, { status: { qosClass: quality } })

const critical = asking('Guaranteed', {}, { priority: 2_000_000_000 })

const others = {
  none: asking('BestEffort', {}),
  small: asking('Burstable', { cpu: '100m', memory: '100Mi' }),
  wide: asking('Burstable', { cpu: '2', memory: '100Mi' }),
  tall: asking('Burstable', { cpu: '100m', memory: '2Gi' }),
  sure: asking('Guaranteed', { cpu: '4', memory: '4Gi' }),
  important: asking('Guaranteed', { cpu: '8', memory: '8Gi' }, { priority: 2_000_000_000 }),
}

const Mi = 2 ** 20
const choose = (lacking: Readonly<Record<string, number>>, pod = critical) => {
  const pods = Object.entries(others).map(([uid, other]) => ({ uid, pod: other, preempt: () => {} }))
  const found = podsToPreempt(
    pod,
    pods,
    Object.entries(lacking).map(([name, amount]) => ({ name, amount })),
  )
  return 'victims' in found ? found.victims.map(({ uid }) => uid) : found
}

describe('pods that make room for a critical one', () => {
  it.each<[Readonly<Record<string, number>>, unknown]>([
    [{}, []],
    [{ pods: 1 }, ['none']],
    [{ pods: 3 }, ['none', 'small', 'wide']],
    [{ cpu: 100 }, ['small']],
    [{ cpu: 150 }, ['wide']],
    [{ memory: 200 * Mi }, ['tall']],
    [{ cpu: 1000, memory: 1000 * Mi }, ['wide', 'tall']],
    [{ cpu: 3000 }, ['sure']],
    [{ cpu: 4050 }, ['small', 'sure']],
    [{ cpu: 7000 }, { missing: [{ name: 'cpu', amount: 800 }] }],
  ])('give up %j', (lacking, expected) => {
    expect(choose(lacking)).toEqual(expected)
  })

  it('are less important than it', () => {
    expect(choose({ pods: 1 }, asking('Guaranteed', {}))).toEqual({ missing: [{ name: 'pods', amount: 1 }] })
    expect(choose({ cpu: 9000 }, asking('Guaranteed', {}, { priority: 2_000_001_000 }))).toEqual(['wide', 'important'])
  })
})
