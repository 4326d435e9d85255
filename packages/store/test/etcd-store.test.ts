import { createLogger, type Environment, realEnvironment } from '@coracle/environment'
import { message } from '@coracle/environment/grpc'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { authenticateRequest } from '../src/etcd/api.ts'
import { Connection } from '../src/etcd/connection.ts'
import {
  type EtcdStoreOptions,
  InvalidTransactionError,
  openEtcdStore,
  type Store,
  StoreClosedError,
  StoreRevertedError,
  StoreTimeoutError,
  StoreUnavailableError,
  type Transaction,
  TransactionTooLargeError,
} from '../src/index.ts'
import { etcdNoteLagMax } from '../src/limits.ts'
import { EtcdServer, hasEtcd, needsEtcd } from '../src/testing/etcd-server.ts'
import { TcpProxy } from '../src/testing/tcp-proxy.ts'
import { commit, describeStore, noteOf, put, record, remove, text } from './contract.ts'

describe.skipIf(!hasEtcd)('with etcd', needsEtcd, () => {
  let etcd: EtcdServer
  beforeAll(async () => {
    etcd = await EtcdServer.start()
  })
  afterAll(() => etcd[Symbol.asyncDispose]())

  let stores = 0
  describeStore('etcd store', {
    // Each has its own part of one etcd, and sees nothing of the others.
    open: () => openEtcdStore({ servers: [etcd.address], prefix: `/contract-${stores++}/` }),
    cleanUp: async () => {},
  })

  describe('etcd store', () => {
    let proxy: TcpProxy
    let prefix: string
    const opened: Store[] = []
    const warnings: string[] = []
    const environment: Environment = {
      ...realEnvironment(),
      logger: createLogger(({ message }) => warnings.push(message)),
    }
    beforeEach(async () => {
      proxy = await TcpProxy.to(etcd.address)
      prefix = `/store-${stores++}`
      warnings.length = 0
    })
    afterEach(async () => {
      await Promise.all(opened.splice(0).map((store) => store.close()))
      await proxy[Symbol.asyncDispose]()
    })
    const open = async (options: Partial<EtcdStoreOptions> = {}) => {
      const store = await openEtcdStore({ servers: [etcd.address], prefix, environment, ...options })
      opened.push(store)
      return store
    }

    /** What comes of changing a key as long as nobody else has, where the connection is cut before there is an answer. */
    async function changeUnanswered(hasReached: boolean, changedMeanwhile = false) {
      const [near, far] = [await open(), await open({ servers: [proxy.address] })]
      const before = await commit(far, put('a', '1'))
      const transaction = { conditions: [{ key: 'a', modRevision: before }], operations: [put('a', '2')] }
      const { answer: change } = await commitUnanswered(near, far, transaction, hasReached, async () => {
        if (changedMeanwhile) await commit(near, put('a', '3'))
      })
      return { change, near, before }
    }

    /** What comes of creating a key that is not there, where the connection is cut before there is an answer. */
    async function createUnanswered(
      hasReached: boolean,
      meanwhile: (near: Store) => Promise<unknown> = async () => {},
    ) {
      const [near, far] = [await open(), await open({ servers: [proxy.address] })]
      const before = await commit(far, put('other'))
      const transaction = { conditions: [{ key: 'a', modRevision: 0 }], operations: [put('a', '1')] }
      const { answer: creation } = await commitUnanswered(near, far, transaction, hasReached, () => meanwhile(near))
      return { creation, near, before }
    }

    async function commitUnanswered(
      near: Store,
      far: Store,
      transaction: Transaction,
      hasReached: boolean,
      meanwhile: () => Promise<unknown>,
    ) {
      const before = (await near.get('a'))?.modRevision
      if (hasReached) proxy.mute = true
      else proxy.silent = true
      const answer = far.commit({ ...transaction, note: noteOf('change') })
      answer.catch(() => {})
      if (hasReached) await expect.poll(async () => (await near.get('a'))?.modRevision).not.toBe(before)
      else await expect.poll(() => proxy.lost).toContain('change')
      await meanwhile()
      Object.assign(proxy, { mute: false, silent: false })
      proxy.cut()
      return { answer }
    }

    it('says what came of a change that was made, and whose answer was lost', async () => {
      const { change, near, before } = await changeUnanswered(true)
      expect(await change).toEqual({ ok: true, revision: before + 1 })
      const entry = await near.get('a')
      expect([entry?.modRevision, text(entry?.value)]).toEqual([before + 1, '2'])
      expect((await near.notes({ limit: 1 })).map(({ revision }) => revision)).toEqual([before + 1])
    })

    it('makes a change again that was lost on its way, as long as nobody else has made one', async () => {
      const { change, near, before } = await changeUnanswered(false)
      expect(await change).toEqual({ ok: true, revision: before + 1 })
      expect((await near.get('a'))?.modRevision).toBe(before + 1)
    })

    it('does not say what came of a change that may yet be made by nobody knows whom', async () => {
      const { change } = await changeUnanswered(false, true)
      await expect(change).rejects.toThrow(StoreTimeoutError)
    })

    it('says of a change that was made and undone since that it was made', async () => {
      const { change, before } = await changeUnanswered(true, true)
      expect(await change).toEqual({ ok: true, revision: before + 1 })
    })

    it('says what came of a creation that was made, and whose answer was lost', async () => {
      const { creation, near, before } = await createUnanswered(true)
      expect(await creation).toEqual({ ok: true, revision: before + 1 })
      expect(await near.get('a')).toMatchObject({ createRevision: before + 1, modRevision: before + 1 })
    })

    it('makes a creation again that was lost on its way', async () => {
      const { creation, near, before } = await createUnanswered(false)
      expect(await creation).toEqual({ ok: true, revision: before + 1 })
      expect((await near.get('a'))?.createRevision).toBe(before + 1)
    })

    it('does not create again what was created and deleted since, and says that it was created', async () => {
      const { creation, near, before } = await createUnanswered(true, (near) => commit(near, remove('a')))
      expect(await creation).toEqual({ ok: true, revision: before + 1 })
      expect(await near.get('a')).toBeUndefined()
    })

    it('does not say what came of a creation where somebody else has created it meanwhile', async () => {
      const { creation } = await createUnanswered(false, (near) => commit(near, put('a', '2')))
      await expect(creation).rejects.toThrow(StoreTimeoutError)
    })

    describe('of a transaction without a note', () => {
      const create = { conditions: [{ key: 'a', modRevision: 0 }], operations: [put('a', 'made')] }

      /** Its answer is lost: whether it has reached etcd or not, or others came first. */
      async function unanswered(
        transactionOf: (before: number) => Transaction,
        { hasReached = true, meanwhile = async (_: Store): Promise<unknown> => undefined } = {},
      ) {
        const [near, far] = [await open(), await open({ servers: [proxy.address] })]
        const transaction = transactionOf((await near.get('a'))?.modRevision ?? 0)
        proxy[hasReached ? 'mute' : 'silent'] = true
        const answer = far.commit(transaction)
        answer.catch(() => {})
        if (hasReached) await expect.poll(async () => text((await near.get('a'))?.value)).toBe('made')
        else await expect.poll(() => proxy.lost).toContain('made')
        await meanwhile(near)
        Object.assign(proxy, { mute: false, silent: false })
        proxy.cut()
        return { answer, near }
      }
      const change = (modRevision: number) => ({
        conditions: [{ key: 'a', modRevision }],
        operations: [put('a', 'made')],
      })

      it('says that something was created, whose answer was lost', async () => {
        const { answer, near } = await unanswered(() => create)
        expect(await answer).toEqual({ ok: true, revision: (await near.get('a'))?.createRevision })
      })

      it('creates nothing twice: what is not there may be on its way yet', async () => {
        const { answer, near } = await unanswered(() => create, { meanwhile: (near) => commit(near, remove('a')) })
        await expect(answer).rejects.toThrow(StoreTimeoutError)
        expect(await near.get('a')).toBeUndefined()
      })

      it.each([true, false])(
        'says that something was changed, whose answer was lost: it was %s',
        async (hasReached) => {
          await commit(await open(), put('a', 'before'))
          const { answer, near } = await unanswered(change, { hasReached })
          expect(await answer).toEqual({ ok: true, revision: (await near.get('a'))?.modRevision })
          expect(text((await near.get('a'))?.value)).toBe('made')
        },
      )

      it('does not say what came of a change where somebody else has made another', async () => {
        await commit(await open(), put('a', 'before'))
        const { answer } = await unanswered(change, { meanwhile: (near) => commit(near, put('a', 'other')) })
        await expect(answer).rejects.toThrow(StoreTimeoutError)
      })
    })

    it('keeps keys where an operator finds them: as they are, under the prefix', async () => {
      const [store, all] = await Promise.all([open(), open({ prefix: '' })])
      await commit(store, put('/registry/core/pods/default/web', '{"kind":"Pod"}'))
      const { entries } = await all.list(prefix)
      expect(entries.map(({ key, value }) => [key, text(value)])).toEqual([
        [`${prefix}/registry/core/pods/default/web`, '{"kind":"Pod"}'],
      ])
    })

    it('has no prefix unless it is given one, and is shared', async () => {
      const [store, bare] = await Promise.all([open(), openEtcdStore({ servers: [etcd.address], environment })])
      opened.push(bare)
      await commit(store, put('/a'))
      expect((await bare.list(prefix)).entries.map(({ key }) => key)).toEqual([`${prefix}/a`])
      expect([store.shared, bare.shared]).toEqual([true, true])
    })

    it('tells how large etcd’s database is', async () => {
      const store = await open()
      const before = (await store.sizeBytes?.()) ?? Number.NaN
      expect(before).toBeGreaterThan(4096)
      for (let index = 0; index < 4; index++) await commit(store, put('large', 'x'.repeat(1_000_000)))
      await expect.poll(() => store.sizeBytes?.()).toBeGreaterThan(before)
    })

    it('takes no call any more, and ends its watches, once etcd is at an earlier revision than it was', async () => {
      await using before = await EtcdServer.start()
      await using restored = await EtcdServer.start()
      const store = await open({ servers: [before.address, restored.address] })
      for (const key of ['a', 'b']) await commit(store, put(key))
      const known = await store.latest()
      const watch = record(store, '', known)
      await before.kill()
      const failed = await store.get('a').catch((error: unknown) => error)
      expect(failed).toBeInstanceOf(StoreRevertedError)
      expect(failed).toMatchObject({ message: expect.stringContaining(`is at revision 1, and was at ${known}`) })
      expect(await watch.over).toBe(failed)
      await expect(commit(store, put('c'))).rejects.toBe(failed)
      expect(() => record(store, '', 0)).toThrow(StoreRevertedError)
    })

    it('takes no call any more as soon as it is told to close', async () => {
      const store = await open()
      for (const key of ['a', 'b']) await commit(store, put(key))
      const pages = store.pages('', 1)[Symbol.asyncIterator]()
      expect((await pages.next()).done).toBe(false)
      const committed = commit(store, put('c'))
      const closed = store.close()
      const calls = [
        () => store.latest(),
        () => store.get('a'),
        () => store.list(''),
        () => pages.next(),
        () => commit(store, put('d')),
        () => store.notes({ limit: 1 }),
        () => store.forgetNotes(0),
        () => store.compact(1),
      ]
      await Promise.all(calls.map((call) => expect(call()).rejects.toThrow(StoreClosedError)))
      expect(() => record(store, '', 0)).toThrow(StoreClosedError)
      expect(await committed).toBeGreaterThan(0)
      await closed
    })

    it('shows one process at once what another has written', async () => {
      const [one, two] = await Promise.all([open(), open()])
      for (let index = 0; index < 20; index++) {
        const revision = await commit(one, put('a', `${index}`))
        expect(await two.latest()).toBe(revision)
        expect(text((await two.get('a'))?.value)).toBe(`${index}`)
      }
    })

    it('lets a watch tell how far it is where only others have written since, with one write of its own', async () => {
      const [store, other] = await Promise.all([open(), open({ prefix: `/other${prefix}` })])
      const watch = record(store, '/a/', await store.latest())
      await commit(store, put('/a/1'))
      await expect.poll(() => watch.events).toHaveLength(1)
      const foreign = await commit(other, put('b'))
      await watch.until(foreign)
      expect(watch.events.map(({ key }) => key)).toEqual(['/a/1'])
      expect(await store.latest()).toBe(foreign + 1)
      expect((await store.list('/a/')).entries.map(({ key }) => key)).toEqual(['/a/1'])
      expect(await store.list('')).toMatchObject({ entries: [{ key: '/a/1' }] })
    })

    it('shows nobody the key by which a watch learns how far it is, neither a listing nor a wider watch', async () => {
      const [store, other] = await Promise.all([open(), open()])
      const base = await other.latest()
      const wider = record(other, '', base)
      const watch = record(store, '/a/', base)
      await watch.until(await commit(other, put('b')))
      await wider.until(await commit(other, put('c')))
      expect(wider.events.map(({ key }) => key)).toEqual(['b', 'c'])
      expect((await other.list('')).entries.map(({ key }) => key)).toEqual(['b', 'c'])
    })

    it('keeps notes where an operator finds them, and only as many as asked, once somebody lets go of some', async () => {
      const [store, other, all] = await Promise.all([open({ notesMax: 3 }), open(), open({ prefix: '' })])
      const noted = (label: string) =>
        other.commit({ conditions: [], operations: [put('a', label)], note: noteOf(label) })
      for (const label of ['1', '2', '3', '4', '5']) await noted(label)
      const { entries } = await all.list(`${prefix}coracle-notes/`)
      expect(entries.map(({ value }) => text(value))).toEqual(['1', '2', '3', '4', '5'])
      const shown = async () => (await store.notes({ limit: 10 })).map(({ note }) => text(note))
      await store.forgetNotes(0)
      expect(await shown()).toEqual(['5', '4', '3'])
      await store.forgetNotes((await store.notes({ limit: 10 }))[1]?.revision ?? 0)
      expect(await shown()).toEqual(['5'])
      expect(text((await store.get('a'))?.value)).toBe('5')
    })

    it('finds the note of a revision, however late its writer had last heard of etcd', async () => {
      const [store, late] = await Promise.all([open(), open()])
      const noted = async (writer: Store, label: string) =>
        (await writer.commit({ conditions: [], operations: [put(label)], note: noteOf(label) })).revision
      for (let index = 0; index < etcdNoteLagMax + 10; index++) await noted(store, `${index}`)
      const revision = await noted(late, 'late')
      for (let index = 0; index < etcdNoteLagMax + 10; index++) await noted(store, `more ${index}`)
      expect(text((await store.notes({ before: revision + 1, limit: 1 }))[0]?.note)).toBe('late')
    })

    it('gives with each change the value before it', async () => {
      const store = await open()
      const watch = record(store, '', await store.latest())
      await commit(store, put('a', '1'))
      await commit(store, put('a', '2'))
      await watch.until(await commit(store, remove('a')))
      expect(watch.events.map(({ previousValue }) => text(previousValue))).toEqual([undefined, '1', '2'])
    })

    it('takes no transaction that etcd does not take, and says why', async () => {
      const store = await open()
      const large = (bytes: number) =>
        store.commit({ conditions: [], operations: [{ type: 'put', key: 'a', value: new Uint8Array(bytes) }] })
      await expect(large(1_700_000)).rejects.toThrow(
        new TransactionTooLargeError('etcd takes no such transaction: etcdserver: request is too large'),
      )
      await expect(large(3_000_000)).rejects.toThrow(TransactionTooLargeError)
      const many = Array.from({ length: 200 }, (_, index) => put(`k${index}`))
      await expect(commit(store, ...many)).rejects.toThrow(InvalidTransactionError)
    })

    it('sends a large replay in parts, which a watch delivers as whole revisions', async () => {
      const store = await open()
      const base = await store.latest()
      const value = new Uint8Array(400_000)
      for (let index = 0; index < 12; index++) {
        const keys = ['a', 'b', 'c'].map((key) => ({ type: 'put', key: `${key}${index}`, value }) as const)
        await store.commit({ conditions: [], operations: keys })
      }
      const watch = record(store, '', base)
      await watch.until(base + 12)
      expect(watch.events).toHaveLength(36)
      for (const call of watch.calls) {
        const counts = Map.groupBy(call, ({ revision }) => revision)
        for (const [, events] of counts) expect(events).toHaveLength(3)
      }
    })

    it('goes on with its watches after connections were cut, without gap or double', async () => {
      const store = await open({ servers: [proxy.address] })
      const writer = await open()
      const base = await store.latest()
      const watch = record(store, '', base)
      for (let index = 1; index <= 30; index++) {
        await commit(writer, put(`k${index}`))
        if (index % 10 === 0) proxy.cut()
      }
      await watch.until(base + 30)
      expect(watch.events.map(({ revision }) => revision - base)).toEqual(
        Array.from({ length: 30 }, (_, index) => index + 1),
      )
      expect(warnings).toContain('a watch was cut off, trying again')
    })

    it('tells a watch of a gap where history was compacted while it was cut off', async () => {
      const store = await open({ servers: [proxy.address] })
      const operator = await open()
      const watch = record(store, '', await store.latest())
      const last = await commit(operator, put('a', '1'))
      await watch.until(last)
      proxy.silent = true
      await commit(operator, put('a', '2'))
      const compacted = await commit(operator, put('a', '3'))
      await operator.compact(compacted)
      proxy.silent = false
      proxy.cut()
      expect(await watch.over).toMatchObject({ name: 'CompactedError', compacted })
    })

    it('works on, if slowly, where every message takes a while', async () => {
      proxy.delayMs = 50
      const store = await open({ servers: [proxy.address] })
      const base = await store.latest()
      const watch = record(store, '', base)
      const results = await Promise.all(
        Array.from({ length: 50 }, () =>
          store.commit({ conditions: [{ key: 'a', modRevision: 0 }], operations: [put('a')] }),
        ),
      )
      expect(results.filter(({ ok }) => ok)).toHaveLength(1)
      await watch.until(base + 1)
      expect(watch.events).toHaveLength(1)
    })

    it('lets no call wait for ever where no answer comes', async () => {
      const store = await open({ servers: [proxy.address] })
      proxy.silent = true
      const write = commit(store, put('a'))
      await Promise.all([
        expect(write).rejects.toThrow(StoreTimeoutError),
        expect(store.latest()).rejects.toThrow(StoreUnavailableError),
        expect(store.list('')).rejects.toThrow(StoreUnavailableError),
      ])
    })

    it('uses another server where one does not answer', async () => {
      const gone = await TcpProxy.to(etcd.address)
      const deadAddress = gone.address
      await gone[Symbol.asyncDispose]()
      const store = await open({ servers: [deadAddress, proxy.address] })
      expect(await commit(store, put('a'))).toBeGreaterThan(0)
    })

    it('is refused to open where there is no etcd, and says where it looked', async () => {
      const address = proxy.address
      await proxy[Symbol.asyncDispose]()
      await expect(open({ servers: [address] })).rejects.toThrow(
        `the store at ${address} is not available: no server can be reached`,
      )
      proxy = await TcpProxy.to(etcd.address)
    })
  })
})

describe.skipIf(!hasEtcd)('an etcd that is killed and started again under load', needsEtcd, () => {
  it('loses nothing that was acknowledged, and watches miss nothing', async () => {
    await using etcd = await EtcdServer.start()
    const store = await openEtcdStore({ servers: [etcd.address] })
    const base = await store.latest()
    const watch = record(store, '', base)
    const acknowledged = new Map<string, number>()
    let isOver = false
    const write = async (writer: number) => {
      for (let count = 0; !isOver; count++) {
        const key = `${writer}/${count}`
        try {
          acknowledged.set(key, await commit(store, put(key)))
        } catch (error) {
          // Nobody knows about this one; a store that is away for longer is told of before anything is sent.
          expect([StoreTimeoutError.name, StoreUnavailableError.name]).toContain((error as Error).name)
        }
      }
    }
    const writers = [0, 1, 2, 3].map(write)
    for (const enough of [100, 200, 300]) {
      await expect.poll(() => acknowledged.size, { interval: 5 }).toBeGreaterThan(enough)
      await etcd.kill()
      await etcd.start()
    }
    const before = acknowledged.size
    await expect.poll(() => acknowledged.size).toBeGreaterThan(before)
    isOver = true
    await Promise.all(writers)
    const latest = await store.latest()
    await watch.until(latest)
    expect(watch.events.map(({ revision }) => revision)).toEqual(
      Array.from({ length: latest - base }, (_, index) => base + index + 1),
    )
    const seen = new Map(watch.events.map(({ key, revision }) => [key, revision]))
    expect([...acknowledged].filter(([key, revision]) => seen.get(key) !== revision)).toEqual([])
    await store.close()
  })
})

describe.skipIf(!hasEtcd)('an etcd whose database is full', needsEtcd, () => {
  it('takes deletions, and says what is to be done about all else', async () => {
    await using etcd = await EtcdServer.start({ args: ['--quota-backend-bytes', '1000000'] })
    const store = await openEtcdStore({ servers: [etcd.address] })
    const write = (key: string) =>
      store.commit({ conditions: [], operations: [put(key, 'x'.repeat(300_000))], note: noteOf(key) })
    // etcd looks at the size its database had when it was last synced, ten times a second: how many get in is its own affair.
    const fill = async () => {
      for (let index = 0; ; index++) await write(`${index}`)
    }
    await expect(fill()).rejects.toThrow(StoreUnavailableError)
    await expect(write('a')).rejects.toThrow(
      /is full \(mvcc: database space exceeded\).* --quota-backend-bytes.*etcdctl alarm disarm$/,
    )
    const gone = await store.commit({ conditions: [], operations: [remove('0')], note: noteOf('gone') })
    expect([gone.ok, await store.get('0'), await store.latest()]).toEqual([true, undefined, gone.revision])
    expect((await store.get('1'))?.key).toBe('1')
    await store.close()
  })
})

describe.skipIf(!hasEtcd)('an etcd that asks who comes', needsEtcd, () => {
  const nothing = message({})
  const method = <Request extends Parameters<typeof message>[0]>(name: string, fields: Request) => ({
    path: `/etcdserverpb.Auth/${name}`,
    request: message(fields),
    response: nothing,
  })
  const once = { repeatable: false }

  it('lets in who has the password, and again after it has forgotten that', async () => {
    await using etcd = await EtcdServer.start()
    const admin = new Connection({ servers: [etcd.address], clock: realEnvironment().clock })
    const root = { name: 'root', password: 'secret' }
    await admin.call(method('UserAdd', authenticateRequest.fields), root, once)
    const grant = method('UserGrantRole', { user: [1, 'string'], role: [2, 'string'] })
    await admin.call(grant, { user: 'root', role: 'root' }, once)
    await admin.call(method('AuthEnable', {}), {}, once)
    admin.close()

    const servers = [etcd.address]
    await expect(openEtcdStore({ servers })).rejects.toThrow(/user name is empty|permission denied/)
    await expect(openEtcdStore({ servers, user: { ...root, password: 'wrong' } })).rejects.toThrow(
      /authentication failed, invalid user ID or password/,
    )
    const store = await openEtcdStore({ servers, user: root })
    const watch = record(store, '', await store.latest())
    await commit(store, put('a'))
    // Tokens are in its memory alone.
    await etcd.kill()
    await etcd.start()
    await watch.until(await commit(store, put('b')))
    expect(watch.events.map(({ key }) => key)).toEqual(['a', 'b'])
    await store.close()
  })
})
