import { leases, nodes, parseTime } from '@coracle/api'
import type { Client } from '@coracle/client'
import { createFakeClient } from '@coracle/client/testing'
import { virtualEnvironment } from '@coracle/environment'
import { describe, expect, it } from 'vitest'
import { simulatedFacts } from './node-facts.ts'
import { heartbeatMs, NodeHeartbeat } from './node-heartbeat.ts'

it('renews the lease of each node of a group in ten seconds, and wakes once a second for all of them', async () => {
  const environment = virtualEnvironment()
  const { clock } = environment
  const client = createFakeClient(environment)
  const descriptions = Array.from({ length: 95 }, (_, index) => {
    const name = `node-${index}`
    return { name, address: '10.0.0.1', facts: simulatedFacts(name), runtimeVersion: 'simulated://1', labels: {} }
  })
  const heartbeat = new NodeHeartbeat(client, environment, descriptions)
  await heartbeat.start()
  await clock.settle()
  const startedMs = clock.now()
  await clock.advance(heartbeatMs)
  const { items } = await client.list(leases, { namespace: 'kube-node-lease' })
  const renewedMs = items.map(({ spec }) => parseTime(spec?.renewTime ?? '') - startedMs)
  expect(renewedMs).toHaveLength(descriptions.length)
  expect([...new Set(renewedMs)].sort((a, b) => a - b)).toEqual(
    Array.from({ length: 10 }, (_, second) => (second + 1) * 1000),
  )
  await heartbeat.close()
})

it('works out the status of a node that has not changed once, and reports it again after five minutes', async () => {
  const environment = virtualEnvironment()
  const { clock } = environment
  const client = createFakeClient(environment)
  let looks = 0
  const facts = new Proxy(simulatedFacts('node-0'), {
    get(target, name) {
      looks += 1
      return Reflect.get(target, name)
    },
  })
  const description = { name: 'node-0', address: '10.0.0.1', facts, runtimeVersion: 'simulated://1', labels: {} }
  const heartbeat = new NodeHeartbeat(client, environment, [description])
  await heartbeat.start()
  await clock.advance(2 * heartbeatMs)
  const before = { looks, reported: await client.get(nodes, { name: 'node-0' }) }
  await clock.advance(20 * heartbeatMs)
  expect(looks).toBe(before.looks)
  expect(await client.get(nodes, { name: 'node-0' })).toBe(before.reported)
  await clock.advance(20 * heartbeatMs)
  const { status } = await client.get(nodes, { name: 'node-0' })
  const ready = status?.conditions?.find(({ type }) => type === 'Ready')
  expect(clock.now() - parseTime(ready?.lastHeartbeatTime ?? '')).toBeLessThan(300_000)
  await heartbeat.close()
})

it('offers the extended resources that somebody has written into its capacity, as long as they are there', async () => {
  const environment = virtualEnvironment()
  const { clock } = environment
  const client = createFakeClient(environment)
  const facts = simulatedFacts('node-0')
  const description = { name: 'node-0', address: '10.0.0.1', facts, runtimeVersion: 'simulated://1', labels: {} }
  const heartbeat = new NodeHeartbeat(client, environment, [description])
  await heartbeat.start()
  const told = async (capacity: Readonly<Record<string, string | null>>) => {
    const body = { status: { capacity } }
    await client.patch(nodes, { name: 'node-0' }, { type: 'merge', body }, { subresource: 'status' })
    await clock.advance(heartbeatMs)
    return (await client.get(nodes, { name: 'node-0' })).status
  }
  const dongles = { ...facts.capacity, 'example.com/dongle': '4' }
  expect(await told({ 'example.com/dongle': '4', cpu: '1' })).toMatchObject({ capacity: dongles, allocatable: dongles })
  const status = await told({ 'example.com/dongle': null })
  expect(status?.capacity).toEqual(facts.capacity)
  expect(status?.allocatable).toEqual(facts.capacity)
  await heartbeat.close()
})

it('tells in which ways its runtime runs pods, as they are at the time', async () => {
  const environment = virtualEnvironment()
  const { clock } = environment
  const client = createFakeClient(environment)
  const can = (name: string, recursiveReadOnlyMounts: boolean) => ({
    name,
    features: { recursiveReadOnlyMounts, userNamespaces: false },
  })
  let handlers = [can('', true), can('runc', true)]
  const observe = async () => ({ problems: [], images: [], handlers })
  const facts = simulatedFacts('node-0')
  const description = { name: 'node-0', address: '10.0.0.1', facts, runtimeVersion: 'fake://1', labels: {}, observe }
  const heartbeat = new NodeHeartbeat(client, environment, [description])
  await heartbeat.start()
  const reported = async () => (await client.get(nodes, { name: 'node-0' })).status?.runtimeHandlers
  expect(await reported()).toEqual(handlers)
  for (const next of [[can('', true), can('runc', false)], [can('', false)], []]) {
    handlers = next
    await clock.advance(heartbeatMs)
    expect((await reported()) ?? []).toEqual(next)
  }
  await heartbeat.close()
})

describe('where a request is never answered', () => {
  const description = {
    name: 'node-0',
    address: '10.0.0.1',
    facts: simulatedFacts('node-0'),
    runtimeVersion: 'fake://1',
    labels: {},
  }
  /** An API whose connections may be dead: what is asked over them then is heard of no more. */
  async function begun() {
    const environment = virtualEnvironment()
    const fake = createFakeClient(environment)
    let isDead = false
    const client = new Proxy<Client>(fake, {
      get: (target, name) => {
        const method: unknown = Reflect.get(target, name)
        if (typeof method !== 'function') return method
        return (...args: readonly unknown[]) => {
          if (!isDead) return method.apply(target, args)
          const { signal } = args.at(-1) as { readonly signal?: AbortSignal }
          return new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)))
        }
      },
    })
    const heartbeat = new NodeHeartbeat(client, environment, [description])
    await heartbeat.start()
    await environment.clock.advance(heartbeatMs)
    const { clock } = environment
    const renewedMs = async () =>
      parseTime((await fake.get(leases, { namespace: 'kube-node-lease', name: 'node-0' })).spec?.renewTime ?? '')
    const die = (dead: boolean) => {
      isDead = dead
    }
    return { clock, heartbeat, renewedMs, die }
  }

  it('the lease is renewed over the next connection before it has run out', async () => {
    const { clock, heartbeat, renewedMs, die } = await begun()
    die(true)
    await clock.advance(heartbeatMs)
    die(false)
    await clock.advance(2 * heartbeatMs)
    expect(clock.now() - (await renewedMs())).toBeLessThanOrEqual(heartbeatMs)
    await heartbeat.close()
  })

  it('the end of the heartbeat does not wait for it', async () => {
    const { clock, heartbeat, die } = await begun()
    die(true)
    await clock.advance(heartbeatMs)
    await heartbeat.close()
  })
})

it.each([
  [undefined, ['InternalIP 10.0.0.1', 'Hostname node-0']],
  ['10.0.0.1', ['InternalIP 10.0.0.1', 'Hostname node-0']],
  ['192.0.2.7', ['InternalIP 10.0.0.1', 'ExternalIP 192.0.2.7', 'Hostname node-0']],
])('says of a node that others reach it at %s', async (externalAddress, addresses) => {
  const environment = virtualEnvironment()
  const client = createFakeClient(environment)
  const facts = simulatedFacts('node-0')
  const description = { name: 'node-0', address: '10.0.0.1', facts, runtimeVersion: 'simulated://1', labels: {} }
  const heartbeat = new NodeHeartbeat(client, environment, [
    { ...description, ...(externalAddress === undefined ? {} : { externalAddress }) },
  ])
  await heartbeat.start()
  const { status } = await client.get(nodes, { name: 'node-0' })
  expect(status?.addresses?.map(({ type, address }) => `${type} ${address}`)).toEqual(addresses)
  await heartbeat.close()
})
