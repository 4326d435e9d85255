import {
  ApiError,
  type Deployment,
  deployments,
  events,
  type Pod,
  pods,
  type ReplicaSet,
  replicaSets,
  staleVersion,
} from '@coracle/api'
import type { FakeClient } from '@coracle/client/testing'
import { controllerRef, type Manager } from '@coracle/controller-runtime'
import type { VirtualEnvironment } from '@coracle/environment'
import { beforeEach, describe, expect, it } from 'vitest'
import { atWork } from '../testing/at-work.ts'
import { countReads } from '../testing/count-reads.ts'
import { deployment, replicaSet, rolling, templateOf } from '../testing/deployments.ts'
import { pod } from '../testing/objects.ts'
import { createDeploymentController } from './controller.ts'

const key = { namespace: 'default', name: 'web' }

describe('the deployment controller', () => {
  let environment: VirtualEnvironment
  let client: FakeClient
  let manager: Manager

  beforeEach(async () => {
    ;({ environment, client, manager } = await atWork(() => [createDeploymentController()]))
  })

  const create = async (object: Deployment) => {
    const { uid: _uid, resourceVersion: _version, ...metadata } = object.metadata
    const created = await client.create<Deployment>(deployments, { ...object, metadata })
    await environment.clock.settle()
    return created
  }
  const current = () => client.get(deployments, key)
  const sets = () => client.stored(replicaSets) as readonly ReplicaSet[]
  const condition = async (type: string) => (await current()).status?.conditions?.find((each) => each.type === type)

  it('adopts a ReplicaSet that matches and is nobody’s, instead of making one', async () => {
    const { metadata, ...rest } = replicaSet('new', { replicas: 2 })
    const { name, namespace, labels } = metadata
    await client.create(replicaSets, { ...rest, metadata: { name, namespace, labels } })
    const { metadata: owner } = await create(deployment(2))
    expect(sets().map(({ metadata }) => [metadata.name, metadata.ownerReferences?.[0]?.uid])).toEqual([
      ['web-new', owner.uid],
    ])
  })

  it('lets a ReplicaSet go that is relabelled, and makes another', async () => {
    await create(deployment(2))
    const [first] = sets()
    const body = { metadata: { labels: { app: 'aside' } } }
    const name = first?.metadata.name ?? ''
    await client.patch(replicaSets, { namespace: 'default', name }, { type: 'merge', body })
    await environment.clock.settle()
    const [released, made] = [...sets()].sort((a, b) =>
      a.metadata.name === name ? -1 : b.metadata.name === name ? 1 : 0,
    )
    expect(released?.metadata.ownerReferences).toBeUndefined()
    // The name of the one that was let go is taken.
    expect(made?.metadata.name).not.toBe(name)
    expect((await current()).status?.collisionCount).toBe(1)
  })

  it('says that a ReplicaSet cannot be made, and takes it back when it can', async () => {
    const accept = client.intercept(({ verb, plural }) => {
      if (verb === 'create' && plural === 'replicasets') throw new ApiError(403, 'Forbidden', 'no room')
    })
    await create(deployment(2))
    expect(await condition('Progressing')).toMatchObject({
      status: 'False',
      reason: 'ReplicaSetCreateError',
      message: expect.stringMatching(/^Failed to create new replica set "web-\w+": no room$/),
    })
    accept()
    await environment.clock.advance('1m')
    expect(sets()).toHaveLength(1)
    expect(await condition('Progressing')).toMatchObject({ status: 'True', reason: 'NewReplicaSetCreated' })
  })

  it('does not take it for a failure to make one that another has changed meanwhile', async () => {
    await create(deployment(4))
    const recover = client.intercept(({ verb, plural }) => {
      if (verb === 'update' && plural === 'replicasets') throw staleVersion(replicaSets, 'web')
    })
    const template = templateOf('newer')
    await client.patch(deployments, key, { type: 'merge', body: { spec: { template, ...rolling(0, 4) } } })
    await environment.clock.settle()
    expect(await condition('Progressing')).toMatchObject({ reason: 'NewReplicaSetCreated' })
    recover()
    await environment.clock.advance('10s')
    expect(sets().map(({ spec }) => spec.replicas)).toEqual([0, 4])
  })

  it('makes nothing in a namespace that is going, and says nothing of it', async () => {
    client.intercept(({ verb, plural }) => {
      if (verb !== 'create' || plural !== 'replicasets') return
      const causes = [{ reason: 'NamespaceTerminating', message: 'namespace default is being terminated' }]
      throw new ApiError(403, 'Forbidden', 'namespace default is being terminated', { causes })
    })
    await create(deployment(2))
    await environment.clock.advance('1h')
    expect(client.calls.filter(({ verb, plural }) => verb === 'create' && plural === 'replicasets')).toHaveLength(1)
    expect((await current()).status).toEqual({})
    expect(client.stored(events)).toEqual([])
  })

  it('makes new pods as soon as the last of the old ones has ended, where they are recreated', async () => {
    const strategy = { type: 'Recreate' as const }
    await create(deployment(1, { strategy }))
    const [old] = sets()
    const { metadata, ...rest } = pod('old')
    const ownerReferences = [controllerRef(old as ReplicaSet)]
    await client.create<Pod>(pods, { ...rest, metadata: { namespace: 'default', name: 'old', ownerReferences } })
    await client.patch(deployments, key, { type: 'merge', body: { spec: { template: templateOf('newer') } } })
    await environment.clock.settle()
    expect(sets().map(({ spec }) => spec.replicas)).toEqual([0])
    await client.delete(pods, { namespace: 'default', name: 'old' })
    await environment.clock.settle()
    expect(sets().map(({ spec }) => spec.replicas)).toEqual([0, 1])
  })

  it('says so when the time for progress is up', async () => {
    await create(deployment(2))
    await environment.clock.advance('599s')
    expect(await condition('Progressing')).toMatchObject({ status: 'True' })
    await environment.clock.advance('2s')
    expect(await condition('Progressing')).toMatchObject({ status: 'False', reason: 'ProgressDeadlineExceeded' })
  })

  it('writes the revision and the status in one', async () => {
    await create(deployment(2))
    const writes = client.calls.filter(({ plural, verb }) => plural === 'deployments' && verb === 'update')
    expect(writes).toHaveLength(1)
    expect((await current()).metadata.annotations).toEqual({ 'deployment.kubernetes.io/revision': '1' })
  })

  it('makes no ReplicaSet twice while its cache lags behind its own writes', async () => {
    client.holdWatches(replicaSets)
    await create(deployment(2))
    await client.patch(deployments, key, { type: 'merge', body: { metadata: { labels: { touched: 'yes' } } } })
    await environment.clock.settle()
    client.releaseWatches()
    await environment.clock.settle()
    expect(sets()).toHaveLength(1)
  })

  it.each([100, 10_000])('looks at few objects when one of %i deployments changes', async (count) => {
    for (let index = 0; index < count; index++) {
      const { uid: _uid, resourceVersion: _version, ...metadata } = deployment(1).metadata
      const other = { ...deployment(1), metadata: { ...metadata, name: `other-${index}` } }
      const labels = { app: `other-${index}` }
      const spec = { ...other.spec, replicas: 0, paused: true, selector: { matchLabels: labels } }
      await client.create(deployments, { ...other, spec })
    }
    await create(deployment(1))
    const reads = countReads(manager.informer(deployments), manager.informer(replicaSets))
    await client.patch(deployments, key, { type: 'merge', body: { spec: { replicas: 2 } } })
    await environment.clock.settle()
    expect(sets()).toMatchObject([{ spec: { replicas: 2 } }])
    expect(reads.taken()).toBeLessThan(10)
  })
})
