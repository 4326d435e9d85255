import { configMaps, deployments } from '@coracle/api'
import { startTestCluster } from '@coracle/cluster/testing'
import { isConditionTrue, newObject } from '@coracle/controller-runtime'
import { expect, it } from 'vitest'
import { website, websiteController, websites } from '../src/website.ts'

const key = { namespace: 'default', name: 'shop' }
const shop = newObject(websites, { metadata: key, spec: { host: 'shop.example.com', image: 'web:1', replicas: 2 } })

it('serves a site, follows its changes, and leaves nothing behind', async () => {
  await using cluster = await startTestCluster({ kinds: [website], controllers: [websiteController] })
  const { client } = cluster
  const isReady = async () => isConditionTrue((await client.get(websites, key)).status?.conditions, 'Ready')
  await client.create(websites, shop)
  await cluster.advance('1m')
  expect(await isReady()).toBe(true)
  expect((await client.get(configMaps, { ...key, name: 'hosts' })).data).toEqual({ 'shop.example.com': 'shop' })
  await client.patch(websites, key, { type: 'merge', body: { spec: { image: 'web:2', replicas: 3 } } })
  await cluster.advance('1m')
  expect(await isReady()).toBe(true)
  expect(await client.get(deployments, key)).toMatchObject({ status: { readyReplicas: 3, updatedReplicas: 3 } })
  await client.delete(websites, key)
  await cluster.advance('1m')
  expect((await client.list(deployments)).items).toEqual([])
  expect((await client.get(configMaps, { ...key, name: 'hosts' })).data ?? {}).toEqual({})
})
