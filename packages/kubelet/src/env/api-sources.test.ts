import { type ConfigMap, configMaps, forbidden } from '@coracle/api'
import { createFakeClient } from '@coracle/client/testing'
import { virtualEnvironment } from '@coracle/environment'
import { expect, it } from 'vitest'
import { apiSources } from './api-sources.ts'

it('gives the last that was seen of an object while the API is away, and not where that refuses it or it is gone', async () => {
  const client = createFakeClient(virtualEnvironment())
  const metadata = { namespace: 'default', name: 'shop' }
  const put = (a: string) =>
    client.create<ConfigMap>(configMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { a } })
  const sources = apiSources(client)
  const value = async () => (await sources.configMap('default', 'shop'))?.data?.a
  await put('1')
  expect(await value()).toBe('1')
  const isBack = client.intercept(() => {
    throw Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })
  })
  expect(await value()).toBe('1')
  await expect(sources.configMap('default', 'other')).rejects.toThrow('ECONNREFUSED')
  isBack()
  const allows = client.intercept(() => {
    throw forbidden({ group: '', plural: 'configmaps' }, 'shop', 'no relation to this node')
  })
  await expect(value()).rejects.toThrow('no relation')
  allows()
  expect(await value()).toBe('1')
  await client.delete(configMaps, metadata)
  expect(await value()).toBeUndefined()
})
