import { configMaps, type Namespace, namespaces } from '@coracle/api'
import { createFakeClient, type FakeClient } from '@coracle/client/testing'
import { createManager, type Manager } from '@coracle/controller-runtime'
import { type VirtualEnvironment, virtualEnvironment } from '@coracle/environment'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createRootCaPublisher } from './controller.ts'

describe('the publisher of the root certificate', () => {
  let environment: VirtualEnvironment
  let client: FakeClient
  let manager: Manager

  beforeEach(() => {
    environment = virtualEnvironment()
    client = createFakeClient(environment)
    manager = createManager({ client, environment })
  })

  afterEach(() => manager.stop())

  const start = (rootCertificate?: string) => {
    manager.add(createRootCaPublisher({ rootCertificate }))
    return manager.start()
  }
  const namespace = async (name: string, phase = 'Active') => {
    const object = { apiVersion: 'v1', kind: 'Namespace', metadata: { name }, status: { phase } } as Namespace
    await client.create<Namespace>(namespaces, object)
    await environment.clock.settle()
  }
  const published = () =>
    client.stored(configMaps).map(({ metadata, data }) => [`${metadata.namespace}/${metadata.name}`, data])
  const key = { namespace: 'a', name: 'kube-root-ca.crt' }

  it('puts it into every namespace that is not going, with a word on what it is for', async () => {
    await start('PEM')
    await namespace('a')
    await namespace('b', 'Terminating')
    expect(published()).toEqual([['a/kube-root-ca.crt', { 'ca.crt': 'PEM' }]])
    const { annotations } = (await client.get(configMaps, key)).metadata
    expect(annotations?.['kubernetes.io/description']).toMatch(/^Contains a CA bundle/)
  })

  it('puts it back when it was deleted or changed, and keeps what else is said about it', async () => {
    await start('PEM')
    await namespace('a')
    await client.delete(configMaps, key)
    await environment.clock.settle()
    expect(published()).toHaveLength(1)
    const body = { data: { 'ca.crt': 'other', more: 'x' }, metadata: { labels: { own: 'label' } } }
    await client.patch(configMaps, key, { type: 'merge', body })
    await environment.clock.settle()
    expect(published()).toEqual([['a/kube-root-ca.crt', { 'ca.crt': 'PEM' }]])
    expect((await client.get(configMaps, key)).metadata.labels).toEqual({ own: 'label' })
  })

  it('publishes nothing where there is no certificate', async () => {
    await start()
    await namespace('a')
    expect(published()).toEqual([])
  })
})
