import { createFakeClient, type FakeClient } from '@coracle/client/testing'
import {
  createLogger,
  createMetricsRegistry,
  type LogLine,
  type MetricsRegistry,
  type VirtualEnvironment,
  virtualEnvironment,
} from '@coracle/environment'
import { beforeEach, describe, expect, it } from 'vitest'
import { type Controller, controller } from './controller.ts'
import { createManager } from './manager.ts'
import type { Result } from './reconcile.ts'
import { TerminalError } from './terminal-error.ts'
import { widget, widgets } from './testing/resources.ts'

let environment: VirtualEnvironment
let client: FakeClient
let lines: LogLine[]
let metrics: MetricsRegistry

beforeEach(async () => {
  lines = []
  environment = virtualEnvironment({ logger: createLogger((line) => lines.push(line)) })
  client = createFakeClient(environment)
  metrics = createMetricsRegistry()
  await client.create(widgets, widget('a', 0))
})

const reconciling = (reconcile: () => Promise<Result>): Controller =>
  controller('test').for(widgets).reconcile(reconcile)

async function run(described: Controller) {
  const manager = createManager({ client, environment, metrics })
  manager.add(described)
  const started = manager.start()
  await environment.clock.settle()
  await started
  return manager
}

describe('a terminal error', () => {
  it('is not tried again until something changes', async () => {
    let runs = 0
    await run(
      reconciling(async () => {
        runs++
        throw new TerminalError('spec.gadgets makes no sense')
      }),
    )
    await environment.clock.advance('1h')
    expect(runs).toBe(1)
    expect(lines).toMatchObject([
      { level: 'error', message: 'reconcile failed for good', fields: { key: 'default/a' } },
    ])
    await client.patch(widgets, { namespace: 'default', name: 'a' }, { type: 'merge', body: { spec: { gadgets: 1 } } })
    await environment.clock.advance('1h')
    expect(runs).toBe(2)
  })

  it('lets the next failure begin with the shortest wait', async () => {
    const times: number[] = []
    await run(
      reconciling(async () => {
        times.push(environment.clock.monotonicMs())
        if (times.length === 3) throw new TerminalError('never')
        throw new Error('not yet')
      }),
    )
    await environment.clock.advance('1s')
    expect(times).toEqual([0, 5, 15])
    await client.patch(widgets, { namespace: 'default', name: 'a' }, { type: 'merge', body: { spec: { gadgets: 1 } } })
    await environment.clock.advance(5)
    expect(times.slice(3)).toEqual([1000, 1005])
  })
})

describe('waits after failures', () => {
  it('are those of the rate limiter a controller names', async () => {
    const times: number[] = []
    const limiter = { delayMs: () => 700, forget: () => {}, failures: () => 0 }
    await run(
      controller('test', { rateLimiter: () => limiter })
        .for(widgets)
        .reconcile(async () => {
          times.push(environment.clock.monotonicMs())
          throw new Error('not yet')
        }),
    )
    await environment.clock.advance('2s')
    expect(times).toEqual([0, 700, 1400])
  })

  it('are shared by many keys: a hundred at once, then ten a second', async () => {
    for (let index = 0; index < 149; index++) await client.create(widgets, widget(`w${index}`, 0))
    let runs = 0
    await run(
      reconciling(async () => {
        if (++runs <= 150) throw new Error('not yet')
        return undefined
      }),
    )
    await environment.clock.advance('1s')
    expect(runs).toBe(150 + 110)
    await environment.clock.advance('4s')
    expect(runs).toBe(300)
  })
})

describe('log lines of a reconcile', () => {
  it('name the controller, the object and the reconcile', async () => {
    await client.create(widgets, widget('b', 0))
    await run(
      controller('test')
        .for(widgets)
        .reconcile(async (_, { logger }) => {
          logger.info('one')
          logger.info('two')
          return undefined
        }),
    )
    const fields = { controller: 'test', controllerKind: 'Widget' }
    expect(lines).toMatchObject([
      { message: 'one', fields: { ...fields, key: 'default/a' } },
      { message: 'two', fields: { ...fields, key: 'default/a' } },
      { message: 'one', fields: { ...fields, key: 'default/b' } },
      { message: 'two', fields: { ...fields, key: 'default/b' } },
    ])
    const ids = lines.map((line) => line.fields.reconcileId)
    expect(ids[0]).toMatch(/^[0-9a-f]{8}-1$/)
    expect([ids[0] === ids[1], ids[2] === ids[3], ids[0] === ids[2]]).toEqual([true, true, false])
  })
})

describe('metrics of a controller', () => {
  it('count reconciles by their outcome, and how long they took', async () => {
    const outcomes: (() => Promise<Result>)[] = [
      async () => {
        throw new Error('not yet')
      },
      async () => ({ requeueAfterMs: 1000 }),
      async () => {
        throw new TerminalError('never')
      },
      async () => undefined,
    ]
    await run(
      reconciling(async () => {
        await new Promise<void>((resolve) => environment.clock.setTimer(100, resolve))
        return outcomes.shift()?.()
      }),
    )
    expect(metrics.text()).toContain('controller_runtime_active_workers{controller="test"} 1\n')
    await environment.clock.advance('10s')
    await client.patch(widgets, { namespace: 'default', name: 'a' }, { type: 'merge', body: { spec: { gadgets: 1 } } })
    await environment.clock.advance('10s')
    const text = metrics.text()
    for (const line of [
      'controller_runtime_active_workers{controller="test"} 0',
      'controller_runtime_max_concurrent_reconciles{controller="test"} 16',
      'controller_runtime_reconcile_errors_total{controller="test"} 2',
      'controller_runtime_reconcile_time_seconds_bucket{controller="test",le="0.05"} 0',
      'controller_runtime_reconcile_time_seconds_bucket{controller="test",le="0.15"} 4',
      'controller_runtime_reconcile_time_seconds_count{controller="test"} 4',
      'controller_runtime_reconcile_total{controller="test",result="error"} 2',
      'controller_runtime_reconcile_total{controller="test",result="requeue_after"} 1',
      'controller_runtime_reconcile_total{controller="test",result="success"} 1',
      'controller_runtime_terminal_reconcile_errors_total{controller="test"} 1',
      'workqueue_retries_total{name="test",controller="test"} 1',
    ]) {
      expect(text).toContain(`${line}\n`)
    }
  })
})

describe('a key that rests', () => {
  const change = (gadgets: number) =>
    client.patch(widgets, { namespace: 'default', name: 'a' }, { type: 'merge', body: { spec: { gadgets } } })

  it('is reconciled once for all that changes in that time, at its end, and for the next change at once', async () => {
    const times: number[] = []
    await run(
      reconciling(async () => {
        times.push(environment.clock.monotonicMs())
        return { restMs: 99.5 }
      }),
    )
    for (let gadgets = 1; gadgets <= 20; gadgets++) {
      await change(gadgets)
      await environment.clock.advance(1)
    }
    await environment.clock.advance('1s')
    expect(times).toEqual([0, 100])
    await change(0)
    await environment.clock.settle()
    expect(times).toEqual([0, 100, 1020])
  })

  it('rests no longer when its object is gone', async () => {
    const seen: boolean[] = []
    const manager = createManager({ client, environment, metrics })
    manager.add(
      controller('test')
        .for(widgets)
        .reconcile(async ({ object }) => {
          seen.push(object !== undefined)
          return { restMs: 60_000 }
        }),
    )
    await Promise.all([manager.start(), environment.clock.settle()])
    await client.delete(widgets, { namespace: 'default', name: 'a' })
    await environment.clock.settle()
    expect(seen).toEqual([true, false])
  })
})
