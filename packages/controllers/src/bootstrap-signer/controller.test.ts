import { bootstrapTokenSecret, type ConfigMap, clusterInfo, configMaps, isSignedWith, secrets } from '@coracle/api'
import { expect, it } from 'vitest'
import { atWork } from '../testing/at-work.ts'
import { createTokenCleaner } from '../token-cleaner/controller.ts'
import { createBootstrapSigner } from './controller.ts'

const token = (id: string, more: { usages?: readonly string[]; expiration?: string } = {}) =>
  bootstrapTokenSecret({ id, secret: '0123456789abcdef', usages: ['authentication', 'signing'], groups: [], ...more })

/** The controllers of bootstrap tokens at work on a cluster that says who it is. */
async function started() {
  const { environment, client } = await atWork(() => [createBootstrapSigner(), createTokenCleaner()])
  const { namespace, name } = clusterInfo
  await client.create<ConfigMap>(configMaps, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { namespace, name },
    data: { kubeconfig: 'one' },
  })
  const data = async () => (await client.get(configMaps, clusterInfo)).data ?? {}
  return { environment, client, data }
}

it('signs which cluster it is with each token that is for that', async () => {
  const { environment, client, data } = await started()
  await client.create(secrets, token('aaaaaa'))
  await client.create(secrets, token('bbbbbb', { usages: ['authentication'] }))
  await environment.clock.settle()
  const { kubeconfig = '', ...signatures } = await data()
  expect(Object.keys(signatures)).toEqual(['jws-kubeconfig-aaaaaa'])
  expect(isSignedWith(kubeconfig, 'aaaaaa', '0123456789abcdef', signatures['jws-kubeconfig-aaaaaa'] ?? '')).toBe(true)
})

it('signs anew what has changed, and removes the signatures of tokens that are gone', async () => {
  const { environment, client, data } = await started()
  await client.create(secrets, token('aaaaaa'))
  await environment.clock.settle()
  const before = (await data())['jws-kubeconfig-aaaaaa']
  await client.patch(configMaps, clusterInfo, { type: 'merge', body: { data: { kubeconfig: 'two' } } })
  await environment.clock.settle()
  expect((await data())['jws-kubeconfig-aaaaaa']).not.toBe(before)
  await client.delete(secrets, { namespace: 'kube-system', name: 'bootstrap-token-aaaaaa' })
  await environment.clock.settle()
  expect(await data()).toEqual({ kubeconfig: 'two' })
})

it('removes a token when it is over, and with it what was signed', async () => {
  const { environment, client, data } = await started()
  await client.create(secrets, token('aaaaaa', { expiration: '2026-01-01T01:00:00Z' }))
  await client.create(secrets, token('bbbbbb'))
  await environment.clock.advance('59m')
  expect(client.stored(secrets)).toHaveLength(2)
  await environment.clock.advance('1m')
  expect(client.stored(secrets).map(({ metadata }) => metadata.name)).toEqual(['bootstrap-token-bbbbbb'])
  expect(Object.keys(await data())).toEqual(['kubeconfig', 'jws-kubeconfig-bbbbbb'])
})
