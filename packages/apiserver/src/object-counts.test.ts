import { configMaps } from '@coracle/api'
import { createMetricsRegistry } from '@coracle/environment'
import { expect, it } from 'vitest'
import { collectObjectCounts } from './object-counts.ts'
import { crateDefinition, establish } from './testing/custom-resources.ts'
import { configMap, startTestCore } from './testing/test-core.ts'

it('objects of each kind and their bytes are shown while the kind is there', async () => {
  const { core, client } = await startTestCore()
  const metrics = createMetricsRegistry()
  collectObjectCounts(metrics, core.registries)
  const told = (name: string, resource: string): number => {
    const found = new RegExp(`^apiserver_resource_${name}\\{group="[^"]*",resource="${resource}"\\} (.+)$`, 'm').exec(
      metrics.text(),
    )
    return Number(found?.[1])
  }
  const before = [told('objects', 'configmaps'), told('size_estimate_bytes', 'configmaps')]
  await client.create(configMaps, configMap('a', { text: 'x'.repeat(5_000) }))
  expect(told('objects', 'configmaps')).toBe((before[0] ?? 0) + 1)
  const bytes = told('size_estimate_bytes', 'configmaps') - (before[1] ?? 0)
  expect([bytes > 5_000, bytes < 6_000]).toEqual([true, true])
  await establish(client, crateDefinition())
  await core.kindsSettled()
  expect([told('objects', 'crates'), told('size_estimate_bytes', 'crates')]).toEqual([0, 0])
  const { kind } = [...core.registries.kinds()].find(({ kind: { plural } }) => plural === 'crates') ?? {}
  core.kinds.remove(kind?.storageKey ?? '')
  expect([told('objects', 'crates'), told('size_estimate_bytes', 'crates')]).toEqual([Number.NaN, Number.NaN])
})
