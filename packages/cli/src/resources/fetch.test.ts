import { configMaps } from '@coracle/api'
import type { Client } from '@coracle/client'
import { expect, it } from 'vitest'
import { listAll } from './fetch.ts'

it('takes a list of any length in one page', async () => {
  const items = Array.from({ length: 300_000 }, () => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: {} }))
  const client = { list: async () => ({ items, metadata: {} }) } as unknown as Client
  expect(await listAll(client, configMaps, {}, 0)).toHaveLength(items.length)
})
