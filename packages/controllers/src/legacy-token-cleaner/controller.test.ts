import { configMaps, type Pod, pods, type Secret, type ServiceAccount, secrets, serviceAccounts } from '@coracle/api'
import type { FakeClient } from '@coracle/client/testing'
import type { VirtualEnvironment } from '@coracle/environment'
import { beforeEach, expect, it } from 'vitest'
import { atWork } from '../testing/at-work.ts'
import { createLegacyTokenCleaner } from './controller.ts'

const namespace = 'default'
const invalidSince = 'kubernetes.io/legacy-token-invalid-since'

let environment: VirtualEnvironment
let client: FakeClient

beforeEach(async () => {
  ;({ environment, client } = await atWork(() => [createLegacyTokenCleaner()]))
  await client.create(configMaps, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'kube-apiserver-legacy-service-account-token-tracking', namespace: 'kube-system' },
    data: { since: '2026-01-01' },
  })
  await client.create<ServiceAccount>(serviceAccounts, {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name: 'robot', namespace },
    secrets: [{ name: 'unused' }, { name: 'mounted' }],
  })
  for (const name of ['unused', 'mounted', 'by-hand']) {
    await client.create<Secret>(secrets, {
      apiVersion: 'v1',
      kind: 'Secret',
      type: 'kubernetes.io/service-account-token',
      metadata: { name, namespace, annotations: { 'kubernetes.io/service-account.name': 'robot' } },
    })
  }
  await client.create<Pod>(pods, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'a', namespace },
    spec: { containers: [{ name: 'c', image: 'i' }], volumes: [{ name: 'v', secret: { secretName: 'mounted' } }] },
  } as Pod)
  await environment.clock.settle()
})

const refused = () =>
  client.stored(secrets).map(({ metadata }) => [metadata.name, metadata.labels?.[invalidSince] ?? ''])

it('has a token that nobody uses refused after a year, and removes it after another', async () => {
  await environment.clock.advance(`${365 * 24}h`)
  expect(refused()).toEqual(['unused', 'mounted', 'by-hand'].map((name) => [name, '']))
  await environment.clock.advance('24h')
  expect(refused()).toEqual([
    ['unused', '2027-01-02'],
    ['mounted', ''],
    ['by-hand', ''],
  ])
  await environment.clock.advance(`${367 * 24}h`)
  expect(refused().map(([name]) => name)).toEqual(['mounted', 'by-hand'])
})

it('looks once a day: whoever takes the label off has the token accepted until then', async () => {
  await environment.clock.advance(`${366 * 24}h`)
  const body = { metadata: { labels: { [invalidSince]: null } } }
  await client.patch(secrets, { namespace, name: 'unused' }, { type: 'merge', body })
  await environment.clock.advance('23h')
  expect(refused()[0]).toEqual(['unused', ''])
  await environment.clock.advance('1h')
  expect(refused()[0]).toEqual(['unused', '2027-01-03'])
})
