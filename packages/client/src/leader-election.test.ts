import { leases } from '@coracle/api'
import { type VirtualEnvironment, virtualEnvironment } from '@coracle/environment'
import { beforeEach, describe, expect, it } from 'vitest'
import { createLeaderElector, type LeaderElectionOptions } from './leader-election.ts'
import { createFakeClient, type FakeClient } from './testing/fake-client.ts'

let environment: VirtualEnvironment
let client: FakeClient
let history: string[]

beforeEach(() => {
  environment = virtualEnvironment()
  client = createFakeClient(environment)
  history = []
})

/** A candidate that leads until its signal, and the switch that makes it stop. */
function candidate(identity: string, options: Partial<LeaderElectionOptions> = {}) {
  const stop = new AbortController()
  const whole = { namespace: 'kube-system', name: 'test', identity, ...options }
  const elector = createLeaderElector(client, environment, whole)
  const ended = elector.run(async (signal) => {
    history.push(`${identity} leads`)
    await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
    history.push(`${identity} stops`)
  }, stop.signal)
  return { elector, stop, ended }
}

const lease = () => client.stored(leases)[0]?.spec

describe('leader election', () => {
  it('makes the first candidate the leader, and keeps it so', async () => {
    const a = candidate('a')
    await environment.clock.settle()
    const b = candidate('b')
    await environment.clock.advance('10m')
    expect(history).toEqual(['a leads'])
    expect([a.elector.isLeader, b.elector.isLeader, b.elector.leader]).toEqual([true, false, 'a'])
    expect(lease()).toMatchObject({ holderIdentity: 'a', leaseTransitions: 0, leaseDurationSeconds: 15 })
    expect(lease()?.renewTime).toMatch(/^2026-01-01T00:(09:5[89]|10:00)\.\d{6}Z$/)
  })

  it('says since when it leads, however often it renews, and anew after a change', async () => {
    const a = candidate('a')
    await environment.clock.settle()
    candidate('b')
    const { acquireTime } = lease() ?? {}
    await environment.clock.advance('1m')
    expect(lease()).toMatchObject({ holderIdentity: 'a', acquireTime })
    expect(lease()?.renewTime).not.toBe(acquireTime)
    a.stop.abort()
    await environment.clock.advance('5s')
    const second = lease()
    expect(second?.acquireTime).not.toBe(acquireTime)
    await environment.clock.advance('1m')
    expect(lease()).toMatchObject({ holderIdentity: 'b', acquireTime: second?.acquireTime })
  })

  it('hands over soon when the leader stops', async () => {
    const a = candidate('a')
    await environment.clock.settle()
    candidate('b')
    await environment.clock.advance('1m')
    a.stop.abort()
    await environment.clock.advance('5s')
    await a.ended
    expect(history).toEqual(['a leads', 'a stops', 'b leads'])
    expect(lease()).toMatchObject({ holderIdentity: 'b', leaseTransitions: 1 })
  })

  it('hands over soon also when it stops amid a renewal, which the server carries out', async () => {
    const a = candidate('a')
    await environment.clock.advance('1s')
    const { update } = client
    let isLost = false
    // The server has carried it out; the answer is not waited for.
    client.update = async (resource, object, options) => {
      const written = await update.call(client, resource, object, options)
      if (isLost) return written as never
      isLost = true
      a.stop.abort(new Error('stopped'))
      throw options?.signal?.reason
    }
    await environment.clock.advance('2s')
    await a.ended
    expect([isLost, lease()?.holderIdentity]).toEqual([true, ''])
  })

  it('gives a lease back that it got as it went', async () => {
    const { create } = client
    client.create = async (resource, object, options) => {
      const written = await create.call(client, resource, object, options)
      going.stop.abort()
      return written as never
    }
    const going = candidate('a')
    await going.ended
    expect([history, lease()?.holderIdentity]).toEqual([[], ''])
  })

  it('takes over from a leader that is gone though others go on writing to its lease', async () => {
    const metadata = { namespace: 'kube-system', name: 'test' }
    const spec = { holderIdentity: 'dead', leaseDurationSeconds: 15 }
    await client.create(leases, { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec })
    candidate('b')
    for (let second = 0; second < 20; second++) {
      await environment.clock.advance('1s')
      const body = { metadata: { annotations: { marked: String(second) } } }
      await client.patch(leases, metadata, { type: 'merge', body })
    }
    await environment.clock.advance('5s')
    expect(history).toEqual(['b leads'])
  })

  it('takes over from a leader that is gone, once its lease has run out, and not before', async () => {
    const dead = {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { namespace: 'kube-system', name: 'test' },
    }
    // A clock far ahead of ours: only what we see change counts.
    const spec = {
      holderIdentity: 'dead',
      leaseDurationSeconds: 15,
      leaseTransitions: 4,
      renewTime: '2030-01-01T00:00:00.000000Z',
    }
    await client.create(leases, { ...dead, spec })
    candidate('b')
    await environment.clock.advance('14s')
    expect(history).toEqual([])
    await environment.clock.advance('6s')
    expect(history).toEqual(['b leads'])
    expect(lease()).toMatchObject({ holderIdentity: 'b', leaseTransitions: 5 })
  })

  it('steps down when it cannot renew, before anyone else may lead', async () => {
    const a = candidate('a')
    await environment.clock.advance('1s')
    const restore = client.intercept(() => {
      throw new Error('unreachable')
    })
    await environment.clock.advance('15s')
    expect(history).toEqual(['a leads', 'a stops'])
    restore()
    await environment.clock.settle()
    await a.ended
  })

  it('steps down in time although a request hangs', async () => {
    const a = candidate('a')
    await environment.clock.advance('1s')
    client.intercept((call) => (call.plural === 'leases' ? new Promise<void>(() => {}) : undefined))
    await environment.clock.advance('14s')
    expect(history).toEqual(['a leads', 'a stops'])
    expect(a.elector.isLeader).toBe(false)
    await environment.clock.advance('10s')
    await a.ended
  })

  it('steps down when another has taken the lease', async () => {
    candidate('a')
    await environment.clock.advance('1s')
    const stored = client.stored(leases)[0]
    if (stored !== undefined) await client.update(leases, { ...stored, spec: { ...stored.spec, holderIdentity: 'z' } })
    await environment.clock.advance('5s')
    expect(history).toEqual(['a leads', 'a stops'])
  })

  it('leaves idle time free, and the lease with its leader over it', async () => {
    const a = candidate('a', { retryPeriodMs: 8_000 })
    await environment.clock.settle()
    // They look more often than the leader renews: where the clock stops leaving out rounds, some look first.
    for (const identity of ['b', 'c', 'd', 'e']) candidate(identity)
    let renewals = 0
    client.intercept(({ verb }) => void (verb === 'update' && renewals++))
    for (let hour = 0; hour < 24; hour++) await environment.clock.advance('1h')
    expect(renewals).toBeLessThan(24 * 40)
    expect(history).toEqual(['a leads'])
    expect(a.elector.isLeader).toBe(true)
  })

  it('renews a lease that lasts longer than a virtual clock watches silence in every round', async () => {
    const options = { namespace: 'kube-system', name: 'test', identity: 'a', leaseDurationMs: 120_000 }
    const lead = () => new Promise<void>(() => {})
    void createLeaderElector(client, environment, options).run(lead, new AbortController().signal)
    await environment.clock.settle()
    let renewals = 0
    client.intercept(({ verb }) => void (verb === 'update' && renewals++))
    await environment.clock.advance('10m')
    expect(renewals).toBe(300)
  })

  it('reports who leads', async () => {
    const seen: string[] = []
    const options = {
      namespace: 'kube-system',
      name: 'test',
      identity: 'b',
      onNewLeader: (identity: string) => seen.push(identity),
    }
    candidate('a')
    await environment.clock.settle()
    const stop = new AbortController()
    void createLeaderElector(client, environment, options).run(async () => {}, stop.signal)
    await environment.clock.advance('5s')
    stop.abort()
    expect(seen).toEqual(['a'])
  })

  it('refuses durations that cannot work', () => {
    const options = { namespace: 'kube-system', name: 'test', identity: 'a' }
    expect(() => createLeaderElector(client, environment, { ...options, renewDeadlineMs: 15_000 })).toThrow(
      'longer than',
    )
  })
})
