import { type Pod, pods, type ResourceQuota, resourceQuotas } from '@coracle/api'
import { type Interceptor, interceptClient } from '@coracle/client'
import { createFakeClient, type FakeClient } from '@coracle/client/testing'
import { createManager } from '@coracle/controller-runtime'
import { virtualEnvironment } from '@coracle/environment'
import { expect, it } from 'vitest'
import { createResourceQuotaController } from './controller.ts'

const key = { namespace: 'default', name: 'quota' }

const pod = (name: string): Pod =>
  ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace: 'default', name },
    spec: { containers: [] },
    status: { phase: 'Running' },
  }) as unknown as Pod

const charge = (client: FakeClient, used: string) =>
  client.patch(resourceQuotas, key, { type: 'merge', body: { status: { used: { pods: used } } } })

it('counts again where the quota was charged meanwhile, though the count is what it said before', async () => {
  const environment = virtualEnvironment()
  const client = createFakeClient(environment)
  let isFirst = true
  /** While pods are listed for the first time another comes, which is charged, and is in the list. */
  const meanwhile: Interceptor = {
    async call({ verb, resource }, proceed) {
      if (verb === 'list' && resource.plural === 'pods' && isFirst) {
        isFirst = false
        await charge(client, '2')
        await client.create<Pod>(pods, pod('second'))
      }
      return proceed()
    },
  }
  await client.create<ResourceQuota>(resourceQuotas, {
    apiVersion: 'v1',
    kind: 'ResourceQuota',
    metadata: key,
    spec: { hard: { pods: '2' } },
    // The pod that it was charged for is gone.
    status: { hard: { pods: '2' }, used: { pods: '1' } },
  })
  const manager = createManager({ client: interceptClient(() => client, meanwhile), environment })
  manager.add(createResourceQuotaController({ resources: () => [pods] }))
  const started = manager.start()
  await environment.clock.advance('1s')
  await started
  expect((await client.get<ResourceQuota>(resourceQuotas, key)).status?.used).toEqual({ pods: '1' })
  await manager.stop()
})
