import { createFakeClient, type FakeClient } from '@coracle/client/testing'
import { type VirtualEnvironment, virtualEnvironment } from '@coracle/environment'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { controller } from './controller.ts'
import { createManager, type Manager } from './manager.ts'
import type { ReconcileContext, Request } from './reconcile.ts'
import { heldChangesMax, ReconcileWrites } from './reconcile-writes.ts'
import { type Gadget, gadget, gadgets, type Widget, widget, widgets } from './testing/resources.ts'

let environment: VirtualEnvironment
let client: FakeClient
let manager: Manager
let looks: number

beforeEach(() => {
  environment = virtualEnvironment()
  client = createFakeClient(environment)
  looks = 0
})

afterEach(() => manager.stop())

const key = { namespace: 'default', name: 'web' }

/** Makes and removes gadgets until there are as many as are asked for, and says how many there are. */
async function bringAbout({ object }: Request<Widget>, context: ReconcileContext<Widget>): Promise<void> {
  if (object === undefined) return
  const present = context.owned(gadgets)
  for (let count = present.length; count < object.spec.gadgets; count++)
    await context.client.create(gadgets, gadget(object))
  for (const { metadata } of present.slice(object.spec.gadgets))
    await context.client.delete(gadgets, { namespace: 'default', name: metadata.name ?? '' })
  const status = { gadgets: object.spec.gadgets }
  if (object.status?.gadgets !== status.gadgets)
    await context.client.update<Widget>(widgets, { ...object, status }, { subresource: 'status' })
}

async function start(isSettled: boolean, during = async (_context: ReconcileContext<Widget>) => {}): Promise<void> {
  manager = createManager({ client, environment })
  const described = controller('test')
    .for(widgets)
    .owns(gadgets)
    .reconcile(async (request, context) => {
      looks++
      await bringAbout(request, context)
      await during(context)
      return { isSettled }
    })
  manager.add(described)
  await manager.start()
  await environment.clock.settle()
}

async function ask(count: number): Promise<void> {
  await client.patch(widgets, key, { type: 'merge', body: { spec: { gadgets: count } } })
  await environment.clock.advance('1m')
}

describe('what a reconcile has written', () => {
  it.each([
    ['is looked at', false, 2],
    ['is left out where it is settled', true, 1],
  ])('%s', async (_, isSettled, expected) => {
    await client.create(widgets, widget('web', 2))
    await start(isSettled)
    await environment.clock.advance('1m')
    expect([looks, client.stored(gadgets).length]).toEqual([expected, 2])
    looks = 0
    await ask(1)
    expect([looks, client.stored(gadgets).length]).toEqual([expected, 1])
  })

  it('is left out also where the cache shows it later', async () => {
    await client.create(widgets, widget('web', 1))
    client.holdWatches(gadgets)
    await start(true)
    client.releaseWatches()
    await environment.clock.advance('1m')
    expect(looks).toBe(1)
    await client.delete(gadgets, { namespace: 'default', name: client.stored(gadgets)[0]?.metadata.name ?? '' })
    await environment.clock.advance('1m')
    expect([looks, client.stored(gadgets).length]).toEqual([2, 1])
  })

  it.each([
    ['while a settled reconcile is under way', true],
    ['after it', false],
  ])('is told from what others change %s', async (_, isDuring) => {
    await client.create(widgets, widget('web', 1))
    const change = async () => {
      const name = client.stored(gadgets)[0]?.metadata.name ?? ''
      await client.patch(
        gadgets,
        { namespace: 'default', name },
        { type: 'merge', body: { metadata: { labels: { a: 'b' } } } },
      )
    }
    await start(true, async () => {
      if (isDuring && looks === 1) await change()
    })
    if (!isDuring) await change()
    await environment.clock.advance('1m')
    expect(looks).toBe(2)
  })
})

describe('a change that comes while a write is under way', () => {
  const seen = (version: string): Gadget => ({
    ...gadget(widget('web', 1)),
    metadata: { namespace: 'default', name: 'g', uid: 'g', resourceVersion: version },
  })
  const told: string[] = []
  const hold = (writes: ReconcileWrites, version: string): boolean =>
    writes.holds(gadgets, { type: 'add', object: seen(version) }, () => told.push(version))

  beforeEach(() => {
    told.length = 0
    manager = createManager({ client, environment })
  })

  it('is told on with all others when the write turns out to be another', () => {
    const writes = new ReconcileWrites()
    expect(hold(writes, '1')).toBe(false)
    writes.begin()
    expect([hold(writes, '1'), hold(writes, '2')]).toEqual([true, true])
    writes.wrote(gadgets, 'default/g', '2')
    expect(told).toEqual([])
    writes.end()
    expect(told).toEqual(['1', '2'])
    expect(hold(writes, '2')).toBe(false)
  })

  it('is held where it is the write', () => {
    const writes = new ReconcileWrites()
    writes.begin()
    expect(hold(writes, '2')).toBe(true)
    writes.wrote(gadgets, 'default/g', '2')
    writes.end()
    expect([hold(writes, '2'), told]).toEqual([true, []])
    expect(hold(writes, '3')).toBe(false)
    expect(told).toEqual(['2', '2'])
  })

  it('is told on at once where too many wait, and so are these', () => {
    const writes = new ReconcileWrites()
    writes.begin()
    for (let version = 0; version < heldChangesMax; version++) expect(hold(writes, String(version))).toBe(true)
    expect(hold(writes, 'more')).toBe(false)
    expect(told).toHaveLength(heldChangesMax)
  })
})
