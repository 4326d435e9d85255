import { type ConfigMap, configMaps, type KubernetesObject, objectValuesMax, passPartsMax } from '@coracle/api'
import type { Client } from '@coracle/client'
import { TransactionTooLargeError } from '@coracle/store'
import { createMemoryStore } from '@coracle/store/memory'
import { describe, expect, it, vi } from 'vitest'
import { configMap, refusal, startTestCore } from '../testing/test-core.ts'
import { largeObjectBytesMin, largeObjectValuesMin } from './large-objects.ts'

async function start() {
  const { client, core, environment } = await startTestCore()
  await client.create(configMaps, configMap('other'))
  const waiting: (() => void)[] = []
  vi.spyOn(core.turns, 'take').mockImplementation(() => new Promise((resolve) => waiting.push(resolve)))
  /** How often a write waits for a turn of the event loop. While it waits another request is served. */
  const pausesOf = async (write: Promise<KubernetesObject>): Promise<number> => {
    let isDone = false
    const done = write.finally(() => {
      isDone = true
    })
    for (let pauses = 0; ; pauses += 1) {
      await environment.clock.settle()
      const goOn = waiting.shift()
      if (isDone || goOn === undefined) {
        await done
        return pauses
      }
      await client.get(configMaps, { namespace: 'default', name: 'other' })
      goOn()
    }
  }
  return { client, pausesOf }
}

const keys = (count: number, value = 'x') =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`key-${index}`, value]))

const made = { namespace: 'default', name: 'made' }
const labelled = { type: 'merge', body: { metadata: { labels: { a: 'b' } } } } as const

describe('others are served between the passes', () => {
  it('of creating an object of many values', async () => {
    const { client, pausesOf } = await start()
    const create = client.create(configMaps, configMap('made', keys(largeObjectValuesMin)))
    expect(await pausesOf(create)).toBe(9)
  })

  it.each([
    ['many values', keys(largeObjectValuesMin, 'some text')],
    ['much text', { text: 'x'.repeat(largeObjectBytesMin) }],
  ])('of changing one of %s, by an update or a patch', async (_, data) => {
    const { client, pausesOf } = await start()
    const create = client.create(configMaps, configMap('made', data))
    await pausesOf(create)
    expect(await pausesOf(client.update(configMaps, { ...(await create), data: { ...data, more: '' } }))).toBe(11)
    expect(await pausesOf(client.patch(configMaps, made, labelled))).toBe(11)
  })

  it('of noting the owners of an object, the more the larger it is, whether it is valid or not', async () => {
    const { client, pausesOf } = await start()
    const passes = 4
    const many = keys(passes * passPartsMax, 'not a label')
    const bad = { ...configMap('bad'), metadata: { ...configMap('bad').metadata, labels: many } }
    const refused = async (write: Promise<KubernetesObject>) => {
      let error: unknown
      const pauses = await pausesOf(
        write.catch((each) => {
          error = each
          return configMap('bad')
        }),
      )
      expect(error).toMatchObject({ reason: 'Invalid' })
      return pauses
    }
    expect(await refused(client.create(configMaps, bad))).toBeGreaterThan(2 * passes)
    await pausesOf(client.create(configMaps, configMap('made', keys(1))))
    const patch = { type: 'merge', body: { metadata: { labels: many } } } as const
    expect(await refused(client.patch(configMaps, made, patch))).toBeGreaterThan(2 * passes)
    const { data: _data, ...applied } = bad
    const apply = { type: 'apply', body: { ...applied, metadata: { name: 'applied', labels: many } } } as const
    const byName = { ...made, name: 'applied' }
    expect(await refused(client.patch(configMaps, byName, apply, { fieldManager: 'me' }))).toBeGreaterThan(2 * passes)
  })
})

it('others are served between the passes of an apply that replaces all labels by others', async () => {
  const { client, pausesOf } = await start()
  const passes = 3
  const labels = (prefix: string) =>
    Object.fromEntries(Array.from({ length: passes * passPartsMax }, (_, index) => [`${prefix}-${index}`, 'x']))
  const applied = (name: string) => ({
    type: 'apply' as const,
    body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'made', labels: labels(name) } },
  })
  await pausesOf(client.patch(configMaps, made, applied('old'), { fieldManager: 'me' }))
  const replaced = client.patch(configMaps, made, applied('new'), { fieldManager: 'me' })
  // What is merged, owned, taken away, put back, compared and noted is each gone through by itself.
  expect(await pausesOf(replaced)).toBeGreaterThan(40 * passes)
  expect(Object.keys((await replaced).metadata.labels ?? {})).toHaveLength(passes * passPartsMax)
})

it('a small object is written in one go', async () => {
  const { client, pausesOf } = await start()
  expect(await pausesOf(client.create(configMaps, configMap('made', keys(100))))).toBe(0)
  expect(await pausesOf(client.patch(configMaps, made, labelled))).toBe(0)
})

it('an object of more values than anybody could wait for is refused, also where it comes to them by a patch', async () => {
  const { client } = await startTestCore()
  const message = `The object holds more than ${objectValuesMax} values: spread them over several objects`
  const tooMany = { code: 413, reason: 'RequestEntityTooLarge', message }
  expect(await refusal(client.create(configMaps, configMap('made', keys(objectValuesMax))))).toMatchObject(tooMany)
  await client.create(configMaps, configMap('made', keys(objectValuesMax / 2)))
  const more = Object.fromEntries(
    Object.entries(keys(objectValuesMax / 2)).map(([key, value]) => [`${key}-more`, value]),
  )
  expect(await refusal(client.patch(configMaps, made, { type: 'merge', body: { data: more } }))).toMatchObject(tooMany)
})

describe('an object that is too large for the store with the owners of its fields', () => {
  /** A store that takes values of up to so many bytes, as etcd does. */
  async function limited(valueMax: number) {
    const store = createMemoryStore()
    const commit = store.commit.bind(store)
    let writes = 0
    store.commit = async (transaction) => {
      writes += 1
      for (const each of transaction.operations)
        if (each.type === 'put' && each.value.length > valueMax) throw new TransactionTooLargeError('too large')
      return commit(transaction)
    }
    const { client, registry } = await startTestCore({ store })
    const owners = async () => (await registry(configMaps).get('default', 'made')).owners.length
    return { client, owners, writes: () => writes }
  }
  const data = keys(2_000)
  const valueMax = JSON.stringify(configMap('made', data)).length + 400

  it('is created without them', async () => {
    const { client, owners } = await limited(valueMax)
    const created = await client.create(configMaps, configMap('made', data))
    expect([Object.keys(created.data ?? {}).length, await owners()]).toEqual([2_000, 0])
  })

  it.each<[string, (client: Client, small: ConfigMap) => Promise<ConfigMap>]>([
    ['an update', (client, small) => client.update(configMaps, { ...small, data })],
    ['a patch', (client) => client.patch(configMaps, made, { type: 'merge', body: { data: { ...data, a: null } } })],
  ])('is changed without them by %s', async (_what, change) => {
    const { client, owners } = await limited(valueMax)
    const small = await client.create(configMaps, configMap('made', { a: 'b' }))
    expect(await owners()).toBe(1)
    const { data: changed = {} } = await change(client, small)
    expect([Object.keys(changed).length, await owners()]).toEqual([2_000, 0])
  })

  it('is not applied, which goes by them', async () => {
    const { client } = await limited(valueMax)
    const apply = () => client.apply(configMaps, configMap('made', data), { fieldManager: 'test' })
    expect(await refusal(apply())).toMatchObject({ code: 413, reason: 'RequestEntityTooLarge' })
    await client.create(configMaps, configMap('made', data))
    expect(await refusal(apply())).toMatchObject({ code: 413 })
  })

  it('is refused where it is too large without them, too', async () => {
    const { client, writes } = await limited(valueMax - 2_000)
    const before = writes()
    expect(await refusal(client.create(configMaps, configMap('made', data)))).toMatchObject({ code: 413 })
    expect(writes() - before).toBe(2)
  })
})
