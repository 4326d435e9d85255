import { cpSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { configMaps, type KubernetesObject, secrets } from '@coracle/api'
import {
  fillDirectory,
  readSnapshot,
  readStoredState,
  SnapshotError,
  type SnapshotReader,
  StorePresentError,
  snapshotVersion,
  startCluster,
  writeSnapshot,
} from '@coracle/cluster'
import { realEnvironment, silentLogger } from '@coracle/environment'
import { replaceStore } from '@coracle/store'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

const header = { savedAt: '2026-11-22T08:00:00Z', program: '0.1.0', source: 'https://127.0.0.1:6443' }
const end = { revision: '7', gaps: [] }

const object = (name: string, data = ''): KubernetesObject =>
  ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace: 'default', uid: name },
    data: { data },
  }) as never

async function all<T>(items: AsyncIterable<T>): Promise<readonly T[]> {
  const taken: T[] = []
  for await (const item of items) taken.push(item)
  return taken
}

async function* pagesOf(...pages: readonly (readonly KubernetesObject[])[]) {
  yield* pages
}

async function bytesOf(...pages: readonly (readonly KubernetesObject[])[]): Promise<Buffer> {
  return Buffer.concat(await all(writeSnapshot(header, pagesOf(...pages), () => end)))
}

/** The bytes in chunks of so many. */
async function* inChunks(bytes: Uint8Array, size: number) {
  for (let start = 0; start < bytes.length; start += size) yield bytes.subarray(start, start + size)
}

const objectsOf = async ({ pages }: SnapshotReader) => (await all(pages)).flat()
const readAll = async (bytes: Uint8Array, size = 100) => objectsOf(await readSnapshot(inChunks(bytes, size)))

describe('a snapshot', () => {
  it('gives the objects that were written, however they are cut into pages and chunks', async () => {
    const objects = fc.array(fc.tuple(fc.string(), fc.string()).map(([name, data]) => object(name, data)))
    await fc.assert(
      fc.asyncProperty(fc.array(objects), fc.integer({ min: 1, max: 400 }), async (pages, size) => {
        expect(await readAll(await bytesOf(...pages), size)).toEqual(pages.flat())
      }),
      { numRuns: 50 },
    )
  })

  it('says of itself what was said', async () => {
    const bytes = await bytesOf([object('a')])
    expect((await readSnapshot(inChunks(bytes, 10))).header).toEqual(header)
    const [first = '', ...rest] = bytes.toString().trimEnd().split('\n')
    expect(JSON.parse(first)).toEqual({ format: 'coracle.dev/snapshot', version: 1, ...header })
    expect(JSON.parse(rest.at(-1) ?? '')).toEqual({
      ...end,
      objects: 1,
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
    })
  })

  it('is refused where any byte is another, or missing', async () => {
    const bytes = await bytesOf([object('a', 'xyz'), object('b')], [object('c')])
    const endOfHeader = bytes.indexOf('\n')
    await fc.assert(
      fc.asyncProperty(fc.nat(bytes.length - 1), fc.integer({ min: 1, max: 255 }), async (at, change) => {
        const damaged = Buffer.from(bytes)
        damaged[at] = (damaged[at] ?? 0) ^ change
        // What the last line says beside number and checksum is for people, and so is the space after it.
        const isSeen = at <= endOfHeader || at < bytes.lastIndexOf('\n', bytes.length - 2)
        if (isSeen) await expect(readAll(damaged)).rejects.toThrow(SnapshotError)
        if (at > 0 && at < bytes.length - 1) await expect(readAll(bytes.subarray(0, at))).rejects.toThrow(SnapshotError)
      }),
      { numRuns: 100 },
    )
  })

  it.each([
    ['', 'it is no snapshot'],
    ['hello\n', 'it is no snapshot'],
    ['{"kind":"List"}\n', 'it is no snapshot'],
    [
      `{"format":"coracle.dev/snapshot","version":${snapshotVersion + 1}}\n`,
      'it is in form 2, and this program reads up to 1: use a newer one',
    ],
  ])('is nothing else: %j', async (text, message) => {
    await expect(readAll(Buffer.from(text))).rejects.toThrow(message)
  })
})

describe('a data directory', () => {
  const environment = realEnvironment(silentLogger)
  let home: string
  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), 'fill-'))
  })
  afterEach(() => rmSync(home, { recursive: true }))

  const clusterOn = (dataDir: string) => startCluster({ environment, dataDir, listen: false, nodes: 0, store: 'disk' })

  /** A directory with a few objects in it, and what they are. */
  async function filled(name: string) {
    const dataDir = join(home, name)
    await using cluster = await clusterOn(dataDir)
    const metadata = { name, namespace: 'default' }
    await cluster.client.create(configMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { name } })
    await cluster.client.create(secrets, { apiVersion: 'v1', kind: 'Secret', metadata, data: { name: 'eHl6' } })
    return dataDir
  }

  const stored = (dataDir: string) =>
    readStoredState(environment, dataDir, async ({ pages }) => (await all(pages)).flat())

  it('has the objects of a snapshot as they were: uids, times, owners of fields', async () => {
    const [first, second] = [await filled('first'), join(home, 'second')]
    const before = await stored(first)
    expect(before.length).toBeGreaterThan(10)
    expect(before.find(({ kind, metadata }) => kind === 'Secret' && metadata.name === 'first')).toMatchObject({
      metadata: { uid: expect.any(String), resourceVersion: expect.any(String), managedFields: [expect.anything()] },
      data: { name: 'eHl6' },
    })
    const { pages } = await readSnapshot(inChunks(await bytesOf(before), 1000))
    const report = await fillDirectory({ environment, dataDir: second }, pages)
    expect([report.written, report.droppedFields, report.refusedObjects]).toEqual([before.length, [], []])
    const withoutRevisions = (objects: readonly KubernetesObject[]) =>
      objects
        .map(({ metadata: { resourceVersion: _, ...metadata }, ...rest }) => ({ ...rest, metadata }))
        .sort((a, b) => `${a.metadata.uid}`.localeCompare(`${b.metadata.uid}`))
    expect(withoutRevisions(await stored(second))).toEqual(withoutRevisions(before))
    await using cluster = await clusterOn(second)
    const key = { namespace: 'default', name: 'first' }
    expect((await cluster.client.get(configMaps, key)).metadata.uid).toBe(
      before.find(({ kind, metadata }) => kind === 'ConfigMap' && metadata.name === 'first')?.metadata.uid,
    )
  })

  it('gives no revision that may have been given before: whoever has watched lists again', async () => {
    const restored = object('restored')
    const metadata = { ...restored.metadata, resourceVersion: '120', creationTimestamp: header.savedAt }
    const { pages } = await readSnapshot(inChunks(await bytesOf([{ ...restored, metadata }]), 100))
    const dataDir = join(home, 'restored')
    await fillDirectory({ environment, dataDir }, pages)
    await using cluster = await clusterOn(dataDir)
    const found = await cluster.client.get(configMaps, { namespace: 'default', name: 'restored' })
    expect(Number(found.metadata.resourceVersion)).toBeGreaterThan(1_000_000_120)
    // It has seen ten writes more than the snapshot.
    const watch = await cluster.client.watch(configMaps, { resourceVersion: '130' })
    const first = await watch[Symbol.asyncIterator]().next()
    expect(first.value).toMatchObject({ type: 'ERROR', object: { code: 410, reason: 'Expired' } })
  })

  it('has whole numbers of custom resources as they were written', async () => {
    const exact = 2n ** 53n + 1n
    const widget = {
      apiVersion: 'example.com/v1',
      kind: 'Widget',
      metadata: { name: 'w', namespace: 'default', uid: 'w', creationTimestamp: header.savedAt },
      spec: { serial: exact },
    } as never as KubernetesObject
    const schema = {
      type: 'object',
      properties: { spec: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
    }
    const definition = {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'widgets.example.com', uid: 'd', creationTimestamp: header.savedAt },
      spec: {
        group: 'example.com',
        scope: 'Namespaced',
        names: { kind: 'Widget', listKind: 'WidgetList', plural: 'widgets', singular: 'widget' },
        versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }],
      },
    } as never as KubernetesObject
    const { pages } = await readSnapshot(inChunks(await bytesOf([definition, widget]), 100))
    const dataDir = join(home, 'exact')
    await fillDirectory({ environment, dataDir }, pages)
    expect((await stored(dataDir)).find(({ kind }) => kind === 'Widget')).toMatchObject({ spec: { serial: exact } })
  })

  it('keeps what it has unless it is told otherwise, and until all is written', async () => {
    const [first, second] = [await filled('first'), await filled('second')]
    const [before, others] = [await stored(second), await stored(first)]
    await expect(fillDirectory({ environment, dataDir: second }, pagesOf(others))).rejects.toThrow(StorePresentError)
    const broken = async function* () {
      yield others
      throw new SnapshotError('it ends too soon')
    }
    await expect(fillDirectory({ environment, dataDir: second, overwrite: true }, broken())).rejects.toThrow('too soon')
    expect(await stored(second)).toEqual(before)
    expect(readdirSync(second)).not.toContain('store.filling')
    await fillDirectory({ environment, dataDir: second, overwrite: true }, pagesOf(others))
    expect((await stored(second)).map(({ metadata }) => metadata.uid).sort()).toEqual(
      others.map(({ metadata }) => metadata.uid).sort(),
    )
  })

  it('has all of one store, wherever its replacement was interrupted', async () => {
    const uidsOf = (objects: readonly KubernetesObject[]) => objects.map(({ metadata }) => metadata.uid).sort()
    const [before, after] = [await filled('before'), await filled('after')]
    const [old, others] = [uidsOf(await stored(before)), uidsOf(await stored(after))]
    let ended = false
    for (let steps = 0; !ended; steps += 1) {
      const dataDir = join(home, `after-${steps}`)
      cpSync(before, dataDir, { recursive: true })
      cpSync(join(after, 'store'), join(dataDir, 'store.filling'), { recursive: true })
      let left = steps
      const step =
        <Args extends readonly string[]>(act: (...args: Args) => void) =>
        (...args: Args): void => {
          if (left === 0) throw new Error('the power is out')
          left -= 1
          act(...args)
        }
      const files = {
        rename: step((from: string, to: string) => renameSync(from, to)),
        remove: step((path: string) => rmSync(path, { recursive: true, force: true })),
      }
      try {
        replaceStore(dataDir, join(dataDir, 'store.filling'), files)
        ended = true
      } catch {
        // It is as it was left.
      }
      const isReplaced = steps >= 2
      await using cluster = await clusterOn(dataDir)
      const key = { namespace: 'default', name: isReplaced ? 'after' : 'before' }
      expect((await cluster.client.get(configMaps, key)).data).toEqual({ name: key.name })
      await cluster.stop()
      expect(uidsOf(await stored(dataDir))).toEqual(expect.arrayContaining([...(isReplaced ? others : old)]))
      expect(readdirSync(dataDir)).not.toContain('store.former')
    }
  })

  it('is left alone while its cluster runs', async () => {
    const dataDir = await filled('first')
    await using _ = await clusterOn(dataDir)
    const inUse = expect.objectContaining({ name: 'DirectoryInUseError' })
    await expect(fillDirectory({ environment, dataDir, overwrite: true }, pagesOf())).rejects.toEqual(inUse)
    await expect(stored(dataDir)).rejects.toEqual(inUse)
  })

  it('without objects gives none', async () => {
    await expect(stored(home)).rejects.toThrow('has no objects on disk')
    expect(readdirSync(home)).toEqual([])
  })
})
