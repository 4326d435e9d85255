import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Api, patch, post, remove } from './support/api.ts'
import { configMap, controller, paths } from './support/objects.ts'
import { eventually, Program } from './support/program.ts'

// An acknowledged write survives `kill -9`, nobody sees one that was not acknowledged, and controllers go on where they
// were interrupted. Each test ends the program without warning and starts it again on what it left.

const { configMaps, controllers, pods } = paths

let dataDir: string
const started: Program[] = []
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'coracle-'))
})
afterEach(async () => {
  await Promise.all(started.splice(0).map((program) => program.end('SIGKILL')))
  await rm(dataDir, { recursive: true, force: true })
})

async function start() {
  const program = await Program.start({ dataDir, args: ['--runtime', 'simulated', '--nodes', '4'] })
  started.push(program)
  return { program, api: await Api.of(program) }
}

// biome-ignore lint/suspicious/noExplicitAny: an object of any kind
type Any = any

/** Follows a collection from its beginning. What it has seen was acknowledged. */
async function follow(api: Api, path: string) {
  const seen = new Map<string, Any>()
  const deleted = new Set<string>()
  let most = 0
  const watch = await api.lines(`${path}?watch=1`)
  const done = (async () => {
    for (let event = await watch.next(); event !== undefined; event = await watch.next()) {
      const { name } = event.object.metadata
      if (event.type === 'DELETED') {
        seen.delete(name)
        deleted.add(name)
      } else {
        seen.set(name, event.object)
      }
      most = Math.max(most, seen.size)
    }
  })().catch(() => {}) // The connection goes with the program.
  return { seen, deleted, done, most: () => most, close: () => watch.close() }
}

const isRunning = (pod: Any): boolean => pod.status?.phase === 'Running'

type Seen = ReadonlyMap<string, Any>

describe('a controller that is growing to 200 pods while the program is killed again and again', () => {
  const wanted = 200
  const moments: readonly (readonly [string, (seen: Seen) => boolean])[] = [
    ['the first pods', (seen) => seen.size >= 1],
    ['half of the pods', (seen) => seen.size >= wanted / 2],
    ['some pods that run', (seen) => [...seen.values()].some(isRunning)],
    ['all pods', (seen) => seen.size >= wanted],
  ]

  it('has exactly 200 in the end, none lost and none doubled', async () => {
    const everSeen = new Map<string, string>()
    for (const [index, [what, isMoment]] of moments.entries()) {
      const { program, api } = await start()
      const { seen, deleted, most, done } = await follow(api, pods)
      if (index === 0) await api.object(controllers, post(controller('crowd', wanted)))
      await eventually(what, async () => isMoment(seen))
      await program.end('SIGKILL')
      await done
      api.close()
      for (const [name, { metadata }] of seen) everSeen.set(name, metadata.uid)
      expect(most()).toBeLessThanOrEqual(wanted)
      expect(deleted.size).toBe(0)
    }

    const { api } = await start()
    const { seen, deleted, most, close } = await follow(api, pods)
    const settled = await eventually('200 pods to be ready', async () => {
      const { status } = await api.object(`${controllers}/crowd`)
      return status.readyReplicas === wanted && status
    })
    expect(settled).toMatchObject({ replicas: wanted, readyReplicas: wanted, availableReplicas: wanted })

    const { items } = await api.object(pods)
    expect(items).toHaveLength(wanted)
    expect(items.filter(isRunning)).toHaveLength(wanted)
    const { metadata: owner } = await api.object(`${controllers}/crowd`)
    for (const { metadata } of items) {
      expect(metadata.ownerReferences).toEqual([expect.objectContaining({ uid: owner.uid, controller: true })])
    }
    // Whatever was seen in an earlier life is the same pod still, and there never was one too many.
    const uids = new Map(items.map(({ metadata }: Any) => [metadata.name, metadata.uid]))
    expect([...everSeen].filter(([name, uid]) => uids.get(name) !== uid)).toEqual([])
    await eventually('the watch to see them', async () => [...seen.values()].filter(isRunning).length === wanted)
    expect([most(), deleted.size]).toEqual([wanted, 0])
    close()
    api.close()
  })
})

describe('a program that is killed under many writers', () => {
  const writersCount = 16

  it('has all it acknowledged, and nothing that it acknowledged as deleted', async () => {
    const { program, api } = await start()
    const made: string[] = []
    const gone: string[] = []
    const counters = new Map<string, number>()
    let latest = 0
    const enough = Promise.withResolvers<void>()
    const write = async (path: string, call: Parameters<typeof api.object>[1]): Promise<void> => {
      const { metadata } = await api.object(path, call)
      latest = Math.max(latest, Number(metadata?.resourceVersion ?? 0))
    }
    const writer = async (index: number): Promise<void> => {
      const counter = `counter-${index}`
      await write(configMaps, post(configMap(counter, { count: '0' })))
      for (let count = 1; ; count++) {
        await write(`${configMaps}/${counter}`, patch('merge', { data: { count: String(count) } }))
        counters.set(counter, count)
        for (const [list, name] of [
          [made, `made-${index}-${count}`],
          [gone, `gone-${index}-${count}`],
        ] as const) {
          await write(configMaps, post(configMap(name)))
          if (list === gone) await write(`${configMaps}/${name}`, remove())
          list.push(name)
        }
        if (made.length >= 200 && counters.size === writersCount) enough.resolve()
      }
    }
    const writers = Promise.allSettled(Array.from({ length: writersCount }, (_, index) => writer(index)))
    await enough.promise
    await program.end('SIGKILL')
    await writers
    api.close()

    const after = await start()
    const { items } = await after.api.object(configMaps)
    const found = new Map<string, Any>(items.map((item: Any) => [item.metadata.name, item.data]))
    expect(made.filter((name) => !found.has(name))).toEqual([])
    expect(gone.filter((name) => found.has(name))).toEqual([])
    for (const [name, count] of counters) {
      // The next one may have been stored without its answer having arrived.
      expect([count, count + 1]).toContain(Number(found.get(name).count))
    }
    const { metadata } = await after.api.object(configMaps, post(configMap('afterwards')))
    expect(Number(metadata.resourceVersion), 'no version is given twice').toBeGreaterThan(latest)
    after.api.close()
  })
})
