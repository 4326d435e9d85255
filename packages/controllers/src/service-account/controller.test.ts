import { type Namespace, namespaces, serviceAccounts } from '@coracle/api'
import { createFakeClient, type FakeClient } from '@coracle/client/testing'
import { createManager, type Manager } from '@coracle/controller-runtime'
import { type VirtualEnvironment, virtualEnvironment } from '@coracle/environment'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createServiceAccountController } from './controller.ts'

describe('the service account controller', () => {
  let environment: VirtualEnvironment
  let client: FakeClient
  let manager: Manager

  beforeEach(async () => {
    environment = virtualEnvironment()
    client = createFakeClient(environment)
    manager = createManager({ client, environment })
    manager.add(createServiceAccountController())
    await manager.start()
  })

  afterEach(() => manager.stop())

  const namespace = (name: string, phase = 'Active') =>
    client.create<Namespace>(namespaces, {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name },
      status: { phase },
    } as Namespace)
  const accounts = () => client.stored(serviceAccounts).map(({ metadata }) => `${metadata.namespace}/${metadata.name}`)

  it('gives every namespace a default service account, again after it was deleted', async () => {
    await namespace('a')
    await namespace('b')
    await environment.clock.settle()
    expect(accounts()).toEqual(['a/default', 'b/default'])
    await client.delete(serviceAccounts, { namespace: 'a', name: 'default' })
    await environment.clock.settle()
    expect(accounts()).toEqual(['b/default', 'a/default'])
  })

  it('gives none to a namespace that is going', async () => {
    await namespace('a', 'Terminating')
    await environment.clock.settle()
    expect(accounts()).toEqual([])
  })
})
