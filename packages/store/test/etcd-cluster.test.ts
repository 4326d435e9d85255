import { createLogger, type Environment, realEnvironment } from '@coracle/environment'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  type EtcdStoreOptions,
  openEtcdStore,
  type Store,
  StoreTimeoutError,
  StoreUnavailableError,
} from '../src/index.ts'
import { EtcdCluster } from '../src/testing/etcd-cluster.ts'
import { hasEtcd, needsEtcd } from '../src/testing/etcd-server.ts'
import { TcpProxy } from '../src/testing/tcp-proxy.ts'
import { commit, put, record } from './contract.ts'

describe.skipIf(!hasEtcd)('an etcd of three members', needsEtcd, () => {
  let cluster: EtcdCluster
  const opened: Store[] = []
  const warnings: string[] = []
  const environment: Environment = {
    ...realEnvironment(),
    logger: createLogger(({ message, fields }) => warnings.push(`${message}: ${fields.error}`)),
  }
  beforeEach(async () => {
    cluster = await EtcdCluster.start()
    warnings.length = 0
  })
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((store) => store.close()))
    await cluster[Symbol.asyncDispose]()
  })
  const open = async (servers: readonly string[], options: Partial<EtcdStoreOptions> = {}) => {
    const store = await openEtcdStore({ servers, environment, ...options })
    opened.push(store)
    return store
  }
  /** The number of a member that does not lead. */
  const follower = async () => ((await cluster.leader()) + 1) % 3

  /** Writes without a pause until `stop`, which tells what was acknowledged. */
  const writing = (store: Store) => {
    const acknowledged = new Map<string, number>()
    let isOver = false
    const write = async (writer: number) => {
      for (let count = 0; !isOver; count++) {
        const key = `${writer}/${count}`
        try {
          acknowledged.set(key, await commit(store, put(key)))
        } catch (error) {
          // Nobody knows about this one.
          expect([StoreTimeoutError.name, StoreUnavailableError.name]).toContain((error as Error).name)
        }
      }
    }
    const writers = [0, 1, 2].map(write)
    const more = async (count = 50) => {
      const enough = acknowledged.size + count
      await expect.poll(() => acknowledged.size, { interval: 5 }).toBeGreaterThan(enough)
    }
    const stop = async () => {
      isOver = true
      await Promise.all(writers)
      return acknowledged
    }
    return { more, stop }
  }

  /** What a watch was told is each revision once, in order, and has what was acknowledged. */
  const expectWhole = async (
    store: Store,
    watch: ReturnType<typeof record>,
    base: number,
    acknowledged: ReadonlyMap<string, number>,
  ) => {
    const latest = await store.latest()
    await watch.until(latest)
    const expected = Array.from({ length: latest - base }, (_, index) => base + index + 1)
    expect(watch.events.map(({ revision }) => revision)).toEqual(expected)
    const seen = new Map(watch.events.map(({ key, revision }) => [key, revision]))
    expect([...acknowledged].filter(([key, revision]) => seen.get(key) !== revision)).toEqual([])
  }

  const inUse = (which: string) => (which === 'leader' ? cluster.leader() : follower())

  it.each(['leader', 'follower'])('goes on where the member in use is killed: a %s', async (which) => {
    const used = await inUse(which)
    const store = await open(cluster.serversFrom(used))
    const base = await store.latest()
    const watch = record(store, '', base)
    const { more, stop } = writing(store)
    await more()
    await cluster.member(used).kill()
    await more()
    await cluster.member(used).start()
    await more()
    await expectWhole(store, watch, base, await stop())
  })

  it.each(['leader', 'follower'])('goes on where the member in use is cut off from the others: a %s', async (which) => {
    const used = await inUse(which)
    const store = await open(cluster.serversFrom(used))
    const base = await store.latest()
    const watch = record(store, '', base)
    const { more, stop } = writing(store)
    await more()
    cluster.isolate(used)
    await more()
    cluster.heal()
    await more()
    await expectWhole(store, watch, base, await stop())
  })

  it.each<[string, (member: number) => void]>([
    ['is cut off from the others', (member) => cluster.isolate(member)],
    ['stands still', (member) => cluster.member(member).pause()],
  ])('shows what others have written, though the member in use %s', async (_, harm) => {
    const used = await follower()
    const store = await open(cluster.serversFrom(used))
    const other = await open(cluster.serversFrom((used + 1) % 3))
    const watch = record(store, '', await store.latest())
    await watch.until(await commit(store, put('a')))
    harm(used)
    const revision = await commit(other, put('b'))
    expect(await store.latest()).toBe(revision)
    expect((await store.get('b'))?.modRevision).toBe(revision)
    await watch.until(revision)
    expect(watch.events.map(({ key }) => key)).toEqual(['a', 'b'])
    // Not only when its connection was found to lead nowhere. Others may be without a leader for a moment, too, on a busy machine.
    const reason = /^a watch was cut off, .*(?:no leader|Cancelled on client)$/
    expect(new Set(warnings.map((warning) => reason.test(warning) || warning))).toEqual(new Set([true]))
    cluster.member(used).resume()
  })

  it('says that nothing was written where no member has a leader', async () => {
    const store = await open([cluster.member(0).address])
    await Promise.all([1, 2].map((index) => cluster.member(index).kill()))
    await expect.poll(() => store.get('a').catch(({ message }: Error) => message)).toMatch(/etcdserver: no leader$/)
    await expect(commit(store, put('a'))).rejects.toThrow(StoreUnavailableError)
    await Promise.all([1, 2].map((index) => cluster.member(index).start()))
    expect(await commit(store, put('a'))).toBeGreaterThan(0)
  })

  it('is found though the first of its addresses leads nowhere', async () => {
    const gone = await TcpProxy.to(cluster.member(0).address)
    const dead = gone.address
    await gone[Symbol.asyncDispose]()
    const store = await open([dead, ...cluster.serversFrom(1)])
    expect(await commit(store, put('a'))).toBeGreaterThan(0)
  })
})
