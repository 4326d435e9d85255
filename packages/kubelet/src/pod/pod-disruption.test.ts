import { VirtualClock } from '@coracle/environment'
import { describe, expect, it } from 'vitest'
import { createAgentMetrics } from '../metrics/index.ts'
import { testPod } from '../testing/pods.ts'
import { PodDisruption } from './pod-disruption.ts'
import type { PodHost } from './pod-host.ts'

/** A pod that its node ends, and what is told and counted of that. */
function disrupted(priority = 0) {
  const metrics = createAgentMetrics(new VirtualClock())
  const events: string[] = []
  const context = {
    metrics: () => metrics,
    recorder: { event: (_: unknown, type: string, reason: string) => void events.push(`${type} ${reason}`) },
  }
  const host = { context, pod: testPod({ priority }), wake: () => {} } as unknown as PodHost
  const counted = () =>
    metrics.registry
      .text()
      .split('\n')
      .filter((line) => /^kubelet_(evictions|preemptions)\{/.test(line))
  return { disruption: new PodDisruption(host), events, counted }
}

describe('a pod that its node ends', () => {
  it('is told of and counted once where it is evicted', () => {
    const { disruption, events, counted } = disrupted()
    expect(disruption.evict('The node was low', 0, 'pid.available')).toBe(true)
    expect(disruption.evict('The node was low', 0, 'memory.available')).toBe(false)
    expect([events, counted()]).toEqual([['Warning Evicted'], ['kubelet_evictions{eviction_signal="pid.available"} 1']])
  })

  it('is told of and counted once where it makes room', () => {
    const { disruption, events, counted } = disrupted()
    disruption.preempt('cpu')
    disruption.preempt('memory')
    expect([events, counted()]).toEqual([['Warning Preempting'], ['kubelet_preemptions{preemption_signal="cpu"} 1']])
  })

  it('is none that the system itself depends on', () => {
    const { disruption, events, counted } = disrupted(2_000_000_000)
    expect(disruption.evict('The node was low', 0, 'pid.available')).toBe(false)
    expect([events, counted()]).toEqual([[], []])
  })
})
