import { configMaps, type KubernetesObject, pods } from '@coracle/api'
import { type Client, ConnectionError, interceptClient } from '@coracle/client'
import { createFakeClient } from '@coracle/client/testing'
import { virtualEnvironment } from '@coracle/environment'
import { expect, it } from 'vitest'
import { Network } from './network.ts'

/** A server that answers every write with an object of a revision. */
function answering(revision: () => number): Client {
  const answer = () => ({ metadata: { resourceVersion: String(revision()) } }) as KubernetesObject
  return interceptClient(() => createFakeClient(virtualEnvironment()), { call: async () => answer() as never })
}

const key = { namespace: 'default', name: 'web' }

it('takes for the writer of a revision who brought it about, and not who was answered with it later', async () => {
  let latest = 6
  const network = new Network(virtualEnvironment(), [], () => latest)
  const change = (component: string, revision: () => number) =>
    network.between(0, component, answering(revision)).patch(configMaps, key, { type: 'merge', body: {} })
  await change('namespace-controller', () => ++latest)
  // An object that is gone with its last finalizer is answered as it was before.
  await change('pvc-protection-controller', () => latest++)
  expect(latest).toBe(8)
  expect(network.writersOf(7)).toEqual(new Set(['namespace-controller']))
})

it('knows which creations may have taken effect unheard, until one of the same name is answered', async () => {
  const outcomes = [new ConnectionError('refused', { refused: true }), new ConnectionError('lost'), undefined]
  const client = interceptClient(() => createFakeClient(virtualEnvironment()), {
    async call() {
      const error = outcomes.shift()
      if (error !== undefined) throw error
      return { metadata: key } as never
    },
  })
  const environment = virtualEnvironment()
  const way = new Network(environment, [], () => 0)
  const create = () => way.between(0, 'root-ca', client).create(configMaps, { metadata: key } as never)
  const startMs = environment.clock.now()
  const isUnanswered = (sinceMs = startMs) => way.isCreationUnanswered('ConfigMap', 'default', 'web', sinceMs)
  await expect(create()).rejects.toThrow('refused')
  expect(isUnanswered()).toBe(false)
  await expect(create()).rejects.toThrow('lost')
  expect(isUnanswered()).toBe(true)
  expect(isUnanswered(startMs + 1)).toBe(false)
  expect(way.isCreationUnanswered('ConfigMap', 'default', 'other', startMs)).toBe(false)
  await create()
  expect(isUnanswered()).toBe(false)
})

it('counts a pod as made unheard for its owner alone, and only where the server may have made it', async () => {
  const environment = virtualEnvironment()
  const way = new Network(environment, [{ atMs: 0, type: 'bad-network', probability: 0.5, forMs: 1 }], () => 0)
  const server = createFakeClient(environment)
  const client = way.between(0, 'replicaset-controller', server)
  const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: 'web', controller: true }
  const create = (name: string) =>
    client.create(pods, { metadata: { namespace: 'default', name, ownerReferences: [owner] } } as never)
  const unanswered = () => way.unansweredPodsSince('web', 0)
  way.partition(0, 'replicaset-controller', 'requests', 1000)
  await expect(create('a')).rejects.toThrow('the request is lost')
  expect([unanswered(), server.stored(pods).length]).toEqual([0, 0])
  await environment.clock.advance('1s')
  way.partition(0, 'replicaset-controller', 'answers', 1000)
  await expect(create('b')).rejects.toThrow('the answer is lost')
  expect([unanswered(), server.stored(pods).length]).toEqual([1, 1])
  expect(way.unansweredPodsSince('other', 0)).toBe(0)
})

it('knows who last had an object deleted, and whether by force', async () => {
  const environment = virtualEnvironment()
  const way = new Network(environment, [], () => 0)
  const server = createFakeClient(environment)
  const remove = (component: string, options: object) => way.between(0, component, server).delete(pods, key, options)
  const last = () => [way.deleterOf('Pod', 'default', 'web'), way.isForced('Pod', 'default', 'web')]
  await server.create(pods, { metadata: key } as never)
  await remove('player', { gracePeriodSeconds: 0 })
  expect(last()).toEqual(['player', true])
  await server.create(pods, { metadata: key } as never)
  await remove('job-controller', {})
  expect(last()).toEqual(['job-controller', false])
  expect(way.deleterOf('ConfigMap', 'default', 'web')).toBeUndefined()
})
