import type { Container, Pod } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { testContainer, testPod } from '../testing/pods.ts'
import { linuxResources, sandboxOverhead, sandboxResources } from './linux-resources.ts'

const nodeBytes = 8 * 2 ** 30

const podOf = (
  container: Container,
  qosClass: 'Guaranteed' | 'Burstable' | 'BestEffort',
  spec: Partial<Pod['spec']> = {},
) => testPod({ containers: [container], ...spec }, { status: { qosClass } })

const of = (resources: Container['resources'], qosClass: 'Guaranteed' | 'Burstable' | 'BestEffort' = 'Burstable') => {
  const container = testContainer(resources === undefined ? {} : { resources })
  return linuxResources(container, podOf(container, qosClass), nodeBytes)
}

describe('what a container may use', () => {
  it.each([
    ['nothing said', undefined, { cpuShares: 2, cpuQuota: 0, memoryLimitBytes: 0 }],
    ['a request', { requests: { cpu: '500m' } }, { cpuShares: 512, cpuQuota: 0 }],
    ['a limit, which is a request as well', { limits: { cpu: '250m' } }, { cpuShares: 256, cpuQuota: 25_000 }],
    ['a request of nothing', { requests: { cpu: '0' }, limits: { cpu: '1' } }, { cpuShares: 2, cpuQuota: 100_000 }],
    ['more than there is', { requests: { cpu: '1000' } }, { cpuShares: 262_144, cpuQuota: 0 }],
    ['hardly anything', { limits: { cpu: '1m' } }, { cpuShares: 2, cpuQuota: 1_000 }],
    ['memory', { limits: { memory: '64Mi' } }, { memoryLimitBytes: 64 * 2 ** 20 }],
  ])('with %s', (_, resources, expected) => {
    expect(of(resources)).toMatchObject({ cpuPeriod: 100_000, ...expected })
  })

  it('is what its pod may, where it has no limits of its own', () => {
    const container = testContainer({ resources: { limits: { cpu: '1' } } })
    const pod = podOf(container, 'Burstable', { resources: { limits: { cpu: '2', memory: '1Gi' } } })
    expect(linuxResources(container, pod, nodeBytes)).toMatchObject({ cpuQuota: 100_000, memoryLimitBytes: 2 ** 30 })
    expect(linuxResources(testContainer(), pod, nodeBytes)).toMatchObject({ cpuShares: 2048, cpuQuota: 200_000 })
  })

  it('is what its pod may, where its own limits are 0', () => {
    const container = testContainer({ resources: { limits: { cpu: '0', memory: '0' } } })
    const pod = podOf(container, 'Burstable', { resources: { limits: { cpu: '2', memory: '1Gi' } } })
    expect(linuxResources(container, pod, nodeBytes)).toMatchObject({ cpuQuota: 200_000, memoryLimitBytes: 2 ** 30 })
  })

  it('counts as asked for by each what its pod asks for beside its containers', () => {
    const asking = testContainer({ resources: { requests: { memory: '1Gi' } } })
    const sidecar = testContainer({ name: 'side', restartPolicy: 'Always' })
    const pod = podOf(asking, 'Burstable', {
      initContainers: [sidecar],
      resources: { requests: { memory: '5Gi' } },
    })
    expect(linuxResources(asking, pod, nodeBytes).oomScoreAdj).toBe(625)
    expect(linuxResources(sidecar, pod, nodeBytes).oomScoreAdj).toBe(625)
  })

  it.each([
    ['Guaranteed', '1Gi', -997],
    ['BestEffort', undefined, 1000],
    ['Burstable', undefined, 999],
    ['Burstable', '2Gi', 750],
    ['Burstable', '8Gi', 3],
  ] as const)('decides how readily it is killed: %s, %s', (qosClass, memory, expected) => {
    const resources = memory === undefined ? undefined : { requests: { memory } }
    expect(of(resources, qosClass).oomScoreAdj).toBe(expected)
  })

  it('lets a sidecar go no sooner than those that it serves, and what the node depends on last', () => {
    const sidecar = testContainer({ name: 'side', restartPolicy: 'Always' })
    const served = testContainer({ resources: { requests: { memory: '4Gi' } } })
    const pod = podOf(served, 'Burstable', { initContainers: [sidecar] })
    expect(linuxResources(sidecar, pod, nodeBytes).oomScoreAdj).toBe(500)
    const critical = podOf(served, 'Burstable', { priorityClassName: 'system-node-critical' })
    expect(linuxResources(served, critical, nodeBytes).oomScoreAdj).toBe(-997)
  })
})

describe('what a pod may use as a whole', () => {
  const asking = (name: string, cpu: string, memory: string) =>
    testContainer({ name, resources: { requests: { cpu }, limits: { cpu, memory } } })

  it.each<[string, Partial<Pod['spec']>, object]>([
    ['nothing said', {}, { cpuShares: 2, cpuQuota: 0, memoryLimitBytes: 0 }],
    [
      'what its containers may together, without what the runtime takes',
      { containers: [asking('a', '500m', '1Gi'), asking('b', '1', '1Gi')], overhead: { cpu: '4', memory: '4Gi' } },
      { cpuShares: 1536, cpuQuota: 150_000, memoryLimitBytes: 2 ** 31 },
    ],
    [
      'what an init container may, where that is more',
      { initContainers: [asking('init', '2', '4Gi')], containers: [asking('a', '1', '1Gi')] },
      { cpuShares: 2048, cpuQuota: 200_000, memoryLimitBytes: 2 ** 32 },
    ],
    [
      'what is said of it as a whole',
      { resources: { requests: { cpu: '250m' }, limits: { cpu: '3', memory: '1Gi' } } },
      { cpuShares: 256, cpuQuota: 300_000, memoryLimitBytes: 2 ** 30 },
    ],
  ])('is %s', (_, spec, expected) => {
    expect(sandboxResources(testPod(spec))).toEqual({ cpuPeriod: 100_000, ...expected })
  })

  it('is beside what its runtime takes for itself, and that no more', () => {
    const overhead = (given: Record<string, string>) => sandboxOverhead(testPod({ overhead: given }))
    const quota = { cpuShares: 256, cpuQuota: 25_000, cpuPeriod: 100_000 }
    expect(overhead({ cpu: '250m', memory: '120Mi' })).toEqual({ ...quota, memoryLimitBytes: 120 * 2 ** 20 })
    expect(overhead({ memory: '120Mi' })).toMatchObject({ cpuShares: 2, cpuQuota: 0 })
    expect(sandboxOverhead(testPod())).toBeUndefined()
  })
})
