import {
  type Deployment,
  deployments,
  formatTime,
  type HorizontalPodAutoscaler,
  horizontalPodAutoscalers,
  leases,
  type Node,
  nodes,
  parseTime,
  replicaSets,
  simulatedUsageAnnotation,
} from '@coracle/api'
import { VirtualClock, virtualEnvironment } from '@coracle/environment'
import { describe, expect, it } from 'vitest'
import { startCluster } from '../src/index.ts'

/** A clock that counts what fires. */
class CountingClock extends VirtualClock {
  fired = 0

  override setTimer(...[delayMs, callback, options]: Parameters<VirtualClock['setTimer']>) {
    const counted = () => {
      this.fired++
      callback()
    }
    return super.setTimer(delayMs, counted, options)
  }
}

const readyOf = ({ status }: Node) => status?.conditions?.find(({ type }) => type === 'Ready')

describe('a day on which nothing happens', () => {
  it.each([
    { count: 3, firedMax: 250 },
    { count: 100, firedMax: 1500 },
  ])('costs $count nodes the work of a minute or two', async ({ count, firedMax }) => {
    const clock = new CountingClock()
    const environment = { ...virtualEnvironment({ seed: 1 }), clock }
    await using cluster = await startCluster({ environment, nodes: count })
    await clock.settle()
    clock.fired = 0
    const { metadata: before } = await cluster.client.list(nodes)
    await clock.advance('24h')
    expect(clock.fired).toBeLessThan(firedMax)
    const after = await cluster.client.list(nodes)
    expect(Number(after.metadata.resourceVersion) - Number(before.resourceVersion)).toBeLessThan(count * 20)
    // And yet every node has renewed its lease just now, and has been well all day.
    const { items } = await cluster.client.list(leases, { namespace: 'kube-node-lease' })
    expect(items).toHaveLength(count)
    for (const { spec } of items) {
      expect(clock.now() - parseTime(spec?.renewTime ?? '')).toBeLessThanOrEqual(10_000)
    }
    for (const node of after.items) {
      expect(readyOf(node)).toMatchObject({ status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' })
    }
  })

  it('costs no write of a node in the five minutes between two reports', async () => {
    const environment = virtualEnvironment({ seed: 1 })
    await using cluster = await startCluster({ environment, nodes: 2 })
    await environment.clock.advance('30s')
    const versions = async () =>
      (await cluster.client.list(nodes)).items.map(({ metadata }) => metadata.resourceVersion)
    const before = await versions()
    // Step by step: at once, the clock would leave out most of the heartbeats.
    for (let minute = 1; minute <= 4; minute++) await environment.clock.advance('1m')
    expect(await versions()).toEqual(before)
    for (let minute = 5; minute <= 6; minute++) await environment.clock.advance('1m')
    expect(await versions()).not.toEqual(before)
  })

  it('is no less idle for an autoscaler that looks all day, until it finds something to do', async () => {
    const environment = virtualEnvironment({ seed: 1 })
    const { clock } = environment
    await using cluster = await startCluster({ environment, nodes: 3 })
    const { client } = cluster
    const labels = { app: 'web' }
    const usage = { [simulatedUsageAnnotation]: 'cpu=10m' }
    const requests = { cpu: '100m' }
    await client.create<Deployment>(deployments, {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { namespace: 'default', name: 'web' },
      spec: {
        replicas: 2,
        selector: { matchLabels: labels },
        template: {
          metadata: { labels, annotations: usage },
          spec: { containers: [{ name: 'web', image: 'web', resources: { requests } }] },
        },
      },
    })
    await clock.advance('1m')
    // A pod may go after an hour, and nothing but the autoscaler's own looks leads to that.
    const behavior = { scaleDown: { stabilizationWindowSeconds: 3600 } }
    await client.create<HorizontalPodAutoscaler>(horizontalPodAutoscalers, {
      apiVersion: 'autoscaling/v2',
      kind: 'HorizontalPodAutoscaler',
      metadata: { namespace: 'default', name: 'web' },
      spec: {
        scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
        minReplicas: 1,
        maxReplicas: 3,
        behavior,
      },
    })
    await clock.advance('1m')
    const renewals = async () => (await client.list(leases, { namespace: 'kube-node-lease' })).items
    const ages: number[] = []
    const watch = await client.watch(replicaSets)
    const watching = (async () => {
      for await (const { type, object } of watch) {
        if (type !== 'MODIFIED' || object.spec?.replicas !== 1) continue
        for (const { spec } of await renewals()) ages.push(clock.now() - parseTime(spec?.renewTime ?? ''))
      }
    })()
    const before = Number((await client.list(nodes)).metadata.resourceVersion)
    await clock.advance('50m')
    expect(Number((await client.list(nodes)).metadata.resourceVersion) - before).toBeLessThan(60)
    expect(ages).toEqual([])
    await clock.advance('20m')
    watch.close()
    await watching
    expect((await client.get(deployments, { namespace: 'default', name: 'web' })).spec?.replicas).toBe(1)
    expect(ages.length).toBeGreaterThan(0)
    expect(Math.max(...ages)).toBeLessThanOrEqual(10_000)
    for (const node of (await client.list(nodes)).items)
      expect(readyOf(node)).toMatchObject({ status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' })
  })

  it('does not hide that a node falls silent in the middle of it', async () => {
    const environment = virtualEnvironment({ seed: 1 })
    const { clock } = environment
    await using cluster = await startCluster({ environment, nodes: 0 })
    const name = 'lost'
    const condition = { type: 'Ready', status: 'True', reason: 'KubeletReady', message: '' } as const
    await cluster.client.create(nodes, { apiVersion: 'v1', kind: 'Node', metadata: { name } })
    const report = async () => {
      const lastHeartbeatTime = formatTime(clock.now())
      const body = {
        status: { conditions: [{ ...condition, lastHeartbeatTime, lastTransitionTime: lastHeartbeatTime }] },
      }
      await cluster.client.patch(nodes, { name }, { type: 'merge', body }, { subresource: 'status' })
    }
    let isAlive = true
    const beat = async () => {
      if (!isAlive) return
      await report()
      clock.setTimer(10_000, () => void beat(), { housekeeping: true })
    }
    await beat()
    const diesAtMs = clock.now() + 12 * 3_600_000
    clock.setTimer(12 * 3_600_000, () => {
      isAlive = false
    })
    await clock.advance('24h')
    const ready = readyOf(await cluster.client.get(nodes, { name }))
    expect(ready?.status).toBe('Unknown')
    // Its last report is at most ten seconds older than its death, and 50 s of silence are death.
    const noticedMs = parseTime(ready?.lastTransitionTime ?? '') - diesAtMs
    expect(noticedMs).toBeGreaterThanOrEqual(40_000)
    expect(noticedMs).toBeLessThanOrEqual(50_000)
  })
})
