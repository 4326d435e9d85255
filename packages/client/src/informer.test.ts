import { ApiError } from '@coracle/api'
import {
  type Clock,
  createLogger,
  type LogLine,
  sleep,
  type VirtualEnvironment,
  virtualEnvironment,
} from '@coracle/environment'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import type { Client, Watch } from './client.ts'
import { createInformer, type Informer, type InformerOptions } from './informer.ts'
import { listPageMax } from './reflector.ts'
import { routeClient } from './routed-client.ts'
import { createFakeClient, type FakeClient } from './testing/fake-client.ts'
import { type Widget, widget, widgets } from './testing/resources.ts'

let environment: VirtualEnvironment
let client: FakeClient
let lines: LogLine[]

beforeEach(() => {
  lines = []
  environment = virtualEnvironment({ logger: createLogger((line) => lines.push(line)) })
  client = createFakeClient(environment)
})

async function started(options: InformerOptions<Widget> = {}): Promise<Informer<Widget>> {
  const informer = createInformer(client, widgets, options, environment)
  informer.start()
  await environment.clock.settle()
  return informer
}

/** Records what handlers are told, as `add web`, `update web`, `delete web`. */
function record(informer: Informer<Widget>): string[] {
  const told: string[] = []
  informer.addHandler({
    add: (object) => told.push(`add ${object.metadata.name}`),
    update: (old, object) => told.push(`update ${object.metadata.name} ${old.spec?.size}->${object.spec?.size}`),
    delete: (object) => told.push(`delete ${object.metadata.name}`),
  })
  return told
}

/** A watch that tells of an error, and ends with it. */
const endingWith = ({ status }: ApiError): Watch<Widget> => ({
  close() {},
  async *[Symbol.asyncIterator]() {
    yield { type: 'ERROR', object: status }
  },
})

const names = (objects: readonly Widget[]) => objects.map((object) => object.metadata.name)

describe('informer', () => {
  it('caches what there is and follows every change', async () => {
    await client.create(widgets, widget('old', { spec: { size: 1 } }))
    const informer = await started()
    const told = record(informer)
    const web = await client.create(widgets, widget('web', { spec: { size: 1 } }))
    await client.update(widgets, { ...web, spec: { size: 2 } })
    await client.delete(widgets, { namespace: 'default', name: 'old' })
    await environment.clock.settle()
    expect(told).toEqual(['add old', 'add web', 'update web 1->2', 'delete old'])
    expect(names(informer.list())).toEqual(['web'])
    expect(informer.get('default/web')?.spec).toEqual({ size: 2 })
  })

  it('says when a server is lost, when it will try again, and when it is found again', async () => {
    const restore = client.intercept(({ verb }) => {
      if (verb === 'watch') throw new Error('connect ECONNREFUSED')
    })
    const informer = createInformer(client, widgets, {}, environment)
    informer.start()
    await environment.clock.advance('5s')
    expect(lines.length).toBeGreaterThan(1)
    for (const { level, message, fields } of lines) {
      expect([level, message]).toEqual(['warn', 'watch failed, resuming'])
      expect(fields).toMatchObject({ resource: 'widgets', retryInMs: expect.any(Number) })
    }
    lines = []
    restore()
    await environment.clock.advance('30s')
    expect(lines).toMatchObject([{ level: 'info', message: 'watching again', fields: { resource: 'widgets' } }])
    await informer.stop()
  })

  it('asks for its watches to end now and then, but for those that stay in the process', async () => {
    const timeouts: unknown[] = []
    const asked = async (parts: Partial<Client>): Promise<readonly unknown[]> => {
      timeouts.length = 0
      const watch: Client['watch'] = (resource, options) => {
        timeouts.push(options?.timeoutSeconds)
        return client.watch(resource, options)
      }
      const informer = createInformer({ ...routeClient(() => client), ...parts, watch }, widgets, {}, environment)
      informer.start()
      await environment.clock.advance('20m')
      await Promise.all([informer.stop(), environment.clock.settle()])
      return [...timeouts]
    }
    const remote = await asked({})
    expect(remote.length).toBeGreaterThan(1)
    for (const seconds of remote) expect(seconds).toSatisfy((each: number) => each >= 300 && each <= 600)
    expect(await asked({ staysInProcess: () => true })).toEqual([undefined])
  })

  it('keeps the process while it runs, and no longer', async () => {
    let held = 0
    const clock: Clock = {
      now: () => environment.clock.now(),
      monotonicMs: () => environment.clock.monotonicMs(),
      defer: (callback) => environment.clock.defer(callback),
      hold: (work) => environment.clock.hold(work),
      catchUp: () => undefined,
      setTimer(delayMs, callback, options) {
        const timer = environment.clock.setTimer(delayMs, callback, options)
        if (options?.keepsProcess !== true) return timer
        held++
        return {
          cancel() {
            held--
            timer.cancel()
          },
        }
      },
    }
    const informer = createInformer(client, widgets, {}, { ...environment, clock })
    expect(held).toBe(0)
    informer.start()
    await environment.clock.settle()
    expect(held).toBe(1)
    await Promise.all([informer.stop(), environment.clock.settle()])
    expect(held).toBe(0)
  })

  it('gives the frozen objects themselves', async () => {
    const web = await client.create(widgets, widget('web'))
    const informer = await started()
    expect(informer.get('default/web')).toBe(web)
    expect(Object.isFrozen(informer.get('default/web')?.metadata)).toBe(true)
  })

  it('lists a namespace and looks up indexes, which follow changes', async () => {
    const byNode = (object: Widget) => (object.spec?.node === undefined ? [] : [object.spec.node])
    const informer = await started({ indexes: { node: byNode } })
    const a = await client.create(widgets, widget('a', { spec: { node: 'n1' } }))
    await client.create(widgets, widget('b', { spec: { node: 'n1' } }))
    await client.create(widgets, widget('c', { metadata: { namespace: 'other', name: 'c' } }))
    await environment.clock.settle()
    expect(names(informer.byIndex('node', 'n1'))).toEqual(['a', 'b'])
    expect(names(informer.list('other'))).toEqual(['c'])
    await client.update(widgets, { ...a, spec: { node: 'n2' } })
    await client.delete(widgets, { namespace: 'default', name: 'b' })
    await environment.clock.settle()
    expect(names(informer.byIndex('node', 'n1'))).toEqual([])
    expect(names(informer.byIndex('node', 'n2'))).toEqual(['a'])
    expect(() => informer.byIndex('owner', 'x')).toThrow('there is no index "owner"; there is node')
  })

  it('forgets an index when all who added it have given it up', async () => {
    const informer = await started()
    const byNode = (object: Widget) => [object.spec?.node ?? '']
    const [giveUp, giveUpToo] = [informer.addIndex('node', byNode), informer.addIndex('node', byNode)]
    giveUp()
    giveUp()
    expect(informer.byIndex('node', 'n1')).toEqual([])
    giveUpToo()
    expect(() => informer.byIndex('node', 'n1')).toThrow('there is no index "node"')
    informer.addIndex('node', () => [])
  })

  it('indexes what it has already when an index is added later', async () => {
    await client.create(widgets, widget('a', { spec: { node: 'n1' } }))
    const informer = await started()
    informer.addIndex('node', (object) => [object.spec?.node ?? ''])
    expect(names(informer.byIndex('node', 'n1'))).toEqual(['a'])
    expect(() => informer.addIndex('node', () => [])).toThrow('there is another index "node" already')
  })

  it('keeps aggregates up to date, whenever they are added, before its handlers are told', async () => {
    const sum = () => ({
      size: 0,
      add(object: Widget) {
        this.size += object.spec?.size ?? 0
      },
      remove(object: Widget) {
        this.size -= object.spec?.size ?? 0
      },
    })
    const [early, late] = [sum(), sum()]
    await client.create(widgets, widget('old', { spec: { size: 1 } }))
    const informer = await started({ aggregates: [early] })
    informer.addAggregate(late)
    informer.addAggregate(late)
    const told: number[] = []
    informer.addHandler({ update: () => told.push(early.size) })
    const web = await client.create(widgets, widget('web', { spec: { size: 10 } }))
    await client.update(widgets, { ...web, spec: { size: 20 } })
    await environment.clock.settle()
    expect([early.size, late.size]).toEqual([21, 21])
    expect(told).toEqual([21])
    await client.delete(widgets, { namespace: 'default', name: 'web' })
    await environment.clock.settle()
    expect([early.size, late.size]).toEqual([1, 1])
  })

  it('holds only what its selectors select, and lets go of what leaves them', async () => {
    const informer = await started({ namespace: 'default', labelSelector: 'app=web', fieldSelector: 'spec.node=n1' })
    const labels = { app: 'web' }
    const selected = await client.create(
      widgets,
      widget('in', { metadata: { name: 'in', labels }, spec: { node: 'n1' } }),
    )
    await client.create(widgets, widget('out', { metadata: { name: 'out', labels }, spec: { node: 'n2' } }))
    await environment.clock.settle()
    expect(names(informer.list())).toEqual(['in'])
    await client.update(widgets, { ...selected, metadata: { ...selected.metadata, labels: {} } })
    await environment.clock.settle()
    expect(informer.list()).toEqual([])
  })

  it('reads long lists in pages', async () => {
    for (let index = 0; index < listPageMax + 1; index++) await client.create(widgets, widget(`w${index}`))
    const informer = await started()
    expect(informer.list()).toHaveLength(listPageMax + 1)
    expect(client.calls.filter((call) => call.verb === 'list')).toHaveLength(2)
  })

  it.each([100, 10_000])('does no more for a change when it holds %i objects', async (count) => {
    for (let index = 0; index < count; index++) await client.create(widgets, widget(`w${index}`))
    let indexed = 0
    const countingNode = (object: Widget) => {
      indexed++
      return [object.spec?.node ?? '']
    }
    const informer = await started({ indexes: { node: countingNode } })
    const told = record(informer)
    told.length = 0
    indexed = 0
    await client.patch(widgets, { namespace: 'default', name: 'w7' }, { type: 'merge', body: { spec: { node: 'n1' } } })
    await environment.clock.settle()
    expect([indexed, told.length]).toEqual([2, 1])
  })

  it('tells what was there at first from what has come', async () => {
    await client.create(widgets, widget('old'))
    const informer = createInformer(client, widgets, {}, environment)
    const told: [string | undefined, boolean][] = []
    const add = ({ metadata }: Widget, isInitial: boolean) => void told.push([metadata.name, isInitial])
    informer.addHandler({ add })
    informer.start()
    await environment.clock.settle()
    client.dropWatches()
    await client.create(widgets, widget('new'))
    client.compact()
    await environment.clock.advance('1m')
    informer.addHandler({ add })
    expect(told).toEqual([
      ['old', true],
      ['new', false],
      ['old', true],
      ['new', true],
    ])
  })

  it('tells a handler that throws apart from the others', async () => {
    const informer = await started()
    informer.addHandler({
      add: () => {
        throw new Error('broken')
      },
    })
    const told = record(informer)
    await client.create(widgets, widget('web'))
    await environment.clock.settle()
    expect(told).toEqual(['add web'])
    expect(lines).toMatchObject([
      { level: 'error', message: 'informer handler failed', fields: { key: 'default/web' } },
    ])
  })

  it('looks once where a deleted object was filed, and tells its final state', async () => {
    await client.create(widgets, widget('web'))
    let asked = 0
    const bySize = ({ spec }: Widget) => {
      asked += 1
      return [String(spec?.size)]
    }
    const informer = await started({ indexes: { size: bySize } })
    const final: (string | undefined)[] = []
    informer.addHandler({ delete: ({ metadata }) => final.push(metadata.resourceVersion) })
    asked = 0
    await client.delete(widgets, { namespace: 'default', name: 'web' })
    await environment.clock.settle()
    expect(asked).toBe(1)
    expect(final).toEqual([informer.resourceVersion])
  })

  it('tells of a delete and an add when an object was replaced by another of its name', async () => {
    const informer = await started()
    await client.create(widgets, widget('web', { spec: { size: 1 } }))
    await environment.clock.settle()
    const told = record(informer)
    client.dropWatches()
    await client.delete(widgets, { namespace: 'default', name: 'web' })
    await client.create(widgets, widget('web', { spec: { size: 2 } }))
    client.compact()
    await environment.clock.advance('1m')
    expect(told).toEqual(['add web', 'delete web', 'add web'])
    expect(informer.get('default/web')?.spec).toEqual({ size: 2 })
  })
})

describe('informer whose watch breaks', () => {
  it('resumes where the watch broke off, without listing', async () => {
    const informer = await started()
    await client.create(widgets, widget('a'))
    await environment.clock.settle()
    client.dropWatches()
    await client.create(widgets, widget('b'))
    await environment.clock.advance('1m')
    expect(names(informer.list())).toEqual(['a', 'b'])
    expect(client.calls.filter((call) => call.verb === 'list')).toHaveLength(1)
  })

  it('lists again when its version has expired, and finds what was deleted meanwhile', async () => {
    await client.create(widgets, widget('kept'))
    await client.create(widgets, widget('gone'))
    const informer = await started()
    const told = record(informer)
    client.dropWatches()
    await client.delete(widgets, { namespace: 'default', name: 'gone' })
    client.compact()
    await environment.clock.advance('1m')
    expect(told).toEqual(['add gone', 'add kept', 'delete gone'])
    expect(names(informer.list())).toEqual(['kept'])
    expect(client.calls.filter((call) => call.verb === 'list')).toHaveLength(2)
  })

  describe.each<[string, number, string]>([
    ['410 Expired', 410, 'Expired'],
    ['410 for another reason', 410, 'Unknown'],
    ['Expired under another code', 500, 'Expired'],
    ['Gone under another code, the former name of Expired', 500, 'Gone'],
  ])('when its watch is told %s', (_what, code, reason) => {
    const told = new ApiError(code, reason, 'too old resource version: 1 (5)')

    it.each<[string, () => Promise<Watch<Widget>>]>([
      ['in answer', () => Promise.reject(told)],
      ['by an event', () => Promise.resolve(endingWith(told))],
    ])('%s, it lists again and watches from there', async (_how, refuse) => {
      const watches = vi.spyOn(client, 'watch').mockImplementationOnce(refuse as never)
      await client.create(widgets, widget('first'))
      const informer = await started()
      await client.create({ ...widgets, plural: 'gadgets', kind: 'Gadget' }, widget('other'))
      await environment.clock.advance('1m')
      await client.create(widgets, widget('second'))
      await environment.clock.settle()
      expect(watches.mock.calls.map(([, options]) => options?.resourceVersion)).toEqual(['1', '2'])
      expect(names(informer.list())).toEqual(['first', 'second'])
      expect(client.calls.filter((call) => call.verb === 'list')).toHaveLength(2)
      expect(lines.map(({ level, message }) => `${level}: ${message}`)).toEqual([
        'info: watch has expired, listing again',
        'info: watching again',
      ])
      await informer.stop()
    })
  })

  it('lists again where the server is at an earlier version than it was, as one restored from a backup', async () => {
    const kept = await client.create(widgets, widget('kept', { spec: { size: 1 } }))
    const backup = createFakeClient(environment)
    let present: Client = client
    const informer = createInformer(
      routeClient(() => present),
      widgets,
      {},
      environment,
    )
    informer.start()
    await client.update(widgets, { ...kept, spec: { size: 2 } })
    await client.create(widgets, widget('lost'))
    await environment.clock.settle()
    const told = record(informer)
    const waits: string[] = []
    informer.whenReached('9', () => waits.push('version'))
    informer.whenSeenDeletion('default/kept', kept.metadata.uid ?? '', () => waits.push('deletion'))
    vi.spyOn(environment.random, 'uuid').mockReturnValueOnce(kept.metadata.uid ?? '')
    await backup.create(widgets, widget('kept', { spec: { size: 1 } }))
    present = backup
    client.dropWatches()
    await environment.clock.advance('5s')
    backup.sendBookmarks()
    await environment.clock.advance('1m')
    expect(told).toEqual(['add kept', 'add lost', 'update kept 2->1', 'delete lost'])
    expect(waits).toEqual(['version', 'deletion'])
    expect(informer.resourceVersion).toBe('1')
  })

  it('lists all at once where its pages take longer than the server remembers', async () => {
    for (let index = 0; index < 2 * listPageMax; index++) await client.create(widgets, widget(`w${index}`))
    const listed: unknown[] = []
    const list: Client['list'] = async (resource, options) => {
      listed.push(options?.limit)
      if (options?.continue !== undefined) throw new ApiError(410, 'Expired', 'the token is too old')
      return client.list(resource, options)
    }
    const informer = createInformer({ ...routeClient(() => client), list }, widgets, {}, environment)
    informer.start()
    await environment.clock.settle()
    expect(informer.list()).toHaveLength(2 * listPageMax)
    expect(listed).toEqual([listPageMax, listPageMax, undefined])
  })

  it('resumes from a bookmark rather than from the last event', async () => {
    const informer = await started()
    await client.create(widgets, widget('a'))
    const other = { ...widgets, plural: 'gadgets', kind: 'Gadget' }
    await client.create(other, widget('b'))
    client.sendBookmarks()
    await environment.clock.settle()
    expect(informer.resourceVersion).toBe('2')
    client.compact()
    client.dropWatches()
    await environment.clock.advance('1m')
    expect(client.calls.filter((call) => call.verb === 'list')).toHaveLength(1)
  })

  it('waits longer and longer between failures, at most a minute', async () => {
    client.intercept((call) => {
      if (call.verb === 'list') throw new ApiError(503, 'ServiceUnavailable', 'down')
    })
    const informer = await started()
    await environment.clock.advance('10s')
    const early = client.calls.length
    expect(early).toBeGreaterThanOrEqual(3)
    expect(early).toBeLessThanOrEqual(5)
    await environment.clock.advance('10m')
    expect(client.calls.length - early).toBeLessThanOrEqual(22)
    expect(client.calls.length - early).toBeGreaterThanOrEqual(10)
    expect(informer.hasSynced).toBe(false)
  })

  it('does not spin when watches end at once', async () => {
    await started()
    client.intercept((call) => {
      if (call.verb === 'watch') queueMicrotask(() => queueMicrotask(() => client.dropWatches()))
    })
    client.dropWatches()
    await environment.clock.advance('10s')
    expect(client.calls.filter((call) => call.verb === 'watch').length).toBeLessThan(8)
  })

  it('is back with all others of its client, however long each would have waited', async () => {
    const kinds = ['gadgets', 'gears', 'gizmos', 'widgets'].map((plural) => ({ ...widgets, plural }))
    const informers = kinds.map((kind) => createInformer(client, kind, {}, environment))
    const heal = client.intercept(() => {
      throw new ApiError(503, 'ServiceUnavailable', 'down')
    })
    for (const informer of informers) informer.start()
    await environment.clock.advance('5m')
    heal()
    const states = new Set<string>()
    for (let waitedMs = 0; waitedMs < 60_000; waitedMs += 100) {
      await environment.clock.advance(100)
      states.add(informers.map(({ hasSynced }) => hasSynced).join())
    }
    expect([...states]).toEqual(['false,false,false,false', 'true,true,true,true'])
  })

  it('does not spin beside another that finds the server back again and again', async () => {
    await started()
    createInformer(client, { ...widgets, plural: 'gadgets' }, {}, environment).start()
    // Each watch takes its time to open, and is broken at once: by then the other waits again.
    const broken = new ApiError(500, 'InternalError', 'broken')
    const opened = vi.spyOn(client, 'watch').mockImplementation((async () => {
      await sleep(environment.clock, 5)
      return endingWith(broken)
    }) as never)
    client.dropWatches()
    await environment.clock.advance('10s')
    expect(opened.mock.calls.length).toBeGreaterThan(5)
    expect(opened.mock.calls.length).toBeLessThan(24)
  })

  it('gives up a watch that says nothing long after it should have ended', async () => {
    await started()
    client.holdWatches()
    await environment.clock.advance('11m')
    expect(client.calls.filter((call) => call.verb === 'watch').length).toBeGreaterThanOrEqual(2)
  })
})

describe('waiting for an informer', () => {
  it('tells when the first list is in', async () => {
    const informer = createInformer(client, widgets, {}, environment)
    const synced = informer.waitForSync().then(() => 'synced')
    expect(informer.hasSynced).toBe(false)
    informer.start()
    await environment.clock.settle()
    expect(await synced).toBe('synced')
    expect(informer.hasSynced).toBe(true)
  })

  it('ends with the signal', async () => {
    const informer = createInformer(client, widgets, {}, environment)
    const stop = new AbortController()
    const synced = informer.waitForSync(stop.signal)
    stop.abort(new Error('enough'))
    await expect(synced).rejects.toThrow('enough')
  })

  it('tells when the cache has reached a write', async () => {
    const informer = await started()
    client.holdWatches()
    const a = await client.create(widgets, widget('a'))
    const b = await client.create(widgets, widget('b'))
    await environment.clock.settle()
    const reached: string[] = []
    informer.whenReached(b.metadata.resourceVersion ?? '', () => reached.push('b'))
    informer.whenReached(a.metadata.resourceVersion ?? '', () => reached.push('a'))
    expect(informer.hasReached(a.metadata.resourceVersion ?? '')).toBe(false)
    expect(reached).toEqual([])
    client.releaseWatches()
    await environment.clock.settle()
    expect(informer.hasReached(b.metadata.resourceVersion ?? '')).toBe(true)
    expect(reached).toEqual(['a', 'b'])
    informer.whenReached(a.metadata.resourceVersion ?? '', () => reached.push('at once'))
    expect(reached).toEqual(['a', 'b', 'at once'])
  })

  it('tells when the cache shows an object as deleted, gone or going', async () => {
    const gone = await client.create(widgets, widget('gone'))
    const going = await client.create(
      widgets,
      widget('going', { metadata: { name: 'going', finalizers: ['example.com/x'] } }),
    )
    const informer = await started()
    client.holdWatches()
    await client.delete(widgets, { namespace: 'default', name: 'gone' })
    await client.delete(widgets, { namespace: 'default', name: 'going' })
    const seen: string[] = []
    for (const object of [gone, going]) {
      const { name = '', uid = '' } = object.metadata
      expect(informer.hasSeenDeletion(`default/${name}`, uid)).toBe(false)
      informer.whenSeenDeletion(`default/${name}`, uid, () => seen.push(name))
    }
    client.releaseWatches()
    await environment.clock.settle()
    expect(seen).toEqual(['gone', 'going'])
    expect(informer.hasSeenDeletion('default/going', going.metadata.uid ?? '')).toBe(true)
  })

  it('takes another object of the same name for a sign that the former is gone', async () => {
    const first = await client.create(widgets, widget('web'))
    await client.delete(widgets, { namespace: 'default', name: 'web' })
    await client.create(widgets, widget('web'))
    const informer = await started()
    expect(informer.hasSeenDeletion('default/web', first.metadata.uid ?? '')).toBe(true)
  })

  it('stops: nothing changes any more', async () => {
    const informer = await started()
    await informer.stop()
    await client.create(widgets, widget('late'))
    await environment.clock.advance('1h')
    expect(informer.list()).toEqual([])
  })
})
