import { configMaps } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { configMap, follow, startTestCore } from '../testing/test-core.ts'

describe('a reader in process that does not read', () => {
  it('gets all of a large beginning', async () => {
    const { client, environment } = await startTestCore()
    const count = 12_000
    await Promise.all(Array.from({ length: count }, (_, index) => client.create(configMaps, configMap(`c${index}`))))
    const watch = await client.watch(configMaps)
    await environment.clock.settle()
    const { lines } = follow(watch as never)
    await environment.clock.settle()
    expect(lines).toHaveLength(count)
  })

  it('is told when more has happened than is held for it', async () => {
    const { client, environment } = await startTestCore()
    await client.create(configMaps, configMap('a'))
    const watch = await client.watch(configMaps)
    await environment.clock.settle()
    for (let index = 0; index < 20_010; index += 1)
      await client.update(configMaps, configMap('a', { x: String(index) }))
    await environment.clock.settle()
    const { lines } = follow(watch as never)
    await environment.clock.settle()
    expect(lines.slice(-2)).toEqual(['ERROR Timeout', 'end'])
    expect(lines).toHaveLength(10_002)
  })
})
