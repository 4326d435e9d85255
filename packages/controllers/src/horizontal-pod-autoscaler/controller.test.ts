import {
  type Deployment,
  deployments,
  type HorizontalPodAutoscaler,
  horizontalPodAutoscalers,
  type Pod,
  pods,
} from '@coracle/api'
import type { FakeClient } from '@coracle/client/testing'
import type { VirtualEnvironment } from '@coracle/environment'
import { beforeEach, expect, it } from 'vitest'
import { atWork } from '../testing/at-work.ts'
import { pod } from '../testing/objects.ts'
import { atWorkByClock } from '../testing/put-back.ts'
import { createHorizontalPodAutoscalerController } from './controller.ts'

let environment: VirtualEnvironment
let client: FakeClient

beforeEach(async () => {
  ;({ environment, client } = await atWork(() => [
    createHorizontalPodAutoscalerController({ resources: () => [deployments] }),
  ]))
})

/** What is scaled. The fake client gives the object itself for its scale: its selector stands in its status. */
const createScaled = (name: string, selector: string) =>
  client.create<Deployment>(deployments, {
    metadata: { namespace: 'default', name },
    spec: { replicas: 1 },
    status: { replicas: 1, selector },
  } as unknown as Deployment)

const autoscaler = (name: string): HorizontalPodAutoscaler => ({
  apiVersion: 'autoscaling/v2',
  kind: 'HorizontalPodAutoscaler',
  metadata: { namespace: 'default', name },
  spec: {
    scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name },
    maxReplicas: 3,
    metrics: [
      {
        type: 'External',
        external: { metric: { name: 'queue' }, target: { type: 'AverageValue', averageValue: '1' } },
      },
    ],
  },
})

const createAutoscaler = (name: string) => client.create(horizontalPodAutoscalers, autoscaler(name))

const createPod = (name: string, labels: Readonly<Record<string, string>>) =>
  client.create<Pod>(pods, { ...pod(name), metadata: { namespace: 'default', name, labels } })

const reasonOf = (name: string) =>
  client
    .stored(horizontalPodAutoscalers)
    .find(({ metadata }) => metadata.name === name)
    ?.status?.conditions?.find(({ type }) => type === 'ScalingActive')?.reason

it('finds the pods of a workload in its cache, and lists none at its looks', async () => {
  await createScaled('web', 'app=web')
  await createScaled('front', 'tier in (front)')
  await createScaled('db', 'app=db')
  for (const name of ['web', 'front', 'db']) await createAutoscaler(name)
  await createPod('a', { app: 'web' })
  await createPod('b', { app: 'db' })
  await environment.clock.advance('1m')
  expect(['web', 'front', 'db'].map(reasonOf)).toEqual(Array(3).fill('FailedGetExternalMetric'))
  await createPod('c', { app: 'web', tier: 'front' })
  await environment.clock.advance('1m')
  expect(['web', 'front', 'db'].map(reasonOf)).toEqual([
    'AmbiguousSelector',
    'AmbiguousSelector',
    'FailedGetExternalMetric',
  ])
  // The one that fills the cache.
  expect(client.calls.filter(({ verb, plural }) => verb === 'list' && plural === 'pods')).toHaveLength(1)
})

it('goes on looking when the clock has been put back', async () => {
  const { clock, client, putBack } = await atWorkByClock(
    createHorizontalPodAutoscalerController({ resources: () => [deployments] }),
  )
  await client.create<HorizontalPodAutoscaler>(horizontalPodAutoscalers, autoscaler('web'))
  await clock.advance('1m')
  putBack()
  const looks = () => client.calls.filter(({ verb, plural }) => verb === 'get' && plural === 'deployments').length
  const before = looks()
  expect(before).toBeGreaterThan(0)
  await clock.advance('1m')
  expect(looks() - before).toBe(4)
})
