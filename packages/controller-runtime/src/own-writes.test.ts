import { type Client, routeClient } from '@coracle/client'
import { createFakeClient, type FakeClient } from '@coracle/client/testing'
import { type VirtualEnvironment, virtualEnvironment } from '@coracle/environment'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { controller } from './controller.ts'
import { createManager, type Manager } from './manager.ts'
import type { Reconcile } from './reconcile.ts'
import { type Gadget, gadget, gadgets, type Widget, widget, widgets } from './testing/resources.ts'

let environment: VirtualEnvironment
let client: FakeClient
let manager: Manager

beforeEach(() => {
  environment = virtualEnvironment()
  client = createFakeClient(environment)
})

afterEach(() => manager.stop())

/** Makes and removes gadgets until there are as many as the widget asks for, as far as the cache shows. */
const reconcileCount: Reconcile<Widget> = async ({ object }, context) => {
  if (object === undefined) return
  const present = context.owned(gadgets).filter((each) => each.metadata.deletionTimestamp === undefined)
  for (let count = present.length; count < object.spec.gadgets; count++)
    await context.client.create(gadgets, gadget(object))
  for (const { metadata } of present.slice(object.spec.gadgets)) {
    await context.client.delete(gadgets, { namespace: 'default', name: metadata.name ?? '' })
  }
}

async function start(reconcile: Reconcile<Widget>, options: { readonly labelSelector?: string } = {}): Promise<void> {
  manager = createManager({ client, environment })
  manager.add(controller('test').for(widgets).owns(gadgets, options).reconcile(reconcile))
  await manager.start()
  await environment.clock.settle()
}

/** Has the widget reconciled again for a reason of its own, while the caches of others lag. */
async function touch(through: Client = client): Promise<void> {
  const body = { metadata: { annotations: { touched: String(client.calls.length) } } }
  await through.patch(widgets, { namespace: 'default', name: 'web' }, { type: 'merge', body })
  await environment.clock.advance('1s')
}

const callsOf = (verb: string, plural: string) =>
  client.calls.filter((call) => call.verb === verb && call.plural === plural).length

describe('a reconcile never sees a cache older than its own writes', () => {
  it('does not create again what its cache does not show yet', async () => {
    await client.create(widgets, widget('web', 3))
    client.holdWatches(gadgets)
    await start(reconcileCount)
    expect(client.stored(gadgets)).toHaveLength(3)
    await touch()
    await touch()
    expect(client.stored(gadgets)).toHaveLength(3)
    client.releaseWatches()
    await environment.clock.advance('1m')
    expect(client.stored(gadgets)).toHaveLength(3)
  })

  it('goes on as soon as the cache has caught up', async () => {
    await client.create(widgets, widget('web', 1))
    client.holdWatches(gadgets)
    await start(reconcileCount)
    const body = { spec: { gadgets: 2 } }
    await client.patch(widgets, { namespace: 'default', name: 'web' }, { type: 'merge', body })
    await environment.clock.advance('1m')
    expect(client.stored(gadgets)).toHaveLength(1)
    client.releaseWatches()
    await environment.clock.settle()
    expect(client.stored(gadgets)).toHaveLength(2)
  })

  it.each([
    ['gone', []],
    ['kept by finalizers', ['example.com/keep']],
  ])('does not delete again what its cache still shows: %s', async (_, finalizers) => {
    const owner = await client.create(widgets, widget('web', 0))
    for (const name of ['a', 'b']) await client.create(gadgets, gadget(owner, { name, finalizers }))
    client.holdWatches(gadgets)
    await start(reconcileCount)
    expect(callsOf('delete', 'gadgets')).toBe(2)
    await touch()
    expect(callsOf('delete', 'gadgets')).toBe(2)
    client.releaseWatches()
    await environment.clock.advance('1m')
    await touch()
    expect(callsOf('delete', 'gadgets')).toBe(2)
  })

  it('waits for a delete of what it has only just created', async () => {
    await client.create(widgets, widget('web', 1))
    const seen: number[] = []
    client.holdWatches(gadgets)
    await start(async ({ object }, context) => {
      if (object === undefined) return
      seen.push(context.owned(gadgets).length)
      if (seen.length > 1) return
      const { metadata } = await context.client.create(gadgets, gadget(object))
      await context.client.delete(gadgets, { namespace: 'default', name: metadata.name ?? '' })
    })
    await touch()
    client.releaseWatches()
    await environment.clock.advance('1m')
    expect(seen.length).toBeGreaterThan(1)
    expect(new Set(seen)).toEqual(new Set([0]))
  })

  it('sees the version it has written of the object itself', async () => {
    await client.create(widgets, widget('web', 0))
    client.holdWatches(widgets)
    let counted = 0
    await start(async ({ object }, context) => {
      if (object === undefined) return
      counted++
      if (counted > 5) return
      const status = { gadgets: (object.status?.gadgets ?? 0) + 1 }
      const { resourceVersion: _, ...metadata } = object.metadata
      await context.client.update(widgets, { ...object, metadata, status }, { subresource: 'status' })
      return { requeueAfterMs: 100 }
    })
    for (let turn = 0; turn < 10; turn++) {
      await environment.clock.advance('1s')
      client.releaseWatches()
      await environment.clock.settle()
      client.holdWatches(widgets)
    }
    expect(client.stored(widgets)[0]?.status).toEqual({ gadgets: 5 })
  })

  it('waits for writes that were still under way when the reconcile ended', async () => {
    await client.create(widgets, widget('web', 1))
    let release = () => {}
    const gate = new Promise<void>((resolve) => {
      release = resolve
    })
    client.intercept((call) => (call.verb === 'create' && call.plural === 'gadgets' ? gate : undefined))
    await start(async ({ object }, context) => {
      if (object === undefined || context.owned(gadgets).length > 0) return
      void context.client.create(gadgets, gadget(object))
    })
    await touch()
    expect(callsOf('create', 'gadgets')).toBe(1)
    release()
    await environment.clock.advance('1s')
    await touch()
    expect(client.stored(gadgets)).toHaveLength(1)
  })

  it('does not hold up other keys', async () => {
    await client.create(widgets, widget('web', 1))
    client.holdWatches(gadgets)
    await start(reconcileCount)
    await touch()
    await client.create(widgets, widget('other', 2))
    await environment.clock.advance('1s')
    expect(client.stored(gadgets)).toHaveLength(3)
  })

  it('is not held up by what a selective cache will never show', async () => {
    await client.create(widgets, widget('web', 0))
    let runs = 0
    await start(
      async ({ object }, context) => {
        runs++
        if (object === undefined) return
        if (runs === 1) await context.client.create(gadgets, gadget(object, { labels: { app: 'other' } }))
      },
      { labelSelector: 'app=web' },
    )
    await touch()
    expect(runs).toBe(2)
  })

  it('waits until what has left a selective cache is seen to have left', async () => {
    const owner = await client.create(widgets, widget('web', 0))
    await client.create(gadgets, gadget(owner, { name: 'a', labels: { app: 'web' } }))
    client.holdWatches(gadgets)
    const seen: number[] = []
    await start(
      async (_, context) => {
        const owned: readonly Gadget[] = context.owned(gadgets)
        seen.push(owned.length)
        const body = { metadata: { labels: { app: 'released' } } }
        for (const { metadata } of owned) {
          await context.client.patch(
            gadgets,
            { namespace: 'default', name: metadata.name ?? '' },
            { type: 'merge', body },
          )
        }
      },
      { labelSelector: 'app=web' },
    )
    await touch()
    expect(seen).toEqual([1])
    client.releaseWatches()
    await environment.clock.settle()
    expect(seen).toEqual([1, 0])
  })

  it('holds across a list that replaces a broken watch', async () => {
    await client.create(widgets, widget('web', 2))
    client.holdWatches(gadgets)
    await start(reconcileCount)
    await touch()
    client.dropWatches()
    client.compact()
    client.releaseWatches()
    await environment.clock.advance('1m')
    await touch()
    expect(callsOf('create', 'gadgets')).toBe(2)
  })

  it('does not wait for what was written just before the server was restored from a backup', async () => {
    let present: Client = client
    const seen: (string | undefined)[] = []
    manager = createManager({ client: routeClient(() => present), environment })
    manager.add(
      controller('test')
        .for(widgets)
        .owns(gadgets)
        .reconcile(async ({ object }, context) => {
          seen.push(object?.metadata.resourceVersion)
          if (object?.spec.gadgets === 0) return
          for (let count = 0; count < 2; count++) await context.client.create(gadgets, gadget(object as Widget))
        }),
    )
    await client.create(gadgets, gadget(await client.create(widgets, widget('web', 0))))
    await manager.start()
    await environment.clock.settle()
    client.holdWatches(gadgets)
    const body = { spec: { gadgets: 2 } }
    await client.patch(widgets, { namespace: 'default', name: 'web' }, { type: 'merge', body })
    await environment.clock.advance('1s')
    expect(seen).toEqual(['1', '3'])
    const backup = createFakeClient(environment)
    await backup.create(widgets, widget('web', 0))
    present = backup
    client.dropWatches()
    client.releaseWatches()
    await environment.clock.advance('5s')
    backup.sendBookmarks()
    await environment.clock.advance('1m')
    expect(seen.at(-1)).toBe('1')
    expect(seen.length).toBeGreaterThan(2)
  })

  it('does not wait for dry runs', async () => {
    await client.create(widgets, widget('web', 1))
    let runs = 0
    await start(async ({ object }, context) => {
      runs++
      if (object !== undefined) await context.client.create(gadgets, gadget(object), { dryRun: true })
    })
    await touch()
    expect(runs).toBe(2)
  })
})
