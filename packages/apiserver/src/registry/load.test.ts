import { builtinKinds, configMaps } from '@coracle/api'
import { realClock } from '@coracle/environment'
import { expect, it } from 'vitest'
import { configMap, startTestCore } from '../testing/test-core.ts'

/** A core whose ConfigMaps are checked by what `loading` brings, once the first is there. */
async function startLoading(loading: () => Promise<void> | undefined) {
  const kinds = builtinKinds.map((kind) =>
    kind.plural === 'configmaps' ? { ...kind, strategy: { ...kind.strategy, load: loading } } : kind,
  )
  const { client, environment } = await startTestCore({ kinds })
  return { client, clock: environment.clock }
}

it.each(['create', 'update'] as const)('time stands still while what checks an object is loaded: %s', async (verb) => {
  const { promise, resolve } = Promise.withResolvers<void>()
  let loading: Promise<void> | undefined
  const { client, clock } = await startLoading(() => loading)
  const stored = await client.create(configMaps, configMap('a'))
  loading = promise
  const write =
    verb === 'create'
      ? client.create(configMaps, configMap('b'))
      : client.update(configMaps, { ...stored, data: { key: 'value' } })
  let isSettled = false
  const settled = clock.settle().then(() => {
    isSettled = true
  })
  for (let turn = 0; turn < 10; turn++) await new Promise<void>((next) => realClock.defer(next))
  expect(isSettled).toBe(false)
  resolve()
  await Promise.all([write, settled])
  expect(isSettled).toBe(true)
})
