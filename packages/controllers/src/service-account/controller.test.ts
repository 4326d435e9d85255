import { type Namespace, namespaces, serviceAccounts } from '@coracle/api'
import type { FakeClient } from '@coracle/client/testing'
import type { VirtualEnvironment } from '@coracle/environment'
import { beforeEach, describe, expect, it } from 'vitest'
import { atWork } from '../testing/at-work.ts'
import { createServiceAccountController } from './controller.ts'

describe('the service account controller', () => {
  let environment: VirtualEnvironment
  let client: FakeClient

  beforeEach(async () => {
    ;({ environment, client } = await atWork(() => [createServiceAccountController()]))
  })

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
