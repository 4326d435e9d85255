import { configMaps, storageClasses } from '@coracle/api'
import { type VirtualEnvironment, virtualEnvironment } from '@coracle/environment'
import { createMemoryStore } from '@coracle/store'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { type Cluster, type ClusterOptions, startCluster } from '../src/index.ts'

let environment: VirtualEnvironment

beforeEach(() => {
  environment = virtualEnvironment({ seed: 7 })
})

async function start(options: ClusterOptions = {}): Promise<Cluster> {
  const cluster = await startCluster({ environment, ...options })
  onTestFinished(() => cluster.stop())
  await environment.clock.settle()
  return cluster
}

describe('the default storage class', () => {
  const names = async ({ client }: Cluster) =>
    (await client.list(storageClasses)).items.map(({ metadata }) => metadata.name)
  const key = { name: 'local-path' }

  it('is there in a new cluster, and is its users’ from then on', async () => {
    const store = createMemoryStore()
    const first = await start({ store })
    expect(await first.client.get(storageClasses, key)).toMatchObject({
      metadata: { annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
      provisioner: 'coracle.dev/local-path',
      reclaimPolicy: 'Delete',
      volumeBindingMode: 'WaitForFirstConsumer',
    })
    await first.client.delete(storageClasses, key)
    await first.stop()
    const second = await start({ store })
    expect(await names(second)).toEqual([])
    await second.client.delete(configMaps, { namespace: 'kube-system', name: 'local-path-provisioner' })
    await second.stop()
    expect(await names(await start({ store }))).toEqual(['local-path'])
  })

  it('stays as its users have changed it', async () => {
    const store = createMemoryStore()
    const first = await start({ store })
    const annotations = { 'storageclass.kubernetes.io/is-default-class': 'false' }
    await first.client.patch(storageClasses, key, { type: 'merge', body: { metadata: { annotations } } })
    await first.stop()
    const second = await start({ store })
    expect((await second.client.get(storageClasses, key)).metadata.annotations).toEqual(annotations)
  })
})
