import type { KubernetesObject } from '@coracle/api'
import { type VirtualEnvironment, virtualEnvironment } from '@coracle/environment'
import { describe, expect, it } from 'vitest'
import type { Client, Watch } from './client.ts'
import { ConnectionError, ConnectionLink } from './connection-link.ts'
import { delays, droppedWatches, Gate, lostAnswers, lostRequests, oneWay, slowWatches, withFaults } from './faults.ts'
import { createInformer } from './informer.ts'
import { interceptClient } from './intercepted-client.ts'
import { createFakeClient, type Widget, widget, widgets } from './testing/index.ts'

function setUp() {
  const environment = virtualEnvironment()
  return { environment, server: createFakeClient(environment) }
}

const isCreate = ({ verb }: { readonly verb: string }) => verb === 'create'
const outcome = (call: Promise<unknown>) =>
  call.then(
    () => 'done',
    (error: unknown) => (error instanceof ConnectionError ? error.message : `other: ${error}`),
  )

/** The names of what a watch delivers, as they come, and `end`. */
async function follow(client: Client): Promise<string[]> {
  return collect(await client.watch(widgets))
}

function collect<T extends KubernetesObject>(watch: Watch<T>): string[] {
  const seen: string[] = []
  void (async () => {
    for await (const event of watch) seen.push((event.object as KubernetesObject).metadata.name ?? '')
    seen.push('end')
  })()
  return seen
}

describe('a faulty network', () => {
  it('loses requests before they have an effect', async () => {
    const { server } = setUp()
    const client = withFaults(server, [lostRequests(isCreate)])
    expect(await outcome(client.create(widgets, widget('a')))).toBe('the request is lost')
    expect(server.stored(widgets)).toEqual([])
    expect((await client.list(widgets)).items).toEqual([])
  })

  it('loses answers after the write has taken effect', async () => {
    const { server } = setUp()
    const client = withFaults(server, [lostAnswers(isCreate)])
    expect(await outcome(client.create(widgets, widget('a')))).toBe('the answer is lost')
    expect(server.stored(widgets)).toHaveLength(1)
  })

  it('loses requests while the way there is closed, and goes on telling of changes', async () => {
    const { server, environment } = setUp()
    const [requests, answers] = [new Gate(), new Gate()]
    const client = withFaults(server, [oneWay({ requests, answers })])
    const seen = await follow(client)
    requests.close()
    expect(await outcome(client.create(widgets, widget('a')))).toBe('the request is lost')
    expect(await outcome(client.watch(widgets))).toBe('the request is lost')
    await server.create(widgets, widget('b'))
    await environment.clock.settle()
    expect(seen).toEqual(['b'])
    requests.open()
    expect(await outcome(client.create(widgets, widget('a')))).toBe('done')
  })

  it('loses answers and holds up watches while the way back is closed', async () => {
    const { server, environment } = setUp()
    const [requests, answers] = [new Gate(), new Gate()]
    const client = withFaults(server, [oneWay({ requests, answers })])
    const seen = await follow(client)
    answers.close()
    expect(await outcome(client.create(widgets, widget('a')))).toBe('the answer is lost')
    expect(await outcome(client.watch(widgets))).toBe('the answer is lost')
    await environment.clock.settle()
    expect(server.stored(widgets)).toHaveLength(1)
    expect(seen).toEqual([])
    answers.open()
    await environment.clock.settle()
    expect(seen).toEqual(['a'])
  })

  it('delays requests and answers', async () => {
    const { server, environment } = setUp()
    const created = outcome(withFaults(server, [delays(environment.clock, () => 300)]).create(widgets, widget('a')))
    let isAnswered = false
    void created.then(() => {
      isAnswered = true
    })
    await environment.clock.advance(299)
    expect(server.stored(widgets)).toHaveLength(0)
    await environment.clock.advance(300)
    expect([server.stored(widgets).length, isAnswered]).toEqual([1, false])
    await environment.clock.advance(1)
    expect(isAnswered).toBe(true)
  })

  it('meets its faults in order', async () => {
    const { server, environment } = setUp()
    const client = withFaults(server, [lostRequests(isCreate), delays(environment.clock, () => 300)])
    // Nothing has to wait for a clock that stands still.
    expect(await outcome(client.create(widgets, widget('a')))).toBe('the request is lost')
  })

  it('slows watches: events come one after the other, and none after the watch is closed', async () => {
    const { server, environment } = setUp()
    const watch = await withFaults(server, [slowWatches(environment.clock, () => 1000)]).watch(widgets)
    const seen = collect(watch)
    for (const name of ['a', 'b', 'c']) await server.create(widgets, widget(name))
    await environment.clock.advance('1s')
    expect(seen).toEqual(['a'])
    await environment.clock.advance('1s')
    expect(seen).toEqual(['a', 'b'])
    watch.close()
    await environment.clock.advance('5s')
    expect(seen).toEqual(['a', 'b', 'end'])
  })

  it('lets through at a time what there is at a time, as far as it comes through', async () => {
    const { server, environment } = setUp()
    const [requests, answers] = [new Gate(), new Gate()]
    let waitMs = 0
    const faults = [
      oneWay({ requests, answers }),
      slowWatches(environment.clock, () => waitMs),
      droppedWatches(() => 5),
    ]
    const event = (name: string) => ({ type: 'ADDED' as const, object: widget(name) })
    const batches = [[event('a'), event('b')], [event('c'), event('d'), event('e'), event('f')], [event('g')]]
    const source: Watch<Widget> = {
      close() {},
      batches: async function* () {
        yield* batches
      },
      async *[Symbol.asyncIterator]() {},
    }
    const client = withFaults({ ...server, watch: async () => source as never }, faults)
    const seen: string[] = []
    const watch = await client.watch(widgets)
    void (async () => {
      for await (const batch of watch.batches?.() ?? []) {
        seen.push(batch.map(({ object }) => (object as Widget).metadata.name).join(' '))
        waitMs = seen.length === 1 ? 1000 : 0
      }
      seen.push('end')
    })()
    await environment.clock.settle()
    expect(seen).toEqual(['a b'])
    await environment.clock.advance('3s')
    expect(seen).toEqual(['a b', 'c', 'd e', 'end'])
  })

  it('drops watches after some events, and an informer misses none for it', async () => {
    const { server, environment } = setUp()
    const client = withFaults(server, [droppedWatches(() => 2)])
    const seen = await follow(client)
    const informer = createInformer(client, widgets, {}, environment)
    informer.start()
    await environment.clock.settle()
    for (const name of ['a', 'b', 'c', 'd', 'e']) await server.create(widgets, widget(name))
    await environment.clock.advance('1m')
    expect(seen).toEqual(['a', 'b', 'end'])
    expect(informer.list()).toHaveLength(5)
    await informer.stop()
  })
})

describe('a link that is cut', () => {
  const linked = ({ server, environment }: { server: Client; environment: VirtualEnvironment }) => {
    const link = new ConnectionLink()
    return { link, client: interceptClient(() => withFaults(server, [delays(environment.clock, () => 100)]), link) }
  }

  it('refuses calls until it is restored', async () => {
    const { link, client } = linked(setUp())
    link.cut('the node is unplugged')
    const refused = await client.get(widgets, { namespace: 'default', name: 'a' }).catch((error: unknown) => error)
    expect(refused).toMatchObject({ message: 'the node is unplugged', refused: true })
    link.restore()
    expect(link.isCut).toBe(false)
  })

  it('loses the answers of what is under way, which takes effect', async () => {
    const { server, environment } = setUp()
    const { link, client } = linked({ server, environment })
    const created = outcome(client.create(widgets, widget('a')))
    await environment.clock.advance(50)
    link.cut()
    expect(await created).toBe('the connection is cut: the answer is lost')
    await environment.clock.advance(100)
    expect(server.stored(widgets)).toHaveLength(1)
  })

  it('ends watches, those that are being opened too', async () => {
    const { server, environment } = setUp()
    const { link, client } = linked({ server, environment })
    const opening = client.watch(widgets)
    await environment.clock.advance(200)
    const seen = collect(await opening)
    const late = outcome(client.watch(widgets))
    await server.create(widgets, widget('a'))
    await environment.clock.settle()
    link.cut()
    link.restore()
    await server.create(widgets, widget('b'))
    await environment.clock.advance(200)
    expect(seen).toEqual(['a', 'end'])
    expect(await late).toBe('the connection is cut: the answer is lost')
  })

  it('ends watches that give all there is at a time', async () => {
    const { server } = setUp()
    const link = new ConnectionLink()
    let isClosed = false
    const never = { next: () => new Promise<never>(() => {}) }
    const batching = async () => ({
      batches: () => ({ [Symbol.asyncIterator]: () => never }),
      [Symbol.asyncIterator]: () => never,
      close: () => {
        isClosed = true
      },
    })
    const watch = await link.watch({ client: server, verb: 'watch' } as never, batching)
    expect(watch.batches).toBeDefined()
    link.cut()
    expect(isClosed).toBe(true)
  })

  it('is cut with the trunk it branches from, and others are not cut with it', async () => {
    const { server, environment } = setUp()
    const trunk = new ConnectionLink()
    const [one, two] = [trunk.branch(), trunk.branch()]
    const list = (link: ConnectionLink) => outcome(interceptClient(() => server, link).list(widgets))
    const seen = await follow(interceptClient(() => server, one))
    two.cut('two is cut')
    expect(await Promise.all([list(one), list(two)])).toEqual(['done', 'two is cut'])
    trunk.cut('the server is down')
    await environment.clock.settle()
    expect(seen).toEqual(['end'])
    expect(await Promise.all([list(one), list(two)])).toEqual(['the server is down', 'two is cut'])
    trunk.restore()
    one.end()
    expect(await Promise.all([list(one), list(two)])).toEqual(['the connection is cut', 'two is cut'])
  })

  it('can drop watches alone', async () => {
    const { server, environment } = setUp()
    const { link, client } = linked({ server, environment })
    const opening = client.watch(widgets)
    await environment.clock.advance(200)
    const seen = collect(await opening)
    link.dropWatches()
    await environment.clock.settle()
    expect(seen).toEqual(['end'])
    const created = outcome(client.create(widgets, widget('a')))
    await environment.clock.advance(200)
    expect(await created).toBe('done')
  })
})

describe('an interceptor', () => {
  it('is told what each call is about', async () => {
    const { server } = setUp()
    const calls: string[] = []
    const client = interceptClient(() => server, {
      call({ verb, resource, namespace, name, subresource }, proceed) {
        calls.push([verb, resource.plural, namespace, name, subresource].filter((part) => part).join(' '))
        return proceed()
      },
    })
    const key = { namespace: 'default', name: 'a' }
    await client.create(widgets, widget('a'))
    await client.get(widgets, key)
    await client.list(widgets, { namespace: 'default' })
    ;(await client.watch(widgets)).close()
    await client.update(widgets, widget('a'))
    await client.patch(widgets, key, { type: 'merge', body: {} }, { subresource: 'status' })
    await client.deleteCollection(widgets, { namespace: 'other' })
    await client.delete(widgets, key)
    await client.apply(widgets, widget('b') as never, { fieldManager: 'm' }).catch(() => {})
    await client.createSubresource(widgets, key, 'binding', {}).catch(() => {})
    await client.stream(widgets, key, 'log', {}).catch(() => {})
    expect(calls).toEqual([
      'create widgets default a',
      'get widgets default a',
      'list widgets default',
      'watch widgets',
      'update widgets default a',
      'patch widgets default a status',
      'deletecollection widgets other',
      'delete widgets default a',
      'patch widgets default b',
      'create widgets default a binding',
      'get widgets default a log',
    ])
  })
})
