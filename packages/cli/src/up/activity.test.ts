import { type Event, events, type Pod, pods } from '@coracle/api'
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

it('tells pods that were there before from those that a node was given in a file', async () => {
  const environment = virtualEnvironment()
  const client = createFakeClient(environment)
  const { clock } = environment
  await client.create(pods, podOf('former', 'web'))
  await clock.advance(1_500)
  const startedMs = clock.now()
  await client.create(pods, podOf('of-a-file', undefined))
  const activity = await followActivity(client, environment, startedMs, () => {})
  expect([activity.livePods, activity.earlierPods]).toEqual([2, 1])
  await activity.stop()
})

it('tells of a warning when it comes, and of a readiness probe when it has failed three times', async () => {
  const environment = virtualEnvironment()
  const client = createFakeClient(environment)
  const told: string[] = []
  const activity = await followActivity(client, environment, 0, ({ what }) => told.push(what))
  const warn = async (message: string, count: number) => {
    const name = message.slice(0, 8).toLowerCase().trim()
    const event = {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name, namespace: 'default' },
      involvedObject: { kind: 'Pod', namespace: 'default', name: 'web' },
      type: 'Warning',
      reason: 'Unhealthy',
      message,
      count,
    } as Event
    if (count === 1) await client.create(events, event)
    else await client.update(events, event)
    await environment.clock.settle()
  }
  await warn('Readiness probe failed: not yet', 1)
  await warn('Readiness probe failed: not yet', 2)
  expect(told).toEqual([])
  await warn('Liveness probe failed: gone', 1)
  await warn('Liveness probe failed: gone', 3)
  expect(told).toEqual(['Unhealthy: Liveness probe failed: gone'])
  await warn('Readiness probe failed: not yet', 3)
  await warn('Readiness probe failed: not yet', 4)
  expect(told.slice(1)).toEqual(['Unhealthy: Readiness probe failed: not yet'])
  await activity.stop()
})

it.each([
  ['what is no warning', { type: 'Normal', reason: 'Scheduled' }],
  ['that a pod has no node, as its own changes do', { type: 'Warning', reason: 'FailedScheduling' }],
  ['that a container waits to be started again, as the changes of its pod do', { type: 'Warning', reason: 'BackOff' }],
])('does not tell of %s', async (_, what) => {
  const environment = virtualEnvironment()
  const client = createFakeClient(environment)
  const told: string[] = []
  const activity = await followActivity(client, environment, 0, (change) => told.push(change.what))
  const event = (name: string, { type, reason }: { readonly type: string; readonly reason: string }): Event => ({
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name, namespace: 'default' },
    involvedObject: { kind: 'Pod', namespace: 'default', name: 'web' },
    type,
    reason,
    message: 'as it is',
  })
  await client.create(events, event('one', what))
  await client.create(events, event('other', { type: 'Warning', reason: 'Failed' }))
  await environment.clock.settle()
  expect(told).toEqual(['Failed: as it is'])
  await activity.stop()
})

it('knows the controller of a pod that has just gone, and of one that has come back under its name', async () => {
  const environment = virtualEnvironment()
  const client = createFakeClient(environment)
  const { clock } = environment
  const { groups, stop } = await followActivity(client, environment, 0, () => {})
  for (const name of ['a', 'b']) await client.create(pods, podOf(name, 'web'))
  await clock.settle()
  for (const name of ['a', 'b']) await client.delete(pods, { namespace: 'default', name })
  await clock.advance('4s')
  expect(['pod/a', 'pod/b'].map(groups.groupOf)).toEqual([web, web])
  await client.create(pods, podOf('b', 'web'))
  await clock.advance('10s')
  expect(['pod/a', 'pod/b'].map(groups.groupOf)).toEqual([undefined, web])
  await stop()
})
