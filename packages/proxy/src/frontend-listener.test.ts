import { type VirtualEnvironment, virtualEnvironment } from '@coracle/environment'
import { beforeEach, describe, expect, it } from 'vitest'
import { FrontendListener, retryMaxMs } from './frontend-listener.ts'
import type { Frontend } from './frontends.ts'
import type { Network } from './network.ts'

const frontend: Frontend = {
  protocol: 'TCP',
  address: '127.5.0.1',
  port: 80,
  backends: [{ address: '127.1.0.1', port: 8080 }],
  affinityMs: undefined,
  isElsewhere: false,
}
const empty: Frontend = { ...frontend, backends: [] }

let environment: VirtualEnvironment
let told: string[]
/** Answers of the network, first to last; afterwards all goes well. */
let failures: (string | Promise<void>)[]
let listener: FrontendListener

beforeEach(() => {
  environment = virtualEnvironment()
  told = []
  failures = []
  const network: Network = {
    async listen({ port }) {
      const failure = failures.shift()
      if (typeof failure === 'string') {
        told.push(`refused at ${environment.clock.monotonicMs() / 1000} s`)
        throw Object.assign(new Error(failure), { code: failure })
      }
      await failure
      told.push(`listens on ${port}`)
      return { close: () => void told.push(`closed ${port}`) }
    },
    close() {},
  }
  listener = new FrontendListener({
    network,
    environment,
    onFailure: (_, { code }) => told.push(`told ${code}`),
    onRecovery: ({ port }) => told.push(`again ${port}`),
  })
})

const set = async (wanted: Frontend | undefined): Promise<void> => {
  listener.set(wanted)
  await environment.clock.settle()
}

describe('a frontend', () => {
  it('is listened to while there is something behind it', async () => {
    await set(empty)
    expect(told).toEqual([])
    await set(frontend)
    await set({ ...frontend, backends: [{ address: '127.1.0.2', port: 8080 }] })
    expect(told).toEqual(['listens on 80'])
    await set(empty)
    await set(undefined)
    expect(told).toEqual(['listens on 80', 'closed 80'])
    await set(frontend)
    expect(told).toEqual(['listens on 80', 'closed 80', 'listens on 80'])
  })

  it('is listened to without anything behind it where that is what is asked', async () => {
    const health = { ...empty, healthOf: { namespace: 'default', name: 'web' } }
    await set(health)
    await set({ ...health, backends: frontend.backends })
    await set(undefined)
    expect(told).toEqual(['listens on 80', 'closed 80'])
  })

  it('is given back at once where it is not wanted any more when it has been opened', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    failures = [promise]
    await set(frontend)
    await set(undefined)
    resolve()
    await environment.clock.settle()
    expect(told).toEqual(['listens on 80', 'closed 80'])
  })

  it('is opened once, however often it changes meanwhile', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    failures = [promise]
    await set(frontend)
    await set(undefined)
    await set(frontend)
    resolve()
    await environment.clock.settle()
    expect(told).toEqual(['listens on 80'])
  })

  it('is tried again where it cannot be, ever more seldom, and each reason is told once in a row', async () => {
    failures = ['EADDRINUSE', 'EADDRINUSE', 'EACCES', 'EADDRINUSE']
    await set(frontend)
    expect(told).toEqual(['refused at 0 s', 'told EADDRINUSE'])
    await environment.clock.advance(60_000)
    expect(told.slice(2)).toEqual([
      'refused at 1 s',
      'refused at 3 s',
      'told EACCES',
      'refused at 7 s',
      'told EADDRINUSE',
      'listens on 80',
      'again 80',
    ])
  })

  it('waits a minute at most', async () => {
    failures = Array.from({ length: 20 }, () => 'EADDRINUSE')
    await set(frontend)
    await environment.clock.advance(10 * retryMaxMs)
    const seconds = told.flatMap((line) => /at (.*) s/.exec(line)?.[1] ?? []).map(Number)
    expect(seconds.slice(0, 9)).toEqual([0, 1, 3, 7, 15, 31, 63, 123, 183])
  })

  it('says that it listens again also where nothing was behind it meanwhile', async () => {
    failures = ['EADDRINUSE']
    await set(frontend)
    await set(empty)
    await set(frontend)
    await set(empty)
    await set(frontend)
    expect(told.slice(2)).toEqual(['listens on 80', 'again 80', 'closed 80', 'listens on 80'])
  })

  it('is not tried again when nothing is behind it any more, and afresh when something is', async () => {
    failures = ['EACCES', 'EACCES']
    await set(frontend)
    await set(empty)
    await environment.clock.advance(10_000)
    expect(told).toEqual(['refused at 0 s', 'told EACCES'])
    await set(frontend)
    await environment.clock.advance(1000)
    expect(told.slice(2)).toEqual(['refused at 10 s', 'told EACCES', 'listens on 80', 'again 80'])
  })
})
