import { type Pod, pods } from '@coracle/api'
import { createFakeClient } from '@coracle/client/testing'
import { virtualEnvironment } from '@coracle/environment'
import { expect, it } from 'vitest'
import { followActivity } from './activity.ts'

const web = 'replicationcontroller/web'

function podOf(name: string, owner: string | undefined): Pod {
  const ownerReferences = [
    { apiVersion: 'v1', kind: 'ReplicationController', name: owner ?? '', uid: 'u', controller: true },
  ]
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default', ...(owner === undefined ? {} : { ownerReferences }) },
    spec: { containers: [{ name: 'main', image: 'example/main' }] },
  } as Pod
}

it('counts the pods of a controller that stay, and those of them that are ready', async () => {
  const environment = virtualEnvironment()
  const client = createFakeClient(environment)
  const { clock } = environment
  const activity = await followActivity(client, environment, 0, () => {})
  for (const name of ['a', 'b', 'c']) await client.create(pods, podOf(name, 'web'))
  await client.create(pods, podOf('alone', undefined))
  const say = async (name: string, status: Pod['status']) => {
    const pod = await client.get(pods, { namespace: 'default', name })
    await client.update(pods, { ...pod, status } as Pod, { subresource: 'status' })
  }
  const ready = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] } as const
  await say('a', ready)
  await say('b', ready)
  await clock.settle()
  expect(activity.groups.tally(web)).toEqual({ ready: 2, total: 3 })
  await say('b', { phase: 'Failed' })
  await client.delete(pods, { namespace: 'default', name: 'c' })
  await clock.settle()
  expect(activity.groups.tally(web)).toEqual({ ready: 1, total: 1 })
  await client.delete(pods, { namespace: 'default', name: 'a' })
  await clock.settle()
  expect(activity.groups.tally(web)).toEqual({ ready: 0, total: 0 })
  await activity.stop()
})
