import { endpointSlices, type Service, services } from '@coracle/api'
import { createInformer } from '@coracle/client'
import { createLogger, type LogLine } from '@coracle/environment'
import { describe, expect, it, onTestFinished } from 'vitest'
import { cachedCluster } from '../testing/cached-cluster.ts'
import { headless, makeService, makeSlice } from '../testing/objects.ts'
import { gatherMs, hostLinesMax, restMs, ServiceHosts } from './service-hosts.ts'

/** Lines over what a client has. */
async function serviceHosts(objects: Parameters<typeof cachedCluster>[0]) {
  const { environment, client } = await cachedCluster(objects)
  const caches = {
    services: createInformer(client, services, {}, environment),
    slices: createInformer(client, endpointSlices, {}, environment),
  }
  for (const informer of Object.values(caches)) informer.start()
  await environment.clock.settle()
  const logged: LogLine[] = []
  const logger = createLogger((line) => logged.push(line))
  const place = { domain: 'cluster.local', isOwnNode: () => true }
  /** The services that were looked at, by their keys. */
  const looks: string[] = []
  const counted = new Proxy(caches.services, {
    get(informer, property) {
      if (property !== 'get') return Reflect.get(informer, property).bind(informer)
      return (key: string) => {
        looks.push(key)
        return informer.get(key)
      }
    },
  })
  const parts = { ...place, services: counted, slices: caches.slices, environment: { ...environment, logger } }
  const hosts = new ServiceHosts(parts)
  onTestFinished(() => hosts.close())
  const { clock } = environment
  const tellings: number[] = []
  const unsubscribe = hosts.subscribe(() => tellings.push(clock.monotonicMs()))
  /** The shortest name of each line for pods of a namespace. */
  const names = (namespace: string) =>
    hosts
      .lines(namespace)
      .split('\n')
      .flatMap((line) => line.split('\t').at(-1) || [])
  return { clock, client, hosts, names, tellings, unsubscribe, looks, logged }
}

const at = (address: string): Partial<Service['spec']> => ({ clusterIP: address, clusterIPs: [address] })

describe('what pods of a namespace know', () => {
  it('is their own services by name first, and all others with their namespace, in order', async () => {
    const all = [makeService('web', {}, 'shop'), makeService('db', {}, 'shop'), makeService('api', {}, 'bank')]
    const { names } = await serviceHosts([...all, makeService('z', {}, 'ads')])
    expect(names('shop')).toEqual(['db', 'web', 'z.ads', 'api.bank'])
    expect(names('bank')).toEqual(['api', 'z.ads', 'db.shop', 'web.shop'])
    expect(names('elsewhere')).toEqual(['z.ads', 'api.bank', 'db.shop', 'web.shop'])
  })

  it('follows services as they come, change and go, at once where somebody asks', async () => {
    const { clock, client, hosts, names } = await serviceHosts([makeService('web')])
    const made = await client.create(services, makeService('db', at('10.96.0.9')))
    await clock.settle()
    expect(names('shop')).toEqual(['db', 'web'])
    await client.update(services, { ...made, spec: { ...made.spec, ...at('10.96.0.10') } })
    await clock.settle()
    expect(hosts.lines('shop')).toContain('10.96.0.10\tdb.')
    expect(hosts.lines('shop')).not.toContain('10.96.0.9\t')
    await client.delete(services, { namespace: 'shop', name: 'db' })
    await clock.settle()
    expect(names('shop')).toEqual(['web'])
    await client.delete(services, { namespace: 'shop', name: 'web' })
    await clock.settle()
    expect(hosts.lines('shop')).toBe('')
  })

  it('follows endpoints, also those that change from one service to another', async () => {
    const all = [makeService('a', headless), makeService('b', headless)]
    const { clock, client, names } = await serviceHosts([...all, makeSlice('a', [{ addresses: ['10.0.0.1'] }])])
    expect(names('shop')).toEqual(['a'])
    const slice = await client.get(endpointSlices, { namespace: 'shop', name: 'a-1' })
    await client.update(endpointSlices, {
      ...slice,
      metadata: { ...slice.metadata, labels: makeSlice('b', []).metadata.labels ?? {} },
    })
    await clock.settle()
    expect(names('shop')).toEqual(['b'])
    await client.delete(endpointSlices, { namespace: 'shop', name: 'a-1' })
    await clock.settle()
    expect(names('shop')).toEqual([])
  })

  it('costs a look at what has changed', async () => {
    const all = Array.from({ length: 20 }, (_, index) => makeService(`web-${index}`))
    const { clock, client, hosts, looks } = await serviceHosts(all)
    hosts.lines('shop')
    expect(looks).toHaveLength(20)
    await client.create(services, makeService('db'))
    await clock.settle()
    hosts.lines('shop')
    hosts.lines('bank')
    expect(looks.slice(20)).toEqual(['shop/db'])
  })
})

describe('whoever follows lines', () => {
  it('is told of a change a moment later, once for all that come with it', async () => {
    const { clock, client, tellings } = await serviceHosts([])
    for (let index = 0; index < 10; index += 1) await client.create(services, makeService(`web-${index}`))
    await clock.settle()
    expect(tellings).toEqual([])
    const beganMs = clock.monotonicMs()
    await clock.advance(gatherMs)
    expect(tellings).toEqual([beganMs + gatherMs])
    await clock.advance('1h')
    expect(tellings).toHaveLength(1)
  })

  it('is told of a burst of 1,000 services a few times', async () => {
    const { clock, client, tellings, names } = await serviceHosts([])
    for (let index = 0; index < 1000; index += 1) {
      await client.create(services, makeService(`web-${index}`))
      await clock.advance(3)
    }
    await clock.advance(restMs)
    expect(tellings).toHaveLength(4)
    expect(names('shop')).toHaveLength(1000)
  })

  it('is told at once again after a rest, and of nothing while nothing changes', async () => {
    const { clock, client, tellings } = await serviceHosts([])
    await client.create(services, makeService('web'))
    await clock.advance(gatherMs)
    await client.create(services, makeService('db'))
    await clock.advance(restMs - 1)
    expect(tellings).toHaveLength(1)
    await clock.advance(1)
    expect(tellings).toHaveLength(2)
    await clock.advance(restMs)
    await client.create(services, makeService('api'))
    await clock.advance(gatherMs)
    expect(tellings).toHaveLength(3)
  })

  it('is told of changes that somebody has asked for in between', async () => {
    const { clock, client, tellings, names } = await serviceHosts([])
    await client.create(services, makeService('web'))
    await clock.settle()
    expect(names('shop')).toEqual(['web'])
    await clock.advance(gatherMs)
    expect(tellings).toHaveLength(1)
  })

  it('is not told of pods behind a service that has an address, nor of slices of no service', async () => {
    const { clock, client, tellings, names } = await serviceHosts([])
    await client.create(services, makeService('web'))
    await clock.advance(restMs)
    expect(tellings).toHaveLength(1)
    await client.create(endpointSlices, makeSlice('web', [{ addresses: ['10.0.0.1'] }]))
    const { metadata, ...slice } = makeSlice('web', [{ addresses: ['10.0.0.1'], hostname: 'web-0' }], { name: 'other' })
    await client.create(endpointSlices, { ...slice, metadata: { ...metadata, labels: {} } })
    await clock.advance('1m')
    expect(tellings).toHaveLength(1)
    expect(names('shop')).toEqual(['web'])
  })

  it('is told of nothing any more once it says so', async () => {
    const { clock, client, tellings, unsubscribe } = await serviceHosts([])
    unsubscribe()
    await client.create(services, makeService('web'))
    await clock.advance('1m')
    expect(tellings).toEqual([])
  })

  it('is told of nothing any more when it is closed', async () => {
    const { clock, client, hosts, tellings } = await serviceHosts([])
    await client.create(services, makeService('web'))
    await clock.settle()
    hosts.close()
    await client.create(services, makeService('db'))
    await clock.advance('1m')
    expect(tellings).toEqual([])
  })
})

describe('the limit', () => {
  const many = (count: number, namespace: string) =>
    Array.from({ length: count }, (_, index) => makeService(`web-${String(index).padStart(4, '0')}`, {}, namespace))

  it('leaves pods the services of their own namespace, and is logged once', async () => {
    const { clock, client, names, logged } = await serviceHosts([...many(hostLinesMax - 1, 'shop'), ...many(1, 'bank')])
    expect(names('bank')).toHaveLength(hostLinesMax)
    expect(logged).toEqual([])
    await client.create(services, makeService('db', {}, 'bank'))
    await clock.settle()
    expect(names('bank')).toEqual(['db', 'web-0000'])
    expect(names('shop')).toHaveLength(hostLinesMax - 1)
    expect(logged.map(({ level, fields }) => [level, fields])).toEqual([
      ['warn', { count: hostLinesMax + 1, most: hostLinesMax }],
    ])
    expect(logged[0]?.message).toContain('too many names of services')
  })

  it('holds for the services of one namespace, too', async () => {
    const { names } = await serviceHosts(many(hostLinesMax + 2, 'shop'))
    expect(names('shop')).toHaveLength(hostLinesMax)
    expect(names('shop').at(-1)).toBe(`web-${hostLinesMax - 1}`)
  })
})
