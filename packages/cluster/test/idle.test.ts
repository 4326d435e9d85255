import { formatTime, leases, type Node, nodes, parseTime } from '@coracle/api'
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
