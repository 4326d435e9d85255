import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Environment, realClock, realEnvironment } from '@coracle/environment'
import { open } from 'lmdb'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { CompactedError, examineStore, openLmdbStore, repairStore } from '../src/index.ts'
import { repairedRevisionsSkipped } from '../src/limits.ts'
import { LmdbTables } from '../src/lmdb-tables.ts'
import { commit, put, record, remove, text } from './contract.ts'
import { openFlags } from './open-flags.ts'
import { temporaryDirectory } from './temporary-directory.ts'

/** Nothing happens later: the tables get only what they are asked for. */
const withoutTimers: Environment = {
  ...realEnvironment(),
  clock: {
    now: () => realClock.now(),
    monotonicMs: () => realClock.monotonicMs(),
    setTimer: () => ({ cancel() {} }),
    defer: (callback) => realClock.defer(callback),
    hold: (work) => work,
    catchUp: () => undefined,
  },
}

describe('a store that goes on without what is damaged', () => {
  let directory: ReturnType<typeof temporaryDirectory>

  beforeEach(() => {
    directory = temporaryDirectory()
  })

  afterEach(() => directory.remove())

  const path = (name: string) => join(directory.path, name)

  /** Leaves a store as it is when its process is killed after these commits, with a journal and tables that hold just that. */
  async function leaveKilled(): Promise<void> {
    const store = await openLmdbStore({ directory: directory.path, environment: withoutTimers })
    await commit(store, put('a', 'first a'), put('b', 'first b'))
    await store.list('')
    await commit(store, put('c', 'only in the journal'))
    await commit(store, remove('b'))
    const files = readdirSync(directory.path).map((name) => [name, readFileSync(path(name))] as const)
    await store.close()
    for (const [name, bytes] of files) if (!/lock|owner/.test(name)) writeFileSync(path(name), bytes)
  }

  /** Changes the last byte of a text in a file. */
  function damage(name: string, found: string): void {
    const bytes = readFileSync(path(name))
    const at = bytes.lastIndexOf(found)
    expect(at).toBeGreaterThan(0)
    for (let each = bytes.indexOf(found); each >= 0; each = bytes.indexOf(found, each + 1)) bytes[each] = 63
    writeFileSync(path(name), bytes)
  }

  const contents = async () => {
    const store = await openLmdbStore({ directory: directory.path })
    try {
      const entries = (await store.list('')).entries.map(({ key, value }) => [key, text(value)])
      return { entries, revision: store.latest() }
    } finally {
      await store.close()
    }
  }

  it('finds nothing wrong with a store that is whole, and leaves it', async () => {
    await leaveKilled()
    const whole = { problems: [], safeRevision: 3, isEndLost: false, highestRevision: 3 }
    expect(await examineStore(directory.path)).toEqual(whole)
    expect(await repairStore(directory.path)).toEqual(whole)
    expect(await contents()).toEqual({
      entries: [
        ['a', 'first a'],
        ['c', 'only in the journal'],
      ],
      revision: 3,
    })
  })

  it('goes on from the last whole revision, with ones that were never given', async () => {
    await leaveKilled()
    damage('journal-0', 'only in')
    const report = {
      problems: ['its journal goes on with record 3 where 2 should be'],
      safeRevision: 1,
      isEndLost: true,
      highestRevision: 3,
    }
    await expect(contents()).rejects.toThrow('go on from revision 1')
    expect(await examineStore(directory.path)).toEqual(report)
    await expect(contents()).rejects.toThrow('go on from revision 1')
    expect(await repairStore(directory.path)).toEqual(report)
    const revision = 3 + repairedRevisionsSkipped
    expect(await contents()).toEqual({
      entries: [
        ['a', 'first a'],
        ['b', 'first b'],
      ],
      revision,
    })
    expect(readFileSync(path('journal-0.damaged')).includes('in the journal')).toBe(true)

    const store = await openLmdbStore({ directory: directory.path })
    const watch = record(store, '', 1)
    await commit(store, put('d'))
    expect(await watch.over).toEqual(new CompactedError(1, revision))
    await store.close()
    expect((await contents()).revision).toBe(revision + 1)
  })

  it('keeps what is whole in the journal', async () => {
    await leaveKilled()
    rmSync(path('journal-1'))
    expect((await repairStore(directory.path)).safeRevision).toBe(3)
    expect((await contents()).entries.map(([key]) => key)).toEqual(['a', 'c'])
  })

  it('removes a value that is not as it was written', async () => {
    await leaveKilled()
    damage('data.mdb', 'first a')
    await expect(contents()).rejects.toThrow('the value of "a" is not as it was written')
    expect((await repairStore(directory.path)).problems).toEqual([
      'the value of "a" is not as it was written',
      'a part of the history, which watches may ask for, is not as it was written',
    ])
    expect((await contents()).entries).toEqual([['c', 'only in the journal']])
    expect(await examineStore(directory.path)).toMatchObject({ problems: [], isEndLost: false })
    // The journal was whole.
    expect(readdirSync(directory.path).filter((name) => name.endsWith('.damaged'))).toEqual([])
  })

  it('lets go of notes that are not as they were written', async () => {
    const store = await openLmdbStore({ directory: directory.path })
    for (const note of ['first', 'second'].map((each) => Buffer.from(each))) {
      const operations = [{ type: 'put', key: 'a', value: Buffer.from('a') }] as const
      await store.commit({ conditions: [], operations, note })
      await store.list('')
    }
    await store.close()
    const root = open(directory.path, { encoding: 'binary', keyEncoding: 'binary', overlappingSync: false })
    const notes = root.openDB<Uint8Array, Uint8Array>({ name: 'notes', encoding: 'binary', keyEncoding: 'binary' })
    const [first] = [...notes.getRange({ limit: 1 })]
    const wrong = Buffer.from(first?.value ?? [])
    wrong[wrong.length - 1] = (wrong[wrong.length - 1] ?? 0) ^ 1
    await notes.put(first?.key ?? wrong, wrong)
    await root.close()
    const problems = ['a part of the notes of transactions is not as it was written']
    expect(await repairStore(directory.path)).toMatchObject({ problems, isEndLost: false })
    expect(await examineStore(directory.path)).toMatchObject({ problems: [] })
    expect((await contents()).entries).toEqual([['a', 'a']])
  })

  it('fails where a damaged journal cannot be put aside', async () => {
    await leaveKilled()
    damage('journal-0', 'only in')
    mkdirSync(path('journal-0.damaged'))
    await expect(repairStore(directory.path)).rejects.toThrow(/EISDIR|ENOTDIR|ENOTEMPTY|EPERM/)
    await expect(contents()).rejects.toThrow('go on from revision 1')
  })

  it.runIf(process.platform === 'linux')(
    'is left without an open file, also where it cannot be looked at',
    async () => {
      await leaveKilled()
      await examineStore(directory.path)
      expect(openFlags(directory.path).size).toBe(0)
      rmSync(path('data.mdb'))
      await (await LmdbTables.open(directory.path)).close()
      await expect(examineStore(directory.path)).rejects.toThrow('is damaged: its tables are empty')
      expect(openFlags(directory.path).size).toBe(0)
    },
  )

  it('keeps a value that is damaged in the tables and whole in the journal', async () => {
    const store = await openLmdbStore({ directory: directory.path })
    await commit(store, put('a', 'first a'))
    await store.list('')
    await commit(store, put('a', 'second a'))
    const files = readdirSync(directory.path).map((name) => [name, readFileSync(path(name))] as const)
    await store.close()
    for (const [name, bytes] of files) if (!/lock|owner/.test(name)) writeFileSync(path(name), bytes)
    damage('data.mdb', 'first a')
    await repairStore(directory.path)
    expect((await contents()).entries).toEqual([['a', 'second a']])
  })

  it('tells of a store that is not there, or that only a backup helps', async () => {
    await expect(examineStore(path('none'))).rejects.toThrow('is damaged: it is missing')
    await leaveKilled()
    const bytes = readFileSync(path('data.mdb'))
    bytes.fill(0, 4096, 8192)
    writeFileSync(path('data.mdb'), bytes)
    await expect(repairStore(directory.path)).rejects.toThrow(/data\.mdb has lost one of its two roots; restore/)
  })
})
