/** Managers that lead, serve and stop. */
import { leases } from '@coracle/api'
import { createFakeClient, type FakeClient } from '@coracle/client/testing'
import {
  aborted,
  createLogger,
  type LogLine,
  realEnvironment,
  silentLogger,
  type VirtualEnvironment,
  virtualEnvironment,
} from '@coracle/environment'
import { beforeEach, describe, expect, it } from 'vitest'
import { controller } from './controller.ts'
import { createManager, type Manager } from './manager.ts'
import { widget, widgets } from './testing/resources.ts'

let environment: VirtualEnvironment
let client: FakeClient
let lines: LogLine[]

beforeEach(() => {
  lines = []
  environment = virtualEnvironment({ logger: createLogger((line) => lines.push(line)) })
  client = createFakeClient(environment)
})

const leaderElection = { namespace: 'kube-system', name: 'shop' }
const holder = async () => (await client.get(leases, leaderElection)).spec?.holderIdentity

async function started(manager: Manager): Promise<Manager> {
  await Promise.all([manager.start(), environment.clock.settle()])
  return manager
}

const stuck = (name: string) =>
  controller(name)
    .for(widgets)
    .reconcile(() => new Promise(() => {}))

describe('a manager that stops', () => {
  it('waits no longer than it may, names what still runs, and keeps the lease of what may still write', async () => {
    await client.create(widgets, widget('a', 0))
    const manager = createManager({ client, environment, identity: 'me', leaderElection, gracefulStopMs: 5000 })
    manager.add(stuck('stuck'))
    manager.add(
      controller('quick')
        .for(widgets)
        .reconcile(async () => undefined),
    )
    await started(manager)
    let outcome: unknown = 'stopping'
    manager.stop().catch((error: unknown) => {
      outcome = error
    })
    await environment.clock.advance(4999)
    expect(outcome).toBe('stopping')
    await environment.clock.advance(1)
    expect(String(outcome)).toBe('Error: still running 5000 ms after the manager was stopped: controller "stuck"')
    expect(await holder()).toBe('me')
  })

  it('gives its lease back once all has ended', async () => {
    const manager = await started(createManager({ client, environment, identity: 'me', leaderElection }))
    expect([await holder(), manager.isLeader]).toEqual(['me', true])
    await Promise.all([manager.stop(), environment.clock.settle()])
    expect([await holder(), manager.isLeader]).toEqual(['', false])
  })
})

describe('leading', () => {
  it('is not needed by what says so, and shows in the metrics', async () => {
    const seen: string[] = []
    const managerOf = (identity: string) => {
      const manager = createManager({ client, environment, identity, leaderElection })
      for (const needsLeaderElection of [true, false]) {
        manager.add(
          controller(`${needsLeaderElection}`, { needsLeaderElection })
            .for(widgets)
            .reconcile(async () => void seen.push(`${identity} ${needsLeaderElection}`)),
        )
      }
      return manager
    }
    const one = await started(managerOf('one'))
    const two = await started(managerOf('two'))
    await client.create(widgets, widget('a', 0))
    await environment.clock.settle()
    expect(seen.sort()).toEqual(['one false', 'one true', 'two false'])
    const status = (manager: Manager) => manager.metrics.text().match(/^leader_election_master_status\{.*$/m)?.[0]
    expect(status(one)).toBe('leader_election_master_status{name="shop"} 1')
    expect(status(two)).toBe('leader_election_master_status{name="shop"} 0')
    await one.stop()
    expect(status(one)).toBe('leader_election_master_status{name="shop"} 0')
    await two.stop()
  })
})

describe('something else that runs', () => {
  it('runs until the manager stops, early or late added', async () => {
    const history: string[] = []
    const runnable = (name: string) => ({
      name,
      async run(signal: AbortSignal) {
        history.push(`${name} begins`)
        await aborted(signal)
        history.push(`${name} ends`)
      },
    })
    const manager = createManager({ client, environment })
    manager.addRunnable(runnable('early'))
    expect(history).toEqual([])
    await started(manager)
    manager.addRunnable(runnable('late'))
    await manager.stop()
    expect(history).toEqual(['early begins', 'late begins', 'early ends', 'late ends'])
  })

  it('is logged when it fails, and the rest goes on', async () => {
    const manager = createManager({ client, environment })
    manager.addRunnable({
      name: 'poller',
      run: async () => {
        throw new Error('no such host')
      },
    })
    await started(manager)
    expect(lines).toMatchObject([{ level: 'error', message: 'runnable failed', fields: { runnable: 'poller' } }])
    await manager.stop()
  })
})

describe('the endpoint of a manager', () => {
  it('serves metrics, health and readiness until the stop', async () => {
    const environment = realEnvironment(silentLogger)
    const client = createFakeClient(environment)
    const manager = createManager({ client, environment, endpoint: { port: 0 } })
    let problem: string | undefined
    manager.addHealthCheck({ name: 'disk', check: () => problem })
    manager.metrics.counter({ name: 'shop_sales_total', help: 'Sales.' }).with({}).inc(3)
    await manager.start()
    const url = manager.endpoint?.url ?? ''
    const get = async (path: string, method = 'GET') => {
      const response = await fetch(url + path, { method })
      return [response.status, await response.text()]
    }
    expect(await get('/healthz')).toEqual([200, 'ok'])
    problem = 'it is full'
    expect(await get('/healthz')).toEqual([500, '[+]ping ok\n[-]disk failed: reason withheld\nhealthz check failed\n'])
    expect(await get('/healthz/disk')).toEqual([500, 'internal server error: it is full\n'])
    expect(await get('/readyz?verbose')).toEqual([200, '[+]ping ok\n[+]informer-sync ok\nreadyz check passed\n'])
    expect((await get('/metrics'))[1]).toContain('shop_sales_total 3\n')
    expect((await get('/'))[0]).toBe(404)
    expect((await get('//'))[0]).toBe(404)
    expect((await get('/metrics', 'POST'))[0]).toBe(405)
    await manager.stop()
    await expect(fetch(url)).rejects.toThrow()
  })

  it('is gone after a stop that came before it listened', async () => {
    const environment = realEnvironment(silentLogger)
    const client = createFakeClient(environment)
    const manager = createManager({ client, environment, endpoint: { port: 0 } })
    const start = manager.start().catch(() => {})
    await manager.stop()
    await start
    await expect(fetch(manager.endpoint?.url ?? '')).rejects.toThrow('fetch failed')
  })

  it('is not ready before the caches are filled', async () => {
    const environment = realEnvironment(silentLogger)
    const client = createFakeClient(environment)
    client.intercept(({ verb }) => (verb === 'list' ? new Promise(() => {}) : undefined))
    const manager = createManager({ client, environment, endpoint: { port: 0 } })
    manager.add(stuck('waiting'))
    const start = manager.start().catch(() => {})
    await expect.poll(() => manager.endpoint?.url).toBeDefined()
    const response = await fetch(`${manager.endpoint?.url}/readyz`)
    expect([response.status, await response.text()]).toEqual([
      500,
      '[+]ping ok\n[-]informer-sync failed: reason withheld\nreadyz check failed\n',
    ])
    void manager.stop()
    await start
  })
})
