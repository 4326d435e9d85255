import type { KubernetesObject } from '@coracle/api'
import { createFakeClient, type FakeClient } from '@coracle/client/testing'
import { createLogger, type LogLine, type VirtualEnvironment, virtualEnvironment } from '@coracle/environment'
import { beforeEach, describe, expect, it } from 'vitest'
import { type Controller, controller } from './controller.ts'
import { createChannel } from './key-source.ts'
import { createManager } from './manager.ts'
import { gadget, gadgets, widget, widgets } from './testing/resources.ts'

let environment: VirtualEnvironment
let client: FakeClient
let lines: LogLine[]

beforeEach(() => {
  lines = []
  environment = virtualEnvironment({ logger: createLogger((line) => lines.push(line)) })
  client = createFakeClient(environment)
})

async function run(described: Controller) {
  const manager = createManager({ client, environment })
  manager.add(described)
  const started = manager.start()
  await environment.clock.settle()
  await started
  return manager
}

const namesOf = (objects: readonly KubernetesObject[]) => objects.map(({ metadata }) => metadata.name)

describe('what is fresh', () => {
  it('goes before what was there at the start', async () => {
    for (const name of ['a', 'b', 'c']) await client.create(widgets, widget(name, 0))
    const keys: string[] = []
    const manager = createManager({ client, environment })
    manager.add(
      controller('test', { maxConcurrentReconciles: 1 })
        .for(widgets)
        .reconcile(async ({ name }) => {
          keys.push(name)
          if (keys.length === 1) await client.create(widgets, widget('new', 0))
          await new Promise<void>((resolve) => environment.clock.setTimer(1000, resolve))
        }),
    )
    const started = manager.start()
    await environment.clock.advance('1m')
    await started
    expect(keys).toEqual(['a', 'new', 'b', 'c'])
    await manager.stop()
  })

  it('goes before a resync, which looks at everything again', async () => {
    for (const name of ['a', 'b', 'c']) await client.create(widgets, widget(name, 0))
    const keys: string[] = []
    const manager = await run(
      controller('test', { maxConcurrentReconciles: 1, resyncPeriodMs: 60_000 })
        .for(widgets)
        .reconcile(async ({ name }) => {
          keys.push(name)
          if (keys.length === 4) await client.create(widgets, widget('new', 0))
          await new Promise<void>((resolve) => environment.clock.setTimer(1000, resolve))
        }),
    )
    await environment.clock.advance('59s')
    expect(keys).toEqual(['a', 'b', 'c'])
    await environment.clock.advance('30s')
    expect(keys.slice(3)).toEqual(['a', 'new', 'b', 'c'])
    await manager.stop()
    await environment.clock.advance('5m')
    expect(keys).toHaveLength(7)
  })
})

describe('a channel', () => {
  it('has keys reconciled by all who listen, for as long as they run', async () => {
    await client.create(widgets, widget('a', 0))
    const channel = createChannel()
    const keys: string[] = []
    const listening = (name: string) =>
      controller(name)
        .for(widgets)
        .watchesSource(channel)
        .reconcile(async ({ key }) => void keys.push(`${name} ${key}`))
    const manager = await run(listening('one'))
    const stopTwo = manager.add(listening('two'))
    await environment.clock.settle()
    keys.length = 0
    channel.send('default/a')
    await environment.clock.settle()
    expect(keys).toEqual(['one default/a', 'two default/a'])
    await stopTwo()
    channel.send('default/a')
    await environment.clock.settle()
    expect(keys.slice(2)).toEqual(['one default/a'])
    await manager.stop()
  })

  it('may be anything else that adds keys; what goes wrong there is logged', async () => {
    const keys: string[] = []
    const polled = {
      async start(add: (key: string) => void) {
        add('default/polled')
        throw new Error('the other side is away')
      },
    }
    const manager = await run(
      controller('test')
        .for(widgets)
        .watchesSource(polled)
        .reconcile(async ({ key }) => void keys.push(key)),
    )
    expect(keys).toEqual(['default/polled'])
    expect(lines).toMatchObject([{ level: 'error', message: 'source failed', fields: { controller: 'test' } }])
    await manager.stop()
  })
})

describe('watches that ask which keys are concerned', () => {
  it('ask the server, and reconcile what it says', async () => {
    await client.create(widgets, widget('a', 0))
    await client.create(widgets, widget('b', 0))
    const keys: string[] = []
    const manager = await run(
      controller('test')
        .for(widgets)
        .watchesAsync(gadgets, async () => namesOf((await client.list(widgets)).items).map((name) => `default/${name}`))
        .reconcile(async ({ name }) => void keys.push(name)),
    )
    keys.length = 0
    await client.create(gadgets, gadget(widget('x', 0)))
    await environment.clock.settle()
    expect(keys).toEqual(['a', 'b'])
    await manager.stop()
  })

  it('ask again when an answer fails, about every state the object was in', async () => {
    const asked: (string | undefined)[] = []
    const keys: string[] = []
    let isDown = true
    const manager = await run(
      controller('test')
        .for(widgets)
        .watchesAsync(gadgets, async ({ spec }) => {
          asked.push(spec?.color)
          if (isDown) throw new Error('not now')
          return [`default/${spec?.color}`]
        })
        .reconcile(async ({ name }) => void keys.push(name)),
    )
    const made = await client.create(gadgets, { ...gadget(widget('x', 0)), spec: { color: 'red' } })
    await client.update(gadgets, { ...made, spec: { color: 'blue' } })
    await environment.clock.settle()
    expect([asked[0], keys]).toEqual(['red', []])
    expect(lines[0]).toMatchObject({ level: 'error', message: 'mapping failed, trying again' })
    isDown = false
    await environment.clock.advance('1s')
    expect(keys.sort()).toEqual(['blue', 'red'])
    await manager.stop()
  })
})

describe('a manager confined to some namespaces', () => {
  it('reconciles what is there alone, and sees its own writes there', async () => {
    const elsewhere = widget('far', 1, { namespace: 'elsewhere' })
    for (const object of [widget('near', 1), elsewhere]) await client.create(widgets, object)
    const keys: string[] = []
    const manager = createManager({ client, environment, caches: () => ({ namespaces: ['default', 'other'] }) })
    manager.add(
      controller('test')
        .for(widgets)
        .owns(gadgets)
        .reconcile(async ({ key, object }, { client, owned }) => {
          keys.push(key)
          if (object !== undefined && owned(gadgets).length === 0)
            await client.create(gadgets, gadget(object, { namespace: object.metadata.namespace ?? '' }))
        }),
    )
    const started = manager.start()
    await environment.clock.settle()
    await started
    await client.create(widgets, widget('late', 1, { namespace: 'other' }))
    await environment.clock.settle()
    expect([...new Set(keys)]).toEqual(['default/near', 'other/late'])
    expect(client.stored(gadgets)).toHaveLength(2)
    await manager.stop()
  })
})

describe('what belongs to others', () => {
  it('is not judged by the predicates of what is owned', async () => {
    const owner = await client.create(widgets, widget('a', 0))
    const judged: (string | undefined)[] = []
    const note = ({ object }: { readonly object: KubernetesObject }): boolean => {
      judged.push(object.metadata.name)
      return true
    }
    const manager = await run(
      controller('test')
        .for(widgets)
        .owns(gadgets, { predicates: [note] })
        .reconcile(async () => undefined),
    )
    await client.create(gadgets, gadget(owner, { name: 'own' }))
    const free = await client.create(gadgets, gadget(owner, { name: 'free', ownerReferences: [] }))
    await environment.clock.settle()
    expect(judged).toEqual(['own'])
    const { ownerReferences = [] } = gadget(owner).metadata
    await client.update(gadgets, { ...free, metadata: { ...free.metadata, ownerReferences } })
    await environment.clock.settle()
    expect(judged).toEqual(['own', 'free'])
    await manager.stop()
  })
})

describe('what a failed key waits for', () => {
  it('has it tried again at once, where it is in its namespace and the change gives hope', async () => {
    const tried: string[] = []
    const manager = await run(
      controller('test')
        .for(widgets)
        .retriesOn(gadgets, { predicates: [({ object }) => object.metadata.name !== 'useless'] })
        .reconcile(async ({ key }) => {
          tried.push(key)
          throw new Error('there is no room')
        }),
    )
    const inOther = { ...widget('b', 0), metadata: { namespace: 'other', name: 'b' } }
    for (const each of [widget('a', 0), inOther]) await client.create(widgets, each)
    // The wait doubles with each failure: by now it is minutes.
    await environment.clock.advance('10m')
    tried.length = 0
    await client.create(gadgets, gadget(widget('a', 0), { name: 'useless' }))
    await environment.clock.settle()
    expect(tried).toEqual([])
    await client.create(gadgets, gadget(widget('a', 0), { name: 'useful' }))
    await environment.clock.settle()
    expect(tried).toEqual(['default/a'])
    await manager.stop()
  })
})
