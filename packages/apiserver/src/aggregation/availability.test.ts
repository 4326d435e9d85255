import { type ApiService, type ApiServiceCondition, apiServices } from '@coracle/api'
import { virtualEnvironment } from '@coracle/environment'
import { describe, expect, it, onTestFinished } from 'vitest'
import { startTestCore } from '../testing/test-core.ts'
import { AvailabilityChecks, availabilityPeriodMs, discoveryTimeoutMs, firstRetryMs } from './availability.ts'
import type { ServiceEndpoint } from './service-endpoint.ts'

const name = 'v1.example.com'
const remote: ApiService = {
  apiVersion: 'apiregistration.k8s.io/v1',
  kind: 'APIService',
  metadata: { name },
  spec: {
    group: 'example.com',
    version: 'v1',
    groupPriorityMinimum: 100,
    versionPriority: 10,
    service: { namespace: 'default', name: 'example' },
  },
} as ApiService

/** A server behind this one, and what is said of it. `discover` is what it answers. */
async function checked(discover: (signal: AbortSignal) => Promise<string | undefined>, endpoint: unknown = {}) {
  const { core, client, environment } = await startTestCore()
  // The checks of the core itself would write as well.
  core.aggregator.close()
  const created = await client.create(apiServices, remote)
  const host = virtualEnvironment().clock
  const checks = new AvailabilityChecks(
    { registries: core.registries, environment },
    {
      remotes: () => [created],
      endpoint: () => endpoint as ServiceEndpoint,
      discover: (_, signal) => discover(signal),
      lost: () => {},
    },
    host,
  )
  onTestFinished(() => checks.close())
  checks.somethingChanged()
  const found = () => client.get(apiServices, { name })
  return {
    clock: environment.clock,
    host,
    version: async () => (await found()).metadata.resourceVersion,
    available: async (): Promise<ApiServiceCondition | undefined> =>
      (await found()).status?.conditions?.find(({ type }) => type === 'Available'),
  }
}

describe('the condition Available of a server behind this one', () => {
  it('says since when, whatever else is wrong meanwhile, and is written only when it changes', async () => {
    let answer: string | undefined = 'connection refused'
    const { clock, available, version } = await checked(async () => answer)
    await clock.advance(1000)
    const refused = await available()
    expect(refused).toMatchObject({ status: 'False', reason: 'FailedDiscoveryCheck', message: 'connection refused' })
    answer = 'bad certificate'
    await clock.advance(availabilityPeriodMs)
    const { lastTransitionTime } = refused ?? {}
    expect(await available()).toMatchObject({ status: 'False', message: 'bad certificate', lastTransitionTime })
    answer = undefined
    await clock.advance(availabilityPeriodMs)
    const well = await available()
    expect(well).toMatchObject({ status: 'True', reason: 'Passed', message: 'all checks passed' })
    expect(well?.lastTransitionTime).not.toBe(lastTransitionTime)
    const written = await version()
    await clock.advance(10 * availabilityPeriodMs)
    expect(await version()).toBe(written)
  })

  it('is looked at again soon where it does not answer, and then more and more rarely', async () => {
    let answer: string | undefined = 'connection refused'
    const looks: number[] = []
    const { clock, available } = await checked(async () => {
      looks.push(clock.now())
      return answer
    })
    await clock.advance(10 * 60_000)
    const waits = looks.slice(1).map((at, index) => at - (looks[index] ?? 0))
    expect(waits.slice(0, 5)).toEqual([1, 2, 4, 8, 16].map((factor) => factor * firstRetryMs))
    expect(Math.min(...waits.slice(5))).toBeGreaterThanOrEqual(availabilityPeriodMs)
    answer = undefined
    await clock.advance(2 * availabilityPeriodMs)
    expect(await available()).toMatchObject({ status: 'True' })
    answer = 'away again'
    looks.length = 0
    await clock.advance(3 * availabilityPeriodMs)
    expect((looks[1] ?? 0) - (looks[0] ?? 0)).toBe(firstRetryMs)
  })

  it('is that it does not answer, once it has had its time to', async () => {
    let isAborted = false
    const asked = Promise.withResolvers<void>()
    const { clock, host, available } = await checked(
      (signal) =>
        new Promise((resolve) => {
          const abort = () => {
            isAborted = true
            resolve(String(signal.reason))
          }
          signal.addEventListener('abort', abort, { once: true })
          asked.resolve()
        }),
    )
    const advanced = clock.advance(1000)
    await asked.promise
    await host.advance(discoveryTimeoutMs - 1)
    expect(isAborted).toBe(false)
    await host.advance(1)
    await advanced
    expect(await available()).toMatchObject({ status: 'False', message: 'Error: context deadline exceeded' })
  })

  it('is what is wrong with its Service, without asking', async () => {
    const { clock, available } = await checked(() => Promise.reject(new Error('it was asked')), {
      reason: 'ServiceNotFound',
      message: 'service/example in "default" is not present',
    })
    await clock.advance(1000)
    expect(await available()).toMatchObject({ status: 'False', reason: 'ServiceNotFound' })
  })
})
