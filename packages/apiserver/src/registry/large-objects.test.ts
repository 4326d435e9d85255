import { configMaps, type KubernetesObject, objectValuesMax } from '@coracle/api'
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
    expect(await pausesOf(create)).toBe(6)
  })

  it.each([
    ['many values', keys(largeObjectValuesMin, 'some text')],
    ['much text', { text: 'x'.repeat(largeObjectBytesMin) }],
  ])('of changing one of %s, by an update or a patch', async (_, data) => {
    const { client, pausesOf } = await start()
    const create = client.create(configMaps, configMap('made', data))
    await pausesOf(create)
    expect(await pausesOf(client.update(configMaps, { ...(await create), data: { ...data, more: '' } }))).toBe(6)
    expect(await pausesOf(client.patch(configMaps, made, labelled))).toBe(6)
  })
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
