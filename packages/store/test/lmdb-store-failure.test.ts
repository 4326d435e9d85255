import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createLogger, type Environment, realClock, virtualEnvironment } from '@coracle/environment'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type DurableFiles, hostFiles } from '../src/durable-files.ts'
import { type SoleWriterStore, StoreDamagedError, StoreFailedError, StoreOverloadedError } from '../src/index.ts'
import { pendingTransactionsMax } from '../src/limits.ts'
import { holdsLmdbStore, type LmdbStoreOptions, openLmdbStoreOn } from '../src/lmdb-store.ts'
import { bytes, commit, put, record, remove, text } from './contract.ts'
import { temporaryDirectory } from './temporary-directory.ts'

describe('LMDB store', () => {
  let home: ReturnType<typeof temporaryDirectory>
  let directory: string
  let logged: string[]
  /** What the files of the journal refuse, as long as it is there. */
  let refusal: Error | undefined
  /** What the first of them refuses to be closed with. */
  let closingRefusal: Error | undefined
  const opened: SoleWriterStore[] = []

  beforeEach(() => {
    home = temporaryDirectory()
    directory = join(home.path, 'store')
    logged = []
    refusal = undefined
    closingRefusal = undefined
  })
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((store) => store.close()))
    home.remove()
  })

  const files: DurableFiles = {
    ...hostFiles,
    async open(path, options) {
      const file = await hostFiles.open(path, options)
      return {
        read: () => file.read(),
        async write(parts, position) {
          if (refusal !== undefined) throw refusal
          await file.write(parts, position)
        },
        writeUnsynced: (part, position) => file.writeUnsynced(part, position),
        sync: () => file.sync(),
        async close() {
          await file.close()
          const error = closingRefusal
          closingRefusal = undefined
          if (error !== undefined) throw error
        },
      }
    },
  }
  const logger = createLogger(({ level, message }) => logged.push(`${level} ${message}`))
  /** With `turns` it starts on the disk, and replays history, only when the test says so. */
  const open = async (options: Partial<LmdbStoreOptions> = {}, turns?: (() => void)[]) => {
    const { clock, random } = virtualEnvironment({ seed: opened.length })
    const environment: Environment = {
      clock: {
        now: () => clock.now(),
        monotonicMs: () => clock.monotonicMs(),
        setTimer: (delayMs, callback) => clock.setTimer(delayMs, callback),
        defer: (callback) => (turns === undefined ? realClock.defer(callback) : turns.push(callback)),
        hold: (work) => work,
        catchUp: () => undefined,
      },
      random,
      logger,
    }
    const store = await openLmdbStoreOn(files, { directory, environment, ...options })
    opened.push(store)
    return store
  }

  it('whose disk has failed takes no further call, and says why to all', async () => {
    const store = await open()
    await commit(store, put('a'))
    const watch = record(store, '', 1)
    refusal = Object.assign(new Error('write'), { code: 'ENOSPC' })
    const failed = await commit(store, put('b')).catch((error: unknown) => error)
    expect(failed).toBeInstanceOf(StoreFailedError)
    expect(failed).toMatchObject({
      cause: refusal,
      message: `the store in ${directory} has failed and takes no further calls: the disk is full; make room and start again: write`,
    })
    const later = [store.get('a'), store.list(''), commit(store, put('c')), store.compact(1)]
    for (const result of await Promise.allSettled(later)) expect(result).toEqual({ status: 'rejected', reason: failed })
    expect(() => store.latest()).toThrow(StoreFailedError)
    expect(() => record(store, '', 0)).toThrow(StoreFailedError)
    expect([watch.events, watch.ends]).toEqual([[], [failed]])
    expect(logged).toEqual(['error the store failed'])
  })

  it('lets its directory go after a failure, with all that was acknowledged', async () => {
    const store = await open()
    await commit(store, put('a'))
    refusal = new Error('input/output error')
    await expect(commit(store, put('b'))).rejects.toThrow('input/output error')
    await store.close()
    refusal = undefined
    const again = await open()
    expect((await again.list('')).entries.map(({ key }) => key)).toEqual(['a'])
    expect(await commit(again, put('b'))).toBe(2)
  })

  it('lets its directory go where a file of its journal does not close, and says so', async () => {
    const store = await open()
    await commit(store, put('a'))
    const error = new Error('input/output error')
    closingRefusal = error
    await expect(store.close()).rejects.toBe(error)
    opened.pop()
    const again = await open()
    expect((await again.list('')).entries.map(({ key }) => key)).toEqual(['a'])
  })

  it('ends a watch whose history is damaged, and goes on', async () => {
    const store = await open()
    await commit(store, put('a', 'first of a'))
    await commit(store, remove('a'), put('b'))
    await store.close()
    const file = join(directory, 'data.mdb')
    const contents = readFileSync(file)
    for (let at = contents.indexOf('first of a'); at >= 0; at = contents.indexOf('first of a')) contents[at] = 63
    writeFileSync(file, contents)

    const again = await open()
    const watch = record(again, '', 0)
    const live = record(again, '', 2)
    expect(await watch.over).toBeInstanceOf(StoreDamagedError)
    expect(watch.events).toEqual([])
    await live.until(await commit(again, put('c')))
    expect(live.events.map(({ key }) => key)).toEqual(['c'])
    expect(text((await again.get('b'))?.value)).toBe('b')
    expect(logged).toEqual(['error what is stored cannot be read'])
  })

  it('refuses what is more than may wait for the disk', async () => {
    const turns: (() => void)[] = []
    const store = await open({}, turns)
    await Promise.all([commit(store, put('z')), turns.shift()?.()])
    const waiting = Array.from({ length: pendingTransactionsMax }, (_, index) => commit(store, put(`k${index % 100}`)))
    await expect(commit(store, put('one more'))).rejects.toThrow(StoreOverloadedError)
    await expect(store.compact(1)).rejects.toThrow(StoreOverloadedError)
    const drained = Promise.all(waiting)
    let isOver = false
    void drained.then(() => {
      isOver = true
    })
    while (!isOver) {
      turns.shift()?.()
      await new Promise<void>((resolve) => realClock.defer(resolve))
    }
    expect(store.latest()).toBe(1 + pendingTransactionsMax)
  })

  it('is carried on from a process that died, which is logged', async () => {
    await (await open()).close()
    writeFileSync(join(directory, 'owner.json'), '{}')
    await open()
    expect(logged).toEqual(['warn took the store over from a process that died'])
  })

  it('keeps a count of revisions', async () => {
    await expect(open({ historyMax: -1 })).rejects.toThrow('historyMax is not a count: -1')
    expect(holdsLmdbStore(directory)).toBe(false)
  })

  it('gives with a change the value before it where that was written before it was opened', async () => {
    const store = await open()
    await commit(store, put('a', '1'))
    await store.close()
    const again = await open()
    const watch = record(again, '', 1)
    await commit(again, put('a', '2'))
    await commit(again, put('a', '3'))
    expect(watch.events.map(({ previousValue }) => previousValue)).toEqual([bytes('1'), undefined])
  })

  describe('with a file that remembers it', () => {
    const identityFile = () => join(home.path, 'store-id')

    it('is opened again, and not begun anew where it is missing', async () => {
      const store = await open({ identityFile: identityFile() })
      await commit(store, put('a'))
      await store.close()
      const again = await open({ identityFile: identityFile() })
      expect(again.latest()).toBe(1)
      await again.close()

      rmSync(directory, { recursive: true })
      const missing = `it is missing or empty, and ${identityFile()} says that there was one`
      await expect(open({ identityFile: identityFile() })).rejects.toThrow(missing)
      // Nothing holds on to the directory.
      await expect(open({ identityFile: identityFile() })).rejects.toThrow(missing)
      rmSync(identityFile())
      expect((await open({ identityFile: identityFile() })).latest()).toBe(0)
    })

    it('is made for a store that was there before', async () => {
      await (await open()).close()
      await (await open({ identityFile: identityFile() })).close()
      rmSync(directory, { recursive: true })
      await (await open()).close()
      await expect(open({ identityFile: identityFile() })).rejects.toThrow('it is another store than')
    })
  })

  it('fails when its file turns out to be gone as memory is given back, and can be closed', async () => {
    const store = await open()
    await store.commit({ conditions: [], operations: [{ type: 'put', key: 'a', value: new Uint8Array(5_000_000) }] })
    await store.list('')
    rmSync(join(directory, 'data.mdb'))
    await store.releaseMemory?.()
    await expect(store.get('a')).rejects.toThrow(StoreFailedError)
    expect(logged.at(-1)).toContain('the store failed')
    await store.close()
  })
})
