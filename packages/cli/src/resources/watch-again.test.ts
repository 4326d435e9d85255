import { ApiError, configMaps, type KubernetesObject } from '@coracle/api'
import type { Client, DiscoveredResource } from '@coracle/client'
import { virtualEnvironment } from '@coracle/environment'
import { describe, expect, it } from 'vitest'
import { waitUntilGone } from '../commands/await-deletion.ts'
import { awaitObject } from '../commands/await-object.ts'
import type { Session } from '../session.ts'
import { recordingHost } from '../testing/recording-host.ts'

const resource = configMaps as unknown as DiscoveredResource
const key = { namespace: 'x', name: 'a' }
const found: KubernetesObject = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', resourceVersion: '1' } }

const lost = () => Object.assign(new Error('other side closed'), { code: 'UND_ERR_SOCKET' })
const refused = () => Object.assign(new Error('refused'), { code: 'ECONNREFUSED', server: 'https://a', reason: 'none' })
const busy = () => new ApiError(503, 'ServiceUnavailable', 'busy')
const forbidden = () => new ApiError(403, 'Forbidden', 'not you')

/** A server that answers the first look, and then as `later` says; each of its watches ends as `watched` has it. */
function server(later: () => KubernetesObject | undefined, watched: () => void) {
  const environment = virtualEnvironment()
  let looks = 0
  const look = async () => {
    looks += 1
    return looks === 1 ? found : later()
  }
  const client = {
    list: async (_: unknown, { signal }: { readonly signal: AbortSignal }) => {
      signal.throwIfAborted()
      return { items: [await look()].filter((each) => each !== undefined), metadata: {} }
    },
    get: async () => {
      const object = await look()
      if (object === undefined) throw new ApiError(404, 'NotFound', 'gone')
      return object
    },
    watch: async () => ({
      close: () => {},
      // biome-ignore lint/correctness/useYield: a watch that tells nothing
      async *[Symbol.asyncIterator]() {
        watched()
      },
    }),
  } as unknown as Client
  return {
    clock: environment.clock,
    host: recordingHost({ environment }),
    session: { client } as Session,
    looks: () => looks,
  }
}

describe('a wait', () => {
  it.each([
    ['a connection that was lost', lost],
    ['a server that is gone for a while', refused],
    ['a server that has no time', busy],
  ])('outlives %s', async (_, failure) => {
    const failures = [failure, failure, failure, failure]
    const fail = () => {
      const next = failures.pop()
      if (next !== undefined) throw next()
    }
    const isThere = server(() => {
      fail()
      return { ...found, metadata: { ...found.metadata, labels: { done: 'yes' } } }
    }, fail)
    const isDone = (object: KubernetesObject | undefined) => object?.metadata.labels?.done === 'yes'
    const { host, session, clock } = isThere
    const waiting = awaitObject(host, session, { resource, key }, 60_000, isDone)
    await clock.advance('30s')
    expect(await waiting).toBe(true)

    failures.push(failure, failure, failure, failure)
    const isGone = server(() => {
      fail()
      return undefined
    }, fail)
    const going = waitUntilGone(isGone.host, isGone.session, [{ resource, key, uid: undefined }], 60_000)
    await isGone.clock.advance('30s')
    await going
  })

  it('ends where what fails is of another kind, or comes first', async () => {
    for (const failure of [forbidden, () => new Error('a mistake of ours')]) {
      const { host, session } = server(
        () => undefined,
        () => {
          throw failure()
        },
      )
      await expect(awaitObject(host, session, { resource, key }, 1000, () => false)).rejects.toThrow(failure().message)
    }
    const { session, host } = server(
      () => undefined,
      () => {},
    )
    const client = { ...session.client, list: () => Promise.reject(refused()) } as typeof session.client
    const unreachable = { ...session, client }
    await expect(awaitObject(host, unreachable, { resource, key }, 1000, () => false)).rejects.toThrow('refused')
  })

  it('does not flood a server that ends each watch at once', async () => {
    const { host, session, clock, looks } = server(
      () => found,
      () => {},
    )
    const waiting = awaitObject(host, session, { resource, key }, 10_000, () => false)
    await clock.advance('20s')
    expect(await waiting).toBe(false)
    expect(looks()).toBeLessThan(20)
  })
})
