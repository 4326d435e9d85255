import { EventEmitter } from 'node:events'
import { createLogger, virtualEnvironment } from '@coracle/environment'
import type { Encodable } from '@coracle/environment/grpc'
import { describe, expect, it } from 'vitest'
import { StoreFullError } from '../errors.ts'
import { etcdProgressDelayMs, etcdRetryMs } from '../limits.ts'
import type { StoreEvent } from '../store.ts'
import type { watchRequest } from './api.ts'
import type { Connection } from './connection.ts'
import { KeySpace } from './key-space.ts'
import { EtcdWatch, markerName, markerValue } from './watch.ts'

const keys = new KeySpace('/store/')
const marker = `a/${markerName}`

/** A stream to etcd whose answers the test gives. */
class FakeStream extends EventEmitter {
  readonly written: Encodable<typeof watchRequest>[] = []
  isCancelled = false
  write(message: Encodable<typeof watchRequest>): void {
    this.written.push(message)
  }
  /** As gRPC does, it tells whoever listens. */
  cancel(): void {
    this.isCancelled = true
    this.emit('error', new Error('Cancelled on client'))
  }
  /** What the watch has asked for. */
  get progressRequests(): number {
    return this.written.filter(({ progressRequest }) => progressRequest !== undefined).length
  }
  get request(): NonNullable<Encodable<typeof watchRequest>['createRequest']> {
    return this.written[0]?.createRequest ?? {}
  }
  send(response: object): void {
    const nothing = { canceled: false, compactRevision: 0, cancelReason: '', events: [], fragment: false }
    this.emit('data', { ...nothing, ...response })
  }
  /** Sends changes, each `REVISION KEY VALUE`; `was` tells at which revision what was before was written. */
  change(...changes: readonly (readonly [number, string, string, number?])[]): void {
    this.send({ events: changes.map(([revision, key, value, was]) => eventOf(revision, key, value, was)) })
  }
}

function eventOf(modRevision: number, key: string, value: string, was = 0) {
  const kv = {
    key: keys.bytesOf(key),
    value: Buffer.from(value),
    modRevision,
    createRevision: 1,
    version: was > 0 ? 2 : 1,
  }
  const prevKv = was > 0 ? { ...kv, value: Buffer.from(`${value} before`), modRevision: was } : undefined
  return { type: 0, kv, prevKv }
}

/** `REVISION TYPE KEY=VALUE was REVISION VALUE`. */
const describeEvent = ({ revision, type, key, value, previousRevision, previousValue }: StoreEvent) =>
  `${revision} ${type} ${key}=${Buffer.from(value)} was ${previousRevision} ${previousValue && Buffer.from(previousValue)}`

async function startWatch(after = 5) {
  const warnings: string[] = []
  const environment = virtualEnvironment({ logger: createLogger(({ message }) => warnings.push(message)) })
  const { clock } = environment
  const streams: FakeStream[] = []
  /** What opening a stream, and writing the marker, fail with. */
  const failures: { stream?: Error; mark?: Error } = {}
  const etcd = { tellsProgress: true }
  const connection = {
    async stream() {
      if (failures.stream !== undefined) throw failures.stream
      const stream = new FakeStream()
      streams.push(stream)
      return stream
    },
  } as unknown as Connection
  const told: string[] = []
  let marks = 0
  let marked = 0
  let closed = 0
  const watch = new EtcdWatch({
    connection,
    environment,
    keys,
    prefix: 'a/',
    options: {
      after,
      onEvents: (events) => told.push(...events.map(describeEvent)),
      onProgress: (revision) => told.push(`up to ${revision}`),
      onGap: ({ message }) => told.push(message),
      onEnd: ({ message }) => told.push(message),
    },
    mark: async () => {
      marks += 1
      if (failures.mark !== undefined) throw failures.mark
      return { revision: marked }
    },
    tellsProgress: async () => etcd.tellsProgress,
    onClosed: () => {
      closed += 1
    },
  })
  await clock.settle()
  const latest = () => streams.at(-1) as FakeStream
  return {
    watch,
    streams,
    latest,
    told,
    warnings,
    failures,
    etcd,
    clock,
    marks: () => marks,
    closed: () => closed,
    markAt: (revision: number) => {
      marked = revision
    },
  }
}

describe('a watch of etcd', () => {
  it('asks for what comes after its revision, with what was before', async () => {
    const { latest } = await startWatch(5)
    const { key, rangeEnd, ...rest } = latest().request
    expect([key, rangeEnd].map((bytes) => bytes && Buffer.from(bytes).toString())).toEqual(['/store/a/', '/store/a0'])
    expect(rest).toEqual({ startRevision: 5, prevKv: true, fragment: true })
    expect((await startWatch(0)).latest().request.startRevision).toBe(1)
  })

  it('delivers each change once, with what was before', async () => {
    const { latest, told } = await startWatch()
    latest().change([5, 'a/old', 'x'], [6, 'a/1', 'new'], [7, 'a/2', 'changed', 3])
    latest().change([7, 'a/2', 'changed', 3])
    latest().send({ events: [{ ...eventOf(8, 'a/1', '', 6), type: 1 }] })
    expect(told).toEqual([
      '6 put a/1=new was 0 undefined',
      '7 put a/2=changed was 3 changed before',
      '8 delete a/1= before was 6  before',
    ])
  })

  it('delivers a response in parts as a whole', async () => {
    const { latest, told } = await startWatch()
    latest().send({ events: [eventOf(6, 'a/1', 'x')], fragment: true })
    expect(told).toEqual([])
    latest().change([6, 'a/2', 'y'])
    expect(told).toHaveLength(2)
    latest().send({})
    expect(told).toHaveLength(2)
  })

  it('opens another stream where one was cut off, from the last revision delivered', async () => {
    const { latest, streams, told, warnings, clock, failures } = await startWatch()
    latest().change([9, 'a/1', 'x'])
    latest().send({ events: [eventOf(10, 'a/1', 'lost')], fragment: true })
    failures.stream = new Error('gone')
    latest().emit('error', new Error('reset'))
    await clock.advance(etcdRetryMs)
    delete failures.stream
    await clock.advance(etcdRetryMs - 1)
    expect(streams).toHaveLength(1)
    await clock.advance(1)
    expect([streams.length, latest().request.startRevision]).toEqual([2, 9])
    latest().change([9, 'a/1', 'x'], [10, 'a/2', 'y'])
    expect(told.map((line) => line.slice(0, 12))).toEqual(['9 put a/1=x ', '10 put a/2=y'])
    expect(warnings).toEqual(['a watch was cut off, trying again', 'a watch was cut off, trying again'])
    streams[0]?.change([11, 'a/3', 'of the old stream'])
    expect(told).toHaveLength(2)
  })

  it('opens another stream where etcd has ended one', async () => {
    const { latest, streams, clock, warnings } = await startWatch()
    latest().emit('end')
    await clock.advance(etcdRetryMs)
    expect([streams.length, warnings]).toEqual([2, []])
    latest().send({ canceled: true, cancelReason: '' })
    await clock.advance(etcdRetryMs)
    latest().send({ canceled: true, cancelReason: 'no leader' })
    await clock.advance(etcdRetryMs)
    expect([streams.length, warnings.length]).toEqual([4, 2])
  })

  it('lets go of a stream whose watch etcd has ended, and bears what becomes of it', async () => {
    const { streams, latest, clock, warnings } = await startWatch()
    latest().send({ canceled: true, cancelReason: 'permission denied' })
    await clock.advance(etcdRetryMs)
    expect(streams.map(({ isCancelled }) => isCancelled)).toEqual([true, false])
    // An emitter throws where nobody listens.
    for (const stream of streams) for (const late of ['dropped', 'dropped again']) stream.emit('error', new Error(late))
    expect(warnings).toEqual(['a watch was cut off, trying again'])
  })

  it('ends at a gap, where history was compacted', async () => {
    const { latest, told, closed, clock, streams } = await startWatch()
    latest().send({ canceled: true, compactRevision: 9 })
    latest().change([10, 'a/1', 'x'])
    await clock.advance(10 * etcdRetryMs)
    expect(told).toEqual(['revision 5 has been compacted; the oldest kept is 9'])
    expect([closed(), streams.length, latest().isCancelled]).toEqual([1, 1, true])
  })

  it.each([
    ['a changed value', { ...eventOf(6, 'a/1', 'x', 3), prevKv: undefined }],
    ['a deleted value', { ...eventOf(6, 'a/1', 'x', 3), type: 1, prevKv: undefined }],
    ['a value', { ...eventOf(6, 'a/1', 'x'), kv: { ...eventOf(6, 'a/1', 'x').kv, version: 2 } }],
  ])('ends at a gap, where what was before %s has been compacted', async (_, event) => {
    const { latest, told } = await startWatch()
    latest().send({ events: [event] })
    expect(told).toEqual(['revision 5 has been compacted; the oldest kept is 6'])
  })

  it('ends once, with what it is told, and gets nothing more', async () => {
    const { watch, latest, told, closed, clock, streams } = await startWatch()
    watch.end(new Error('the store is closed'))
    watch.end(new Error('again'))
    watch.close()
    latest().change([6, 'a/1', 'x'])
    watch.requestProgress(9)
    await clock.advance(10 * etcdRetryMs)
    expect([told, closed(), streams.length]).toEqual([['the store is closed'], 1, 1])
  })

  it('cancels a stream that opens after it was closed', async () => {
    const environment = virtualEnvironment()
    const stream = new FakeStream()
    const opening = Promise.withResolvers<FakeStream>()
    const connection = { stream: () => opening.promise } as unknown as Connection
    const options = { after: 1, onEvents() {}, onGap() {}, onEnd() {} }
    const mark = async () => ({ revision: 0 })
    const tellsProgress = async () => true
    const watch = new EtcdWatch({
      connection,
      environment,
      keys,
      prefix: '',
      options,
      mark,
      tellsProgress,
      onClosed() {},
    })
    await environment.clock.settle()
    watch.close()
    opening.resolve(stream)
    await environment.clock.settle()
    expect([stream.isCancelled, stream.written]).toEqual([true, []])
    // Its end concerns nobody.
    stream.emit('error', new Error('cancelled'))
  })
})

const cannotAsk = 'a watch cannot ask how far it is, trying again'

describe('the progress of a watch of etcd that is full', () => {
  async function startFull() {
    const started = await startWatch()
    started.failures.mark = new StoreFullError('etcd')
    started.latest().send({ created: true, header: { revision: 8 } })
    return started
  }

  it('is asked of etcd, which takes no marker', async () => {
    const { watch, latest, told, warnings, clock } = await startFull()
    watch.requestProgress(8)
    await clock.advance(etcdProgressDelayMs)
    expect([latest().progressRequests, told]).toEqual([1, []])
    latest().send({ header: { revision: 8 } })
    await clock.advance(10 * etcdRetryMs)
    expect([latest().progressRequests, told, warnings]).toEqual([1, ['up to 8'], []])
  })

  it('is asked for again on another stream, whose beginning is no answer', async () => {
    const { watch, latest, streams, told, clock } = await startFull()
    watch.requestProgress(8)
    await clock.advance(etcdProgressDelayMs)
    latest().emit('end')
    await clock.advance(2 * etcdRetryMs)
    expect([streams.length, latest().progressRequests]).toEqual([2, 1])
    latest().send({ created: true, header: { revision: 8 } })
    expect(told).toEqual([])
    latest().send({ header: { revision: 9 } })
    expect(told).toEqual(['up to 9'])
  })

  it('does not go back where etcd answers late', async () => {
    const { watch, latest, told, clock } = await startFull()
    watch.requestProgress(8)
    await clock.advance(etcdProgressDelayMs)
    latest().change([9, 'a/1', 'x'])
    latest().send({ header: { revision: 8 } })
    expect(told.map((line) => line.slice(0, 9))).toEqual(['9 put a/1'])
  })

  it('is not asked of one whose answers come too soon, and that is told once', async () => {
    const { watch, latest, told, warnings, clock, etcd, marks } = await startFull()
    etcd.tellsProgress = false
    watch.requestProgress(8)
    await clock.advance(etcdProgressDelayMs + 10 * etcdRetryMs)
    latest().send({ header: { revision: 8 } })
    expect([latest().progressRequests, told, warnings]).toEqual([0, [], [cannotAsk]])
    expect(marks()).toBeGreaterThan(5)
  })
})

describe('the progress of a watch of etcd', () => {
  it('is told by a marker that nobody sees', async () => {
    const { watch, latest, told, clock, marks, markAt } = await startWatch()
    markAt(9)
    watch.requestProgress(8)
    watch.requestProgress(7)
    await clock.advance(etcdProgressDelayMs - 1)
    expect(marks()).toBe(0)
    await clock.advance(1)
    expect(marks()).toBe(1)
    latest().change([9, marker, `${markerValue}`])
    latest().change([10, 'a/1', 'x'], [11, marker, `${markerValue}`])
    latest().change([12, marker, `${markerValue}`], [12, 'a/1', 'y'])
    expect(told.map((line) => line.slice(0, 12).trim())).toEqual([
      'up to 9',
      '10 put a/1=x',
      'up to 11',
      '12 put a/1=y',
    ])
  })

  it('is told by the markers of others too, and by no object that has such a name', async () => {
    const { latest, told } = await startWatch()
    latest().change([9, `a/b/${markerName}`, `${markerValue}`])
    latest().change([10, `a/b/${markerName}`, 'x'])
    expect(told.map((line) => line.split('=')[0])).toEqual(['up to 9', `10 put a/b/${markerName}`])
  })

  it('needs no marker where events tell it in time, or a marker is on its way', async () => {
    const { watch, latest, clock, marks, markAt } = await startWatch()
    watch.requestProgress(5)
    await clock.advance(etcdProgressDelayMs)
    watch.requestProgress(6)
    latest().change([6, 'a/1', 'x'])
    await clock.advance(etcdProgressDelayMs)
    expect(marks()).toBe(0)
    markAt(9)
    watch.requestProgress(8)
    await clock.advance(etcdProgressDelayMs)
    watch.requestProgress(9)
    await clock.advance(etcdProgressDelayMs)
    expect(marks()).toBe(1)
    watch.requestProgress(10)
    markAt(11)
    await clock.advance(etcdProgressDelayMs)
    expect(marks()).toBe(2)
  })

  it('is asked for again where that failed', async () => {
    const { watch, clock, marks, markAt, failures, warnings } = await startWatch()
    failures.mark = new Error('away')
    watch.requestProgress(8)
    await clock.advance(etcdProgressDelayMs)
    await clock.advance(etcdRetryMs)
    expect([marks(), warnings]).toEqual([2, [cannotAsk]])
    delete failures.mark
    markAt(8)
    await clock.advance(etcdRetryMs)
    await clock.advance(10 * etcdRetryMs)
    expect(marks()).toBe(3)
  })

  it('is asked for no more once the watch is closed', async () => {
    const { watch, clock, marks, failures } = await startWatch()
    watch.requestProgress(8)
    watch.close()
    await clock.advance(etcdProgressDelayMs)
    expect(marks()).toBe(0)
    const other = await startWatch()
    other.failures.mark = new Error('away')
    other.watch.requestProgress(8)
    await other.clock.advance(etcdProgressDelayMs)
    other.watch.close()
    await other.clock.advance(10 * etcdRetryMs)
    expect([other.marks(), failures]).toEqual([1, {}])
  })
})
