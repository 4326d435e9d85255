import { configMaps, type KubernetesObject } from '@coracle/api'
import type { Client, DiscoveredResource } from '@coracle/client'
import { virtualEnvironment } from '@coracle/environment'
import { describe, expect, it } from 'vitest'
import type { Host } from '../host.ts'
import type { Session } from '../session.ts'
import { awaitObject } from './await-object.ts'

/** Waits a second for an object that a server shows after so long; what came of it, and after how long. */
async function awaited(answerMs: number, isOver: boolean) {
  const environment = virtualEnvironment()
  const { clock } = environment
  const found: KubernetesObject = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } }
  const list = (_: unknown, { signal }: { readonly signal: AbortSignal }) =>
    new Promise((resolve, reject) => {
      signal.addEventListener('abort', () => reject(new Error('aborted')))
      clock.setTimer(answerMs, () => resolve({ items: [found], metadata: {} }))
    })
  const session = { client: { list } as unknown as Client } as Session
  const target = { resource: configMaps as unknown as DiscoveredResource, key: { namespace: 'x', name: 'a' } }
  const startMs = clock.now()
  let endMs = 0
  const outcome = awaitObject({ environment } as unknown as Host, session, target, 1000, () => isOver).finally(() => {
    endMs = clock.now()
  })
  await clock.advance('1m')
  return [await outcome, endMs - startMs]
}

describe('an object that is waited for', () => {
  it.each([
    ['is found as it is meant to be when the time is over', 3000, true, [true, 3000]],
    ['is looked at once, and no longer', 3000, false, [false, 3000]],
    ['is given up where the server does not show it', 60_000, true, [false, 11_000]],
  ])('%s', async (_, answerMs, isOver, expected) => {
    expect(await awaited(answerMs, isOver)).toEqual(expected)
  })
})
