import fc from 'fast-check'
import { expect, it } from 'vitest'
import {
  type CommitResult,
  type Entry,
  type Operation,
  openLmdbStore,
  type Store,
  type StoreEvent,
  type Transaction,
} from '../src/index.ts'
import { createMemoryStore } from '../src/memory-store.ts'
import { describeEvent, record } from './contract.ts'
import { plainEntry } from './plain-entry.ts'
import { temporaryDirectory } from './temporary-directory.ts'

/** What a store means, in as few lines as it takes. */
class Model {
  entries = new Map<string, Entry>()
  events: StoreEvent[] = []
  revision = 0

  commit({ conditions, operations }: Transaction): CommitResult {
    const current = conditions.map(({ key }) => this.entries.get(key))
    if (conditions.some(({ modRevision }, index) => (current[index]?.modRevision ?? 0) !== modRevision)) {
      // As of the last change of what was checked: what came later may not be durable yet.
      return { ok: false, revision: this.lastChangeOf(conditions.map(({ key }) => key)), current }
    }
    const revision = ++this.revision
    for (const operation of operations) this.carryOut(operation, revision)
    return { ok: true, revision }
  }

  carryOut(operation: Operation, revision: number): void {
    const { key, type } = operation
    const old = this.entries.get(key)
    const createRevision = old?.createRevision ?? revision
    const previousRevision = old?.modRevision ?? 0
    if (type === 'put') {
      const { value } = operation
      this.entries.set(key, { key, value, modRevision: revision, createRevision })
      this.events.push({ type, key, value, revision, createRevision, previousRevision })
    } else if (old !== undefined) {
      this.entries.delete(key)
      this.events.push({ type, key, value: old.value, revision, createRevision, previousRevision })
    }
  }

  lastChangeOf(keys: readonly string[]): number {
    return this.events.findLast(({ key }) => keys.includes(key))?.revision ?? 0
  }

  list(prefix: string): Entry[] {
    const entries = [...this.entries.values()].filter(({ key }) => key.startsWith(prefix))
    return entries.sort((a, b) => Buffer.compare(Buffer.from(a.key), Buffer.from(b.key)))
  }
}

const key = fc.constantFrom('a', 'a/b', 'a/c', 'b', 'a/\ue000', 'a/\u{1f600}', 'é')
const operation: fc.Arbitrary<Operation> = fc.oneof(
  fc.record({ type: fc.constant('put' as const), key, value: fc.uint8Array({ maxLength: 4 }) }),
  fc.record({ type: fc.constant('delete' as const), key }),
)

/** Conditions say how far back the revision they name lies: those a client has are mostly right or a little old. */
const step = fc.record({
  conditions: fc.array(fc.record({ key, stale: fc.integer({ min: 0, max: 2 }) }), { maxLength: 2 }),
  operations: fc.uniqueArray(operation, { maxLength: 3, selector: (item) => item.key }),
  // What is listed after it, which a store may learn from.
  listed: fc.option(fc.constantFrom('', 'a', 'a/'), { nil: undefined, freq: 4 }),
  // Whether the next one is committed without waiting for this one.
  together: fc.boolean(),
})
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

/** Runs the steps on the store and the model side by side; both must answer, hold and tell watches the same. */
async function compare(store: Store, steps: readonly Step[], model = new Model()): Promise<Model> {
  const watch = record(store, '', 0)
  const { revision: first } = model
  const expected: CommitResult[] = []
  const results: Promise<CommitResult>[] = []
  for (const { conditions, operations, listed, together } of steps) {
    const transaction = {
      conditions: conditions.map(({ key, stale }) => ({
        key,
        modRevision: Math.max(0, (model.entries.get(key)?.modRevision ?? 0) - stale),
      })),
      operations,
    }
    expected.push(model.commit(transaction))
    const result = store.commit(transaction)
    results.push(result)
    const listing = listed === undefined ? undefined : store.list(listed)
    if (!together) await Promise.all([result, listing])
  }
  const given = await Promise.all(results)
  expect(given.map(withoutTime)).toEqual(expected.map(withoutTime))
  // A refusal holds as of some revision from the last change of what was checked to the last of the transactions before it.
  for (const [index, result] of given.entries()) {
    if (result.ok) continue
    const before = given.slice(0, index).map((each) => each.revision)
    expect(result.revision).toBeGreaterThanOrEqual(expected[index]?.revision ?? 0)
    expect(result.revision).toBeLessThanOrEqual(Math.max(first, ...before))
  }
  for (const prefix of ['', 'a', 'a/', 'a/\u{1f600}']) {
    const { revision, entries } = await store.list(prefix)
    expect({ revision, entries: entries.map(plainEntry) }).toEqual({
      revision: model.revision,
      entries: model.list(prefix),
    })
  }
  for (const each of ['a', 'b', 'é']) expect(plainEntry(await store.get(each))).toEqual(model.entries.get(each))
  const history = model.events.map((event) => describeEvent(event))
  if (model.revision > 0) await watch.until(model.events.at(-1)?.revision ?? 0)
  expect(watch.described()).toEqual(history)
  const after = Math.floor(model.revision / 2)
  const later = model.events.filter(({ revision }) => revision > after)
  const replay = record(store, '', after)
  if (later.length > 0) await replay.until(later.at(-1)?.revision ?? 0)
  expect(replay.described()).toEqual(later.map((event) => describeEvent(event)))
  return model
}

const withoutTime = (result: CommitResult) =>
  result.ok ? result : { ok: false, current: result.current.map(plainEntry) }

const steps = fc.array(step, { maxLength: 30 })

it('answers like the model, in memory', async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (run) => {
      const store = createMemoryStore()
      await compare(store, run)
      await store.close()
    }),
    { numRuns: 200 },
  )
})

it('answers like the model, on disk', async () => {
  await fc.assert(
    fc.asyncProperty(steps, steps, async (run, later) => {
      const directory = temporaryDirectory()
      try {
        const store = await openLmdbStore({ directory: directory.path })
        const model = await compare(store, run)
        await store.close()
        const again = await openLmdbStore({ directory: directory.path })
        expect(await again.list('')).toEqual({ revision: model.revision, entries: model.list('') })
        const watch = record(again, '', 0)
        if (model.events.length > 0) await watch.until(model.events.at(-1)?.revision ?? 0)
        expect(watch.described()).toEqual(model.events.map((event) => describeEvent(event)))
        await compare(again, later, model)
        await again.close()
      } finally {
        directory.remove()
      }
    }),
    { numRuns: 40 },
  )
})
