import type { HorizontalPodAutoscaler } from '@coracle/api'
import type { Client } from '@coracle/client'
import { expect, it } from 'vitest'
import { metricsAtOnceMax, readMetrics } from './metrics-reader.ts'

it('asks for a few metrics at a time, and gives them in their order', async () => {
  let asked = 0
  let most = 0
  const list = async ({ plural }: { readonly plural: string }) => {
    asked += 1
    most = Math.max(most, asked)
    await Promise.resolve()
    asked -= 1
    if (plural === 'm7') throw new Error('not today')
    return { items: [{ value: plural.slice(1) }] }
  }
  const metrics = Array.from({ length: 2 * metricsAtOnceMax + 1 }, (_, index) => ({
    type: 'External',
    external: { metric: { name: `m${index}` }, target: { type: 'Value', value: '1' } },
  }))
  const autoscaler = { metadata: { name: 'a', namespace: 'default' }, spec: { metrics } }
  const readings = await readMetrics(autoscaler as unknown as HorizontalPodAutoscaler, {
    client: { list } as unknown as Client,
    customVersion: 'v1beta2',
    podSelector: 'app=web',
    signal: new AbortController().signal,
    resources: () => [],
  })
  expect(most).toBe(metricsAtOnceMax)
  const millis = (index: number) => ({ millis: index * 1000 })
  expect(readings[7]).toEqual({ error: 'unable to fetch metrics from external metrics API: not today' })
  expect(readings.toSpliced(7, 1)).toEqual(metrics.map((_, index) => millis(index)).toSpliced(7, 1))
})
