import { ApiError, type KubernetesObject, type Resource, staleVersion } from '@coracle/api'
import { createFakeClient, type FakeClient } from '@coracle/client/testing'
import { createLogger, type LogLine, type VirtualEnvironment, virtualEnvironment } from '@coracle/environment'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { type Controller, controller } from './controller.ts'
import { createManager, type ManagerOptions } from './manager.ts'
import { generationChanged } from './predicates.ts'
import type { Lookup } from './reconcile.ts'
import { gadget, gadgets, widget, widgets } from './testing/resources.ts'

let environment: VirtualEnvironment
let client: FakeClient
let lines: LogLine[]

beforeEach(() => {
  lines = []
  environment = virtualEnvironment({ logger: createLogger((line) => lines.push(line)) })
  client = createFakeClient(environment)
})

async function run(described: Controller, options: Partial<ManagerOptions> = {}) {
  const manager = createManager({ client, environment, ...options })
  manager.add(described)
  const started = manager.start()
  await environment.clock.settle()
  await started
  return manager
}

describe('what is reconciled when', () => {
  it('reconciles every object there is, and those that change', async () => {
    await client.create(widgets, widget('a', 0))
    const keys: string[] = []
    await run(
      controller('test')
        .for(widgets)
        .reconcile(async ({ key, object }) => void keys.push(`${key} ${object?.spec.gadgets}`)),
    )
    expect(keys).toEqual(['default/a 0'])
    await client.create(widgets, widget('b', 1))
    await environment.clock.settle()
    await client.delete(widgets, { namespace: 'default', name: 'a' })
    await environment.clock.settle()
    expect(keys).toEqual(['default/a 0', 'default/b 1', 'default/a undefined'])
  })

  it('watches all resources of a feed, as they come and go', async () => {
    let resources: readonly Resource[] = [gadgets]
    let changed = () => {}
    const feed = {
      resources: () => resources,
      onResourcesChange: (listener: () => void) => {
        changed = listener
        return () => {}
      },
    }
    const serve = async (...served: readonly Resource[]) => {
      resources = served
      changed()
      await environment.clock.settle()
    }
    const keys: string[] = []
    const gizmos = { ...gadgets, kind: 'Gizmo', plural: 'gizmos' }
    const ignored = { ...gadgets, kind: 'Ignored', plural: 'ignored' }
    const keysOf = (resource: Resource) =>
      resource === ignored
        ? undefined
        : ({ metadata }: KubernetesObject, lookup: Lookup) => [
            `${metadata.name} of ${lookup.informer(resource).list().length} ${resource.plural}`,
          ]
    await run(
      controller('test')
        .for(widgets)
        .watchesAll(feed, keysOf)
        .reconcile(async ({ key }) => void keys.push(key)),
    )
    const make = async (resource: Resource, name: string) => {
      await client.create(resource, { ...gadget(widget('x', 0)), metadata: { namespace: 'default', name } })
      await environment.clock.settle()
    }
    await make(gadgets, 'a')
    await make(gizmos, 'early')
    await serve(gadgets, gizmos, ignored)
    await make(gizmos, 'b')
    await make(ignored, 'c')
    await serve(gizmos)
    await make(gadgets, 'late')
    await make(gizmos, 'd')
    expect(keys).toEqual(['a of 1 gadgets', 'early of 1 gizmos', 'b of 2 gizmos', 'd of 3 gizmos'])
    expect(client.calls.filter(({ verb, plural }) => verb === 'watch' && plural === 'ignored')).toEqual([])
  })

  it('reconciles the owner of what it owns, and both owners when it changes hands', async () => {
    const a = await client.create(widgets, widget('a', 0))
    const b = await client.create(widgets, widget('b', 0))
    const keys: string[] = []
    await run(
      controller('test')
        .for(widgets)
        .owns(gadgets)
        .reconcile(async ({ name }) => void keys.push(name)),
    )
    keys.length = 0
    const owned = await client.create(gadgets, gadget(a))
    await environment.clock.settle()
    expect(keys).toEqual(['a'])
    await client.update(gadgets, {
      ...owned,
      metadata: { ...owned.metadata, ownerReferences: gadget(b).metadata.ownerReferences ?? [] },
    })
    await environment.clock.settle()
    expect(keys.slice(1).sort()).toEqual(['a', 'b'])
  })

  it('does not mistake an owner of another kind for its own', async () => {
    const keys: string[] = []
    await run(
      controller('test')
        .for(widgets)
        .owns(gadgets)
        .reconcile(async ({ name }) => void keys.push(name)),
    )
    const owner = { apiVersion: 'other.com/v1', kind: 'Widget', name: 'x', uid: 'u', controller: true }
    await client.create(gadgets, {
      ...gadget(widget('x', 0)),
      metadata: { name: 'g', namespace: 'default', ownerReferences: [owner] },
    })
    await environment.clock.settle()
    expect(keys).toEqual([])
  })

  it('maps what it watches to keys, with the caches at hand', async () => {
    await client.create(widgets, widget('a', 0))
    await client.create(widgets, widget('b', 0))
    const keys: string[] = []
    const described = controller('test')
      .for(widgets)
      .watches(gadgets, (_, lookup) =>
        lookup
          .informer(widgets)
          .list()
          .map((each) => `default/${each.metadata.name}`),
      )
      .reconcile(async ({ name }) => void keys.push(name))
    await run(described)
    keys.length = 0
    await client.create(gadgets, {
      apiVersion: 'example.com/v1',
      kind: 'Gadget',
      metadata: { namespace: 'default', name: 'g' },
    })
    await environment.clock.settle()
    expect(keys).toEqual(['a', 'b'])
  })

  it('goes on from key to key at once where there are few, and lets others have the process when it has worked for long', async () => {
    const { clock } = environment
    let runs = 0
    let workedMs = 0
    /** How many were reconciled when a turn of the event loop ended. */
    const ends: number[] = []
    await run(
      controller('test', { maxConcurrentReconciles: 1 })
        .for(widgets)
        .reconcile(async () => {
          runs += 1
          workedMs += 2
        }),
    )
    const startMs = clock.monotonicMs()
    vi.spyOn(clock, 'monotonicMs').mockImplementation(() => startMs + workedMs)
    const defer = clock.defer.bind(clock)
    const turns = vi.spyOn(clock, 'defer').mockImplementation((callback) =>
      defer(() => {
        ends.push(runs)
        callback()
      }),
    )
    for (const name of ['a', 'b']) await client.create(widgets, widget(name, 0))
    await clock.settle()
    expect([runs, turns.mock.calls.length]).toEqual([2, 0])
    const names = Array.from({ length: 50 }, (_, index) => `c-${index}`)
    for (const name of names) await client.create(widgets, widget(name, 0))
    await clock.settle()
    expect(runs).toBe(52)
    // Eight before anybody looks at the clock, and those of ten milliseconds.
    const most = Math.max(...ends.map((end, index) => end - (ends[index - 1] ?? 2)))
    expect(most).toBeLessThanOrEqual(8 + 10 / 2)
    expect(ends.length).toBeGreaterThanOrEqual(4)
  })

  it('leaves out changes that a predicate rules out', async () => {
    let runs = 0
    await run(
      controller('test')
        .for(widgets, { predicates: [generationChanged] })
        .reconcile(async () => void runs++),
    )
    const created = await client.create(widgets, widget('a', 0))
    await environment.clock.settle()
    await client.update(widgets, { ...created, status: { gadgets: 7 } }, { subresource: 'status' })
    await environment.clock.settle()
    expect(runs).toBe(1)
    await client.patch(widgets, { namespace: 'default', name: 'a' }, { type: 'merge', body: { spec: { gadgets: 1 } } })
    await environment.clock.settle()
    expect(runs).toBe(2)
  })

  it('says what is missing when a cache is read that was not declared', async () => {
    await client.create(widgets, widget('a', 0))
    await run(
      controller('test')
        .for(widgets)
        .reconcile(async (_, context) => void context.informer(gadgets).list()),
    )
    expect(String(lines.find((line) => line.level === 'error')?.fields.error)).toContain('add .reads(…)')
  })
})

describe('outcomes of a reconcile', () => {
  it('looks again after the time asked for', async () => {
    await client.create(widgets, widget('a', 0))
    const times: number[] = []
    const described = controller('test')
      .for(widgets)
      .reconcile(async () => {
        times.push(environment.clock.monotonicMs())
        return { requeueAfterMs: 60_000 }
      })
    await run(described)
    await environment.clock.advance('2m')
    expect(times).toEqual([0, 60_000, 120_000])
  })

  it('tries again with growing waits after a failure, and logs each', async () => {
    await client.create(widgets, widget('a', 0))
    const times: number[] = []
    const described = controller('test')
      .for(widgets)
      .reconcile(async () => {
        times.push(environment.clock.monotonicMs())
        if (times.length < 5) throw new Error('not yet')
      })
    await run(described)
    await environment.clock.advance('1m')
    expect(times).toEqual([0, 5, 15, 35, 75])
    const errors = lines.filter((line) => line.level === 'error')
    expect(errors).toHaveLength(4)
    expect(errors[0]).toMatchObject({
      message: 'reconcile failed, trying again',
      fields: { controller: 'test', key: 'default/a' },
    })
  })

  it('takes a conflict for normal', async () => {
    await client.create(widgets, widget('a', 0))
    let runs = 0
    const described = controller('test')
      .for(widgets)
      .reconcile(async () => {
        if (runs++ === 0) throw staleVersion({ group: 'example.com', plural: 'widgets' }, 'a')
      })
    await run(described)
    await environment.clock.advance('1s')
    expect(runs).toBe(2)
    expect(lines.filter((line) => line.level === 'error')).toEqual([])
  })
})

describe('reconciles at the same time', () => {
  it('never runs one key twice at once, and runs as many keys as allowed', async () => {
    for (let index = 0; index < 6; index++) await client.create(widgets, widget(`w${index}`, 0))
    const running = new Set<string>()
    let most = 0
    const described = controller('test', { maxConcurrentReconciles: 3 })
      .for(widgets)
      .reconcile(async ({ key }) => {
        expect(running.has(key)).toBe(false)
        running.add(key)
        most = Math.max(most, running.size)
        await new Promise<void>((resolve) => environment.clock.setTimer(1000, resolve))
        running.delete(key)
      })
    await run(described)
    for (let turn = 0; turn < 5; turn++) {
      const body = { spec: { gadgets: turn + 1 } }
      await client.patch(widgets, { namespace: 'default', name: 'w0' }, { type: 'merge', body })
      await environment.clock.advance(300)
    }
    await environment.clock.advance('10s')
    expect(most).toBe(3)
    expect(lines.filter((line) => line.level === 'error')).toEqual([])
  })

  it('stops when the reconciles under way have ended, and starts none after', async () => {
    await client.create(widgets, widget('a', 0))
    const history: string[] = []
    const described = controller('test')
      .for(widgets)
      .reconcile(async ({ name }, { signal }) => {
        history.push(`${name} begins`)
        await new Promise<void>((resolve) => environment.clock.setTimer(5000, resolve))
        history.push(`${name} ends, aborted: ${signal.aborted}`)
        return { requeueAfterMs: 1 }
      })
    const manager = await run(described)
    const stopped = manager.stop().then(() => history.push('stopped'))
    await client.create(widgets, widget('b', 0))
    await environment.clock.advance('1m')
    await stopped
    expect(history).toEqual(['a begins', 'a ends, aborted: true', 'stopped'])
  })
})

describe('managers that compete', () => {
  it('lets one lead, and the next take over when it stops', async () => {
    const history: string[] = []
    const managerOf = (identity: string) => {
      const manager = createManager({
        client,
        environment,
        identity,
        leaderElection: { namespace: 'kube-system', name: 'test' },
      })
      manager.add(
        controller('test')
          .for(widgets)
          .reconcile(async ({ name }) => void history.push(`${identity} ${name}`)),
      )
      return manager
    }
    const [one, two] = [managerOf('one'), managerOf('two')]
    await Promise.all([one.start(), environment.clock.settle()])
    await Promise.all([two.start(), environment.clock.settle()])
    await client.create(widgets, widget('a', 0))
    await environment.clock.advance('1m')
    expect(history).toEqual(['one a'])
    await one.stop()
    await environment.clock.advance('10s')
    expect(history).toEqual(['one a', 'two a'])
    await two.stop()
  })

  it('stops its controllers while it cannot hold the lease, and goes on when it can again', async () => {
    let runs = 0
    await client.create(widgets, widget('a', 0))
    const described = controller('test')
      .for(widgets)
      .reconcile(async () => {
        runs++
        return { requeueAfterMs: 1000 }
      })
    const manager = await run(described, {
      identity: 'one',
      leaderElection: { namespace: 'kube-system', name: 'test' },
    })
    await environment.clock.advance('5s')
    expect(runs).toBe(6)
    const restore = client.intercept((call) => {
      if (call.plural === 'leases') throw new ApiError(500, 'InternalError', 'down')
    })
    await environment.clock.advance('30s')
    const afterLoss = runs
    await environment.clock.advance('30s')
    expect(runs).toBe(afterLoss)
    restore()
    await environment.clock.advance('10s')
    expect(runs).toBeGreaterThan(afterLoss)
    await manager.stop()
  })
})

describe('a controller of a manager that runs', () => {
  it('may come late, and be stopped alone', async () => {
    await client.create(widgets, widget('a', 0))
    const seen: string[] = []
    const noting = (name: string) =>
      controller(name)
        .for(widgets)
        .reconcile(async ({ key }) => void seen.push(`${name} ${key}`))
    const manager = await run(noting('early'))
    const stopLate = manager.add(noting('late'))
    await environment.clock.settle()
    expect(seen).toEqual(['early default/a', 'late default/a'])
    await stopLate()
    await client.create(widgets, widget('b', 0))
    await environment.clock.settle()
    expect(seen.slice(2)).toEqual(['early default/b'])
    await manager.stop()
  })

  it('may be replaced by one that has its indexes and aggregates by other functions', async () => {
    await client.create(widgets, widget('a', 2))
    const sizes: number[] = []
    const counting = () => {
      let count = 0
      const aggregate = { add: () => void count++, remove: () => void count-- }
      return controller('counting')
        .for(widgets, { indexes: { size: ({ spec }) => [String(spec.gadgets)] }, aggregates: [aggregate] })
        .reconcile(async (_, { informer }) => void sizes.push(count, informer(widgets).byIndex('size', '2').length))
    }
    const manager = createManager({ client, environment })
    const stop = manager.add(counting())
    const started = manager.start()
    await environment.clock.settle()
    await started
    await stop()
    manager.add(counting())
    await environment.clock.settle()
    expect(sizes).toEqual([1, 1, 1, 1])
    await manager.stop()
  })

  it('ends what it does before it counts as stopped', async () => {
    let finish = () => {}
    const slow = controller('slow')
      .for(widgets)
      .reconcile(async () => {
        await new Promise<void>((resolve) => {
          finish = resolve
        })
        return undefined
      })
    const manager = createManager({ client, environment })
    const stop = manager.add(slow)
    const started = manager.start()
    await client.create(widgets, widget('a', 0))
    await environment.clock.settle()
    await started
    let isStopped = false
    const stopped = stop().then(() => {
      isStopped = true
    })
    await environment.clock.settle()
    expect(isStopped).toBe(false)
    finish()
    await environment.clock.settle()
    await stopped
    await manager.stop()
  })
})
