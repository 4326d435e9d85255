import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { configMaps } from '@coracle/api'
import { openLmdbStore, type SoleWriterStore } from '@coracle/store'
import { createMemoryStore } from '@coracle/store/memory'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { configMap, follow, startTestCore, type TestCore } from '../testing/test-core.ts'

/** What a watch from a version gets, as lines with versions, until nothing more comes. */
async function watched({ client, environment }: TestCore, options: object): Promise<readonly string[]> {
  const { lines, events } = follow((await client.watch(configMaps, options)) as never)
  await environment.clock.settle()
  return lines.map((line, index) => {
    const object = events[index]?.object as { metadata?: { resourceVersion?: string } } | undefined
    return `${line} ${object?.metadata?.resourceVersion ?? ''}`.trim()
  })
}

const names = ['a', 'b', 'c']
const change = fc.record({ name: fc.constantFrom(...names), kind: fc.constantFrom('red', 'blue', 'gone') })
type Change = typeof change extends fc.Arbitrary<infer T> ? T : never

async function make({ client }: TestCore, { name, kind }: Change, index: number): Promise<void> {
  const key = { namespace: 'default', name }
  const exists = await client.get(configMaps, key).then(
    () => true,
    () => false,
  )
  if (kind === 'gone') {
    if (exists) await client.delete(configMaps, key)
    return
  }
  const object = configMap(name, { count: String(index) }, { labels: { kind } })
  await (exists ? client.update(configMaps, object) : client.create(configMaps, object))
}

describe('a server that starts on a store with history', () => {
  it('gives a watch from before its start what the server before it would have given', async () => {
    const cuts = fc.record({
      compacted: fc.double({ min: 0, max: 1, noNaN: true }),
      changes: fc.array(change, { minLength: 1, maxLength: 25 }),
    })
    await fc.assert(
      fc.asyncProperty(cuts, fc.array(change, { maxLength: 5 }), async ({ compacted, changes }, later) => {
        const store = createMemoryStore()
        const before = await startTestCore({ store })
        for (const [index, each] of changes.entries()) await make(before, each, index)
        const last = store.latest()
        await store.compact(Math.floor(compacted * last))
        for (const [index, each] of later.entries()) await make(before, each, -1 - index)
        const after = await startTestCore({ store })
        // What comes after the compaction is known for certain: its changes carry what was there before.
        for (let from = last; from <= store.latest(); from++) {
          for (const labelSelector of ['', 'kind=red']) {
            const options = { resourceVersion: String(from), ...(labelSelector === '' ? {} : { labelSelector }) }
            expect(await watched(after, options)).toEqual(await watched(before, options))
          }
        }
        // What is older is either told as it was, or not at all.
        for (let from = 1; from < last; from++) {
          const options = { resourceVersion: String(from), labelSelector: 'kind=red' }
          const told = await watched(after, options)
          if (told[0] !== 'ERROR Expired') expect(told).toEqual(await watched(before, options))
        }
        await before.core.close()
        await after.core.close()
      }),
      { numRuns: 40 },
    )
  })

  it('lists pages that another server began', async () => {
    const store = createMemoryStore()
    const one = await startTestCore({ store })
    for (const name of names) await one.client.create(configMaps, configMap(name, { x: '1' }))
    const first = await one.client.list(configMaps, { limit: 1 })
    await one.client.update(configMaps, configMap('b', { x: '2' }))
    await one.client.delete(configMaps, { namespace: 'default', name: 'c' })
    const two = await startTestCore({ store })
    const rest = await two.client.list(configMaps, { continue: first.metadata.continue ?? '' })
    expect(rest.items.map(({ metadata, data }) => `${metadata.name}=${data?.x}`)).toEqual(['b=1', 'c=1'])
    expect(rest.metadata.resourceVersion).toBe(first.metadata.resourceVersion)
  })

  it('says Expired where the store has compacted it', async () => {
    const store = createMemoryStore()
    const one = await startTestCore({ store })
    const { metadata } = await one.client.create(configMaps, configMap('a'))
    await one.client.update(configMaps, configMap('a', { x: '1' }))
    await store.compact(store.latest())
    const two = await startTestCore({ store })
    const { resourceVersion = '' } = metadata
    expect(await watched(two, { resourceVersion })).toEqual(['ERROR Expired', 'end'])
    expect(await watched(two, { resourceVersion: String(store.latest()) })).toEqual([])
  })

  it('reads no history before somebody asks for it, and reads it once', async () => {
    const real = createMemoryStore()
    const one = await startTestCore({ store: real })
    const { metadata } = await one.client.create(configMaps, configMap('a'))
    await one.client.update(configMaps, configMap('a', { x: '1' }))
    let watches = 0
    const store: SoleWriterStore = Object.assign(Object.create(real), {
      shared: false,
      ...Object.fromEntries(
        (['latest', 'get', 'list', 'pages', 'commit', 'compact', 'close'] as const).map((name) => [
          name,
          real[name].bind(real),
        ]),
      ),
      watch: (...args: Parameters<SoleWriterStore['watch']>) => {
        watches += 1
        return real.watch(...args)
      },
    })
    const two = await startTestCore({ store })
    expect(watches).toBe(1)
    const { resourceVersion = '' } = metadata
    const options = { resourceVersion }
    expect(await watched(two, options)).toHaveLength(1)
    const before = watches
    for (let count = 0; count < 3; count++) expect(await watched(two, options)).toHaveLength(1)
    expect(watches).toBe(before)
  })

  it('knows what an object was that was last written long before, also from disk', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'coracle-past-'))
    const open = () => openLmdbStore({ directory: join(directory, 'store') })
    const store = await open()
    const one = await startTestCore({ store })
    await one.client.create(configMaps, configMap('a', {}, { labels: { kind: 'red' } }))
    await store.compact(store.latest())
    const resourceVersion = String(store.latest())
    await one.client.update(configMaps, configMap('a', {}, { labels: { kind: 'blue' } }))
    await one.core.close()
    await store.close()

    const again = await open()
    const { client, environment, core } = await startTestCore({ store: again })
    const watch = await client.watch(configMaps, { resourceVersion, labelSelector: 'kind=red' })
    const { lines } = follow(watch as never)
    await expect
      .poll(async () => {
        await environment.clock.settle()
        return lines
      })
      .toEqual(['DELETED a'])
    await core.close()
    await again.close()
    rmSync(directory, { recursive: true })
  })
})

describe('a server that has forgotten its history', () => {
  it('gives a watch from before that what it would have given', async () => {
    const last = fc.array(change, { maxLength: 5 })
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 25 }), last, async (changes, later) => {
        const store = createMemoryStore()
        const [one, other] = [await startTestCore({ store }), await startTestCore({ store })]
        const first = store.latest()
        for (const [index, each] of changes.entries()) await make(one, each, index)
        one.core.forgetHistory()
        for (const [index, each] of later.entries()) await make(one, each, -1 - index)
        await other.environment.clock.settle()
        for (let from = first; from <= store.latest(); from++) {
          for (const labelSelector of ['', 'kind=red']) {
            const options = { resourceVersion: String(from), ...(labelSelector === '' ? {} : { labelSelector }) }
            expect(await watched(one, options)).toEqual(await watched(other, options))
          }
        }
        await one.core.close()
        await other.core.close()
      }),
      { numRuns: 40 },
    )
  })

  it('has had its store drop what it keeps only to be fast', async () => {
    let drops = 0
    const store = Object.assign(createMemoryStore(), { dropCaches: () => void drops++ })
    const { core } = await startTestCore({ store })
    core.forgetHistory()
    expect(drops).toBe(1)
  })

  it('goes on with lists that are read in pages', async () => {
    const { client, core } = await startTestCore()
    for (const name of names) await client.create(configMaps, configMap(name, { x: '1' }))
    const first = await client.list(configMaps, { limit: 1 })
    await client.delete(configMaps, { namespace: 'default', name: 'b' })
    core.forgetHistory()
    const rest = await client.list(configMaps, { continue: first.metadata.continue ?? '' })
    expect(rest.items.map(({ metadata }) => metadata.name)).toEqual(['b', 'c'])
  })
})
