import {
  ApiError,
  type KubernetesObject,
  type Node,
  nodes,
  type Pod,
  type PodSpec,
  pods,
  type ReplicationController,
  replicationControllers,
  type StoredKind,
} from '@coracle/api'
import { arbitraryOf } from '@coracle/api/testing'
import { createFakeClient } from '@coracle/client/testing'
import { createManager } from '@coracle/controller-runtime'
import { builtinControllers } from '@coracle/controllers'
import { createLogger, virtualEnvironment } from '@coracle/environment'
import { createNodeAgents } from '@coracle/kubelet/simulated'
import { createScheduler } from '@coracle/scheduler'
import * as fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'

const objectsPerKind = 60

/** What schemas allow, at the ends of what there is: validation would refuse most of it, and nobody here may rely on that. */
function hostile<T extends KubernetesObject>({ schema }: StoredKind<T>, seed: number): readonly T[] {
  const objects = fc.sample(arbitraryOf<T>(schema, { extreme: true }), { seed, numRuns: objectsPerKind })
  return objects.map(({ metadata, ...rest }, index) => {
    const { labels, annotations } = metadata ?? {}
    const name = { name: `hostile-${index}`, namespace: 'default' }
    return { ...rest, metadata: { ...name, labels, annotations } } as unknown as T
  })
}

const plainSpec: PodSpec = { schedulerName: 'default-scheduler', containers: [{ name: 'main', image: 'x' }] }

const hostileControllers = (seed: number): readonly ReplicationController[] =>
  hostile(replicationControllers, seed).map((controller) => {
    // Pods that their node refuses are replaced at once, as upstream does, and on a clock that stands still for ever.
    const template = { ...controller.spec?.template, spec: { ...controller.spec?.template?.spec, ...plainSpec } }
    return { ...controller, spec: { ...controller.spec, template, replicas: 0 } }
  })

/** Of every two pods one is on a node, and one looks for one. */
function hostilePods(seed: number): readonly Pod[] {
  return hostile(pods, seed).map((pod, index) => {
    const { containers = [], ...spec } = pod.spec ?? {}
    const place = index % 2 === 0 ? { nodeName: `node-${index % 3}` } : { nodeName: '' }
    const own = containers.length > 0 ? containers : plainSpec.containers
    return { ...pod, spec: { ...spec, ...place, schedulerName: 'default-scheduler', containers: own } }
  })
}

describe('objects that nobody would think of', () => {
  it.each([1, 2, 3])('keep no scheduler, node agent or controller from its work (seed %i)', async (seed) => {
    const defects: unknown[] = []
    const logger = createLogger(({ fields: { error } }) => {
      if (error instanceof Error && !(error instanceof ApiError)) defects.push(error)
    })
    const environment = virtualEnvironment({ logger })
    const { clock } = environment
    const client = createFakeClient(environment)
    for (const pod of hostilePods(seed)) await client.create(pods, pod)
    for (const node of hostile(nodes, seed)) {
      const { namespace: _, ...metadata } = node.metadata
      await client.create<Node>(nodes, { ...node, metadata })
    }
    for (const controller of hostileControllers(seed)) await client.create(replicationControllers, controller)
    const scheduler = createScheduler({ client, environment })
    const agents = createNodeAgents({ client, environment, count: 3, runtime: 'simulated', namePrefix: 'node-' })
    const manager = createManager({ client, environment })
    for (const builtin of builtinControllers) {
      if (builtin.runs !== 'in-manager') continue
      manager.add(builtin.create({ client, environment, informer: manager.informer, resources: () => [pods, nodes] }))
    }
    client.createSubresource = async (_resource, key, _subresource, body) => {
      const { target } = body as unknown as { readonly target: { readonly name: string } }
      await client.patch(pods, key, { type: 'merge', body: { spec: { nodeName: target.name } } })
      return body as never
    }
    const started = Promise.all([scheduler.start(), agents.start(), manager.start()])
    onTestFinished(async () => {
      const stopped = Promise.all([scheduler.stop(), agents.stop(), manager.stop()])
      await clock.settle()
      await stopped
    })
    await clock.settle()
    await started

    await client.create<ReplicationController>(replicationControllers, {
      apiVersion: 'v1',
      kind: 'ReplicationController',
      metadata: { name: 'plain', namespace: 'default' },
      spec: {
        replicas: 5,
        selector: { app: 'plain' },
        template: { metadata: { labels: { app: 'plain' } }, spec: { ...plainSpec, priority: 1 } },
      },
    })
    await clock.advance('20m')
    const plain = client.stored(pods).filter(({ metadata }) => metadata.labels?.app === 'plain')
    expect(defects).toEqual([])
    expect(plain.map(({ status }) => status?.phase)).toEqual(Array(5).fill('Running'))
  })

  it.each<[string, StoredKind, readonly KubernetesObject[]]>([
    ['pods', pods as StoredKind, hostilePods(1)],
    ['nodes', nodes as StoredKind, hostile(nodes, 1)],
    ['replication controllers', replicationControllers as StoredKind, hostileControllers(1)],
  ])('are shown in tables: %s', (_, { columns }, objects) => {
    for (const object of objects) {
      for (const { cell } of columns) expect(() => cell(object, 0)).not.toThrow()
    }
  })
})
