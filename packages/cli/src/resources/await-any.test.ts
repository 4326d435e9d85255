import { type ConfigMap, configMaps } from '@coracle/api'
import type { Client, WatchEvent } from '@coracle/client'
import { virtualEnvironment } from '@coracle/environment'
import { expect, it } from 'vitest'
import { recordingHost } from '../testing/recording-host.ts'
import { awaitAny } from './await-any.ts'

const named = (name: string): ConfigMap => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } })

/** A server that has these objects, and tells of these changes, one watch after another; then of none any more. */
function server(items: readonly ConfigMap[], ...watches: readonly (readonly Partial<WatchEvent<ConfigMap>>[])[]) {
  const environment = virtualEnvironment()
  const left = [...watches]
  const client = {
    list: async () => ({ items, metadata: { resourceVersion: '7' } }),
    watch: async (_resource: unknown, { signal }: { readonly signal: AbortSignal }) => {
      const events = left.shift()
      return {
        close: () => {},
        async *[Symbol.asyncIterator]() {
          if (events === undefined) await new Promise((_, reject) => signal.addEventListener('abort', reject))
          yield* events ?? []
        },
      }
    },
  } as unknown as Client
  const host = recordingHost({ environment })
  return { environment, found: awaitAny(host, client, configMaps, {}, 20_000) }
}

it('takes what is there', async () => {
  expect(await server([named('a'), named('b')]).found).toEqual([named('a'), named('b')])
})

it('waits for the first that comes, over the end of a watch', async () => {
  const { found } = server(
    [],
    [{ type: 'BOOKMARK', object: named('none') }, { type: 'DELETED', object: named('gone') }, { type: 'ERROR' }],
    [{ type: 'ADDED', object: named('late') }],
  )
  expect(await found).toEqual([named('late')])
})

it('finds none where none has come in time', async () => {
  const { environment, found } = server([])
  await environment.clock.advance('20s')
  expect(await found).toEqual([])
})
