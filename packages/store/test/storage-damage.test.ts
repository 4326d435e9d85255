import { cpSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { type Random, realClock, seededRandom, virtualEnvironment } from '@coracle/environment'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openLmdbStore, type Store, type StoreEvent } from '../src/index.ts'
import { text } from './contract.ts'
import { type Donors, damages } from './damages.ts'
import { type Expectation, judgeStore } from './storage-damage.ts'
import { temporaryDirectory } from './temporary-directory.ts'

/**
 * A store as `kill -9` leaves it: a part of what was acknowledged is in the tables, the rest in the journal alone. `older`
 * is the same store at an earlier time.
 */
async function leaveKilled(home: string, seed: number): Promise<{ donors: Donors; expected: Expectation }> {
  const directory = join(home, 'live')
  const random = seededRandom(seed)
  // Time stands still: nothing goes to the tables but when it is asked for.
  const environment = virtualEnvironment({ seed })
  const identityFile = join(home, 'store-id')
  const store = await openLmdbStore({ directory, identityFile, historyMax: 60, environment })
  const history = new Map<string, StoreEvent>()
  store.watch('', {
    after: 0,
    onEvents: (events) => {
      for (const event of events) history.set(`${event.revision} ${event.key}`, event)
    },
    onGap: () => {},
    onEnd: () => {},
  })
  const settle = async <T>(work: Promise<T>): Promise<T> => {
    let isDone = false
    const watched = work.finally(() => {
      isDone = true
    })
    while (!isDone) {
      await environment.clock.settle()
      await new Promise<void>((resolve) => realClock.defer(resolve))
    }
    return watched
  }
  const older = join(home, 'older')
  for (let round = 0; round < 10; round++) {
    await settle(write(store, random, 12))
    if (round < 8) await settle(store.list(''))
    if (round === 4) cpSync(directory, older, { recursive: true })
  }
  cpSync(directory, join(home, 'killed'), { recursive: true })
  const revision = store.latest()
  await settle(store.close())
  const entries = new Map<string, { value: string; modRevision: number }>()
  for (const { type, key, value, revision: modRevision } of history.values()) {
    if (type === 'delete') entries.delete(key)
    else entries.set(key, { value: text(value) ?? '', modRevision })
  }
  return { donors: { older, foreign: directory }, expected: { revision, entries, history } }
}

async function write(store: Store, random: Random, count: number): Promise<void> {
  for (let each = 0; each < count; each++) {
    const key = `k${Math.floor(random.next() * 40)}`
    const value = Buffer.from(`${key} ${random.next()} `.padEnd(random.next() * 5000, '.'))
    const isDelete = random.next() < 0.1 && each < count - 1
    await store.commit({
      conditions: [],
      operations: [isDelete ? { type: 'delete', key } : { type: 'put', key, value }],
    })
  }
}

describe('a damaged store', () => {
  let home: ReturnType<typeof temporaryDirectory>
  let other: ReturnType<typeof temporaryDirectory>
  let donors: Donors
  let expected: Expectation

  beforeAll(async () => {
    home = temporaryDirectory()
    other = temporaryDirectory()
    const left = await leaveKilled(home.path, 1)
    await leaveKilled(other.path, 2)
    donors = { older: left.donors.older, foreign: join(other.path, 'killed') }
    expected = left.expected
  })

  afterAll(() => {
    home.remove()
    other.remove()
  })

  const faults = Number(process.env.STORAGE_FAULTS ?? 6)
  const cases = Object.entries(damages).flatMap(([name, damage]) =>
    Array.from({ length: name === 'empty' ? 1 : faults }, (_, seed) => ({ name, seed, damage })),
  )

  it('is whole when nothing happened to it', async () => {
    const directory = join(home.path, 'untouched')
    cpSync(join(home.path, 'killed'), directory, { recursive: true })
    expect(await judgeStore(directory, join(home.path, 'store-id'), expected)).toEqual({ outcome: 'whole', detail: '' })
  })

  it.each(cases)('loses nothing silently and serves nothing wrong: $name $seed', async ({ name, seed, damage }) => {
    const directory = join(home.path, `${name}-${seed}`)
    cpSync(join(home.path, 'killed'), directory, { recursive: true })
    const random = seededRandom(seed * 1000 + name.length)
    let what = damage(directory, random, donors)
    while (what === undefined) what = damage(directory, random, donors)
    if (process.env.STORAGE_FAULTS !== undefined) writeSync(2, `[${what}]\n`)
    const verdict = await judgeStore(directory, join(home.path, 'store-id'), expected)
    if (process.env.STORAGE_FAULTS !== undefined) console.log(`${what}: ${verdict.outcome} ${verdict.detail}`)
    expect({ what, ...verdict }).toMatchObject({ outcome: expect.stringMatching(/^(whole|refused)/) })
  })
})
