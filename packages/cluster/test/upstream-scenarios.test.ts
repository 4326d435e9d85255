/**
 * What upstream's conformance tests ask of workloads (test/e2e/apps), as far as no other test here asks the same: each is named after
 * the one it stands for. The operations of their API are in `api-operations.test.ts`.
 */
import {
  ApiError,
  controllerRevisions,
  cronJobs,
  daemonSets,
  deployments,
  events,
  type Job,
  type JobSpec,
  jobs,
  type KubernetesObject,
  nodes,
  type Pod,
  type PodSpec,
  podDisruptionBudgets,
  pods,
  type Resource,
  replicaSets,
  replicationControllers,
  resourceQuotas,
  type StatefulSetSpec,
  statefulSets,
} from '@coracle/api'
import { type VirtualEnvironment, virtualEnvironment } from '@coracle/environment'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Cluster, startCluster } from '../src/index.ts'

const namespace = 'default'
const labels = { app: 'web' }
const selector = { matchLabels: labels }

let environment: VirtualEnvironment
let cluster: Cluster

beforeEach(async () => {
  environment = virtualEnvironment({ seed: 5 })
  cluster = await startCluster({ environment, nodes: 3 })
})

afterEach(() => cluster.stop())

const advance = (time: string) => environment.clock.advance(time)
const keyOf = (name: string) => ({ namespace, name })
const template = (spec: Partial<PodSpec> = {}, own: object = labels) => ({
  metadata: { labels: own },
  spec: { containers: [{ name: 'main', image: 'example/web:1' }], ...spec },
})
const create = async (resource: Resource, name: string, spec: object, own: object = {}) => {
  const apiVersion = resource.group === '' ? resource.version : `${resource.group}/${resource.version}`
  await cluster.client.create(resource, {
    apiVersion,
    kind: resource.kind,
    metadata: { name, namespace, labels: own },
    spec,
  } as KubernetesObject)
  await environment.clock.settle()
}
const createPod = (name: string, spec: Partial<PodSpec> = {}) =>
  cluster.client.create(pods, {
    apiVersion: 'v1',
    kind: 'Pod',
    ...template(spec),
    metadata: { name, namespace, labels },
  } as Pod)
const listPods = async (): Promise<readonly Pod[]> => (await cluster.client.list(pods, { namespace })).items
const findPod = (name: string) => cluster.client.get(pods, keyOf(name))
const names = async () => (await listPods()).map(({ metadata }) => metadata.name ?? '').sort()
const uids = async () => (await listPods()).map(({ metadata }) => metadata.uid ?? '').sort()
const change = (resource: Resource, name: string, body: object, subresource?: string) =>
  cluster.client.patch(
    resource,
    keyOf(name),
    { type: 'strategic', body },
    subresource === undefined ? {} : { subresource },
  )
const setImage = (resource: Resource, name: string, image: string) =>
  change(resource, name, { spec: { template: { spec: { containers: [{ name: 'main', image }] } } } })
/** Ends a pod, as its node would. */
const end = (name: string, phase: 'Failed' | 'Succeeded', status: object = {}) =>
  change(pods as Resource, name, { status: { phase, ...status } }, 'status')
const evict = (name: string) =>
  cluster.client.createSubresource(pods, keyOf(name), 'eviction', {
    apiVersion: 'policy/v1',
    kind: 'Eviction',
    metadata: keyOf(name),
  })
const refusal = (work: Promise<unknown>): Promise<number> =>
  work.then(
    () => 0,
    (error: unknown) => (error instanceof ApiError ? error.code : -1),
  )

describe.each([
  ['ReplicationController', replicationControllers as Resource, labels],
  ['ReplicaSet', replicaSets as Resource, selector],
] as const)('a %s', (_, resource, selects) => {
  it('should adopt matching pods on creation, and release no longer matching pods', async () => {
    const { metadata } = await createPod('orphan')
    await create(resource, 'web', { replicas: 1, selector: selects, template: template() })
    await advance('10s')
    expect(await uids()).toEqual([metadata.uid])
    expect((await findPod('orphan')).metadata.ownerReferences).toMatchObject([{ name: 'web', controller: true }])
    await change(pods as Resource, 'orphan', { metadata: { labels: { app: 'not-matching' } } })
    await advance('10s')
    expect((await findPod('orphan')).metadata.ownerReferences).toBeUndefined()
    expect(await listPods()).toHaveLength(2)
  })

  it('should surface a failure condition on a common issue like exceeded quota', async () => {
    await create(resourceQuotas as Resource, 'two', { hard: { pods: '2' } })
    await create(resource, 'web', { replicas: 3, selector: selects, template: template() })
    await advance('10s')
    const conditions = async () => {
      const { status } = (await cluster.client.get(resource, keyOf('web'))) as {
        readonly status?: { conditions?: unknown }
      }
      return status?.conditions
    }
    expect(await conditions()).toMatchObject([
      {
        type: 'ReplicaFailure',
        status: 'True',
        reason: 'FailedCreate',
        message: expect.stringContaining('exceeded quota'),
      },
    ])
    await change(resource, 'web', { spec: { replicas: 2 } })
    await advance('10s')
    expect(await conditions()).toBeUndefined()
  })
})

describe('a Deployment', () => {
  it('should support rollover: a template that comes while another is rolled out is gone over to at once', async () => {
    // Pods that match already, of a ReplicaSet that the Deployment takes over.
    await create(replicaSets as Resource, 'before', { replicas: 1, selector, template: template() }, labels)
    await advance('10s')
    const never = template({ readinessGates: [{ conditionType: 'example.dev/never' }] })
    await create(deployments as Resource, 'web', { replicas: 1, selector, template: never })
    await advance('10s')
    await setImage(deployments as Resource, 'web', 'example/web:2')
    await change(deployments as Resource, 'web', { spec: { template: { spec: { readinessGates: null } } } })
    await advance('2m')
    const sets = (await cluster.client.list(replicaSets, { namespace })).items
    expect(sets.map(({ spec }) => spec.replicas).sort()).toEqual([0, 0, 0, 1])
    expect((await listPods()).map(({ spec }) => spec.containers[0]?.image)).toEqual(['example/web:2'])
  })
})

describe('a DaemonSet', () => {
  const images = async () => (await listPods()).map(({ spec }) => spec.containers[0]?.image).sort()

  it('should retry creating failed daemon pods', async () => {
    await create(daemonSets as Resource, 'agent', { selector, template: template() })
    await advance('10s')
    const [first] = await listPods()
    await end(first?.metadata.name ?? '', 'Failed')
    await advance('1m')
    expect((await listPods()).map(({ status }) => status?.phase)).toEqual(['Running', 'Running', 'Running'])
    expect(await uids()).not.toContain(first?.metadata.uid)
  })

  it('should rollback without unnecessary restarts', async () => {
    await create(daemonSets as Resource, 'agent', { selector, template: template() })
    await advance('1m')
    // A rollout that gets no further than its first pod.
    const stuck = { containers: [{ name: 'main', image: 'example/web:2' }], nodeSelector: { no: 'where' } }
    await change(daemonSets as Resource, 'agent', { spec: { template: { spec: { ...stuck, nodeSelector: null } } } })
    await change(daemonSets as Resource, 'agent', {
      spec: { template: { spec: { readinessGates: [{ conditionType: 'example.dev/never' }] } } },
    })
    await advance('1m')
    expect(await images()).toEqual(['example/web:1', 'example/web:1', 'example/web:2'])
    const untouched = new Set(
      (await listPods())
        .filter(({ spec }) => spec.containers[0]?.image === 'example/web:1')
        .map(({ metadata }) => metadata.uid),
    )
    await change(daemonSets as Resource, 'agent', { spec: { template: { spec: { readinessGates: null } } } })
    await setImage(daemonSets as Resource, 'agent', 'example/web:1')
    await advance('1m')
    expect(await images()).toEqual(['example/web:1', 'example/web:1', 'example/web:1'])
    expect((await uids()).filter((uid) => untouched.has(uid))).toHaveLength(2)
  })

  it('should keep the history of its templates, and no more of it than it may', async () => {
    await create(daemonSets as Resource, 'agent', { selector, template: template(), revisionHistoryLimit: 1 })
    for (const image of ['example/web:2', 'example/web:3', 'example/web:1']) {
      await setImage(daemonSets as Resource, 'agent', image)
      await advance('1m')
    }
    const { items } = await cluster.client.list(controllerRevisions, { namespace })
    // That of the first template was collected: the last one is a new one. One more is kept beside it.
    expect(items.map(({ revision }) => revision).sort()).toEqual([3, 4])
  })
})

describe('a StatefulSet', () => {
  const gate = 'example.dev/healthy'
  const gated = (spec: Partial<StatefulSetSpec> = {}) => ({
    serviceName: 'web',
    selector,
    template: template({ readinessGates: [{ conditionType: gate }] }),
    ...spec,
  })
  const setHealthy = async (name: string, isHealthy: boolean) => {
    const status = isHealthy ? 'True' : 'False'
    await change(pods as Resource, name, { status: { conditions: [{ type: gate, status }] } }, 'status')
    await advance('5s')
  }
  const scale = async (replicas: number) => {
    await change(statefulSets as Resource, 'web', { spec: { replicas } })
    await advance('1m')
  }

  it('scaling should happen in predictable order and halt if any stateful pod is unhealthy', async () => {
    await create(statefulSets as Resource, 'web', gated({ replicas: 3 }))
    await advance('1m')
    expect(await names()).toEqual(['web-0'])
    for (const name of ['web-0', 'web-1', 'web-2']) await setHealthy(name, true)
    expect(await names()).toEqual(['web-0', 'web-1', 'web-2'])
    for (const name of ['web-0', 'web-1', 'web-2']) await setHealthy(name, false)
    await scale(0)
    expect(await names()).toEqual(['web-0', 'web-1', 'web-2'])
    // Now the last is the only one that is not well, and goes first.
    for (const name of ['web-0', 'web-1']) await setHealthy(name, true)
    await advance('3m')
    expect(await names()).toEqual([])
  })

  it('burst scaling should run to completion even with unhealthy pods', async () => {
    await create(statefulSets as Resource, 'web', gated({ replicas: 1, podManagementPolicy: 'Parallel' }))
    await scale(3)
    expect(await names()).toEqual(['web-0', 'web-1', 'web-2'])
    await scale(0)
    await advance('1m')
    expect(await names()).toEqual([])
  })

  it('should recreate an evicted stateful pod', async () => {
    const [node] = (await cluster.client.list(nodes)).items
    const bound: Partial<PodSpec> = {
      nodeName: node?.metadata.name ?? '',
      containers: [{ name: 'main', image: 'example/web:1', ports: [{ containerPort: 80, hostPort: 8080 }] }],
    }
    await createPod('in-the-way', bound)
    await advance('10s')
    await create(statefulSets as Resource, 'web', {
      serviceName: 'web',
      selector,
      template: template(bound),
      replicas: 1,
    })
    const first = (await findPod('web-0')).metadata.uid
    await advance('5s')
    expect((await findPod('web-0')).metadata.uid).not.toBe(first)
    await cluster.client.delete(pods, keyOf('in-the-way'), { gracePeriodSeconds: 0 })
    await advance('5m')
    expect((await findPod('web-0')).status?.phase).toBe('Running')
  })

  it('should restore a pod that is deleted during a canary update, without violating the partition', async () => {
    const strategy = { type: 'RollingUpdate', rollingUpdate: { partition: 2 } }
    await create(statefulSets as Resource, 'web', {
      serviceName: 'web',
      selector,
      template: template(),
      replicas: 3,
      updateStrategy: strategy,
    })
    await advance('1m')
    await setImage(statefulSets as Resource, 'web', 'example/web:2')
    await advance('1m')
    for (const name of ['web-0', 'web-2']) await cluster.client.delete(pods, keyOf(name))
    await advance('2m')
    const images = Object.fromEntries(
      (await listPods()).map(({ metadata, spec }) => [metadata.name, spec.containers[0]?.image]),
    )
    expect(images).toEqual({ 'web-0': 'example/web:1', 'web-1': 'example/web:1', 'web-2': 'example/web:2' })
    const { status } = await cluster.client.get(statefulSets, keyOf('web'))
    expect(status).toMatchObject({ currentReplicas: 2, updatedReplicas: 1 })
  })

  it('should take a template that it had before as what it was', async () => {
    await create(statefulSets as Resource, 'web', { serviceName: 'web', selector, template: template(), replicas: 2 })
    await advance('1m')
    const revision = async () => (await cluster.client.get(statefulSets, keyOf('web'))).status?.updateRevision
    const first = await revision()
    await setImage(statefulSets as Resource, 'web', 'example/web:2')
    await advance('2m')
    expect(await revision()).not.toBe(first)
    await setImage(statefulSets as Resource, 'web', 'example/web:1')
    await advance('2m')
    expect(await revision()).toBe(first)
    expect((await cluster.client.get(statefulSets, keyOf('web'))).status?.currentRevision).toBe(first)
  })
})

describe('a StatefulSet that is numbered from elsewhere', () => {
  const numbered = async (start: number | undefined) => {
    await change(statefulSets as Resource, 'web', { spec: { ordinals: start === undefined ? null : { start } } })
    await advance('3m')
    return names()
  }

  it('follows its start: set, increased, decreased and removed', async () => {
    await create(statefulSets as Resource, 'web', { serviceName: 'web', selector, template: template(), replicas: 2 })
    await advance('1m')
    expect(await names()).toEqual(['web-0', 'web-1'])
    expect(await numbered(2)).toEqual(['web-2', 'web-3'])
    expect(await numbered(4)).toEqual(['web-4', 'web-5'])
    expect(await numbered(3)).toEqual(['web-3', 'web-4'])
    expect(await numbered(undefined)).toEqual(['web-0', 'web-1'])
  })
})

describe('a StatefulSet of one pod after the other', () => {
  it('should adopt matching orphans and release non-matching pods', async () => {
    await create(statefulSets as Resource, 'web', { serviceName: 'web', selector, template: template(), replicas: 1 })
    await advance('1m')
    await change(pods as Resource, 'web-0', { metadata: { ownerReferences: [{ $patch: 'replace' }] } })
    await advance('10s')
    expect((await findPod('web-0')).metadata.ownerReferences).toMatchObject([{ kind: 'StatefulSet', name: 'web' }])
    await change(pods as Resource, 'web-0', { metadata: { labels: { app: null } } })
    await advance('10s')
    expect((await findPod('web-0')).metadata.ownerReferences).toBeUndefined()
  })

  it("should not deadlock when a pod's predecessor fails", async () => {
    const gated = template({ readinessGates: [{ conditionType: 'example.dev/healthy' }] })
    await create(statefulSets as Resource, 'web', { serviceName: 'web', selector, template: gated, replicas: 2 })
    const heal = async (name: string) => {
      const conditions = [{ type: 'example.dev/healthy', status: 'True' }]
      await change(pods as Resource, name, { status: { conditions } }, 'status')
      await advance('10s')
    }
    await advance('10s')
    await heal('web-0')
    expect(await names()).toEqual(['web-0', 'web-1'])
    const first = (await findPod('web-0')).metadata.uid
    await cluster.client.delete(pods, keyOf('web-0'), { gracePeriodSeconds: 0 })
    await advance('10s')
    expect((await findPod('web-0')).metadata.uid).not.toBe(first)
    await heal('web-0')
    await heal('web-1')
    expect((await cluster.client.get(statefulSets, keyOf('web'))).status).toMatchObject({ readyReplicas: 2 })
  })

  it('should implement legacy replacement when the update strategy is OnDelete', async () => {
    await create(statefulSets as Resource, 'web', {
      serviceName: 'web',
      selector,
      template: template(),
      replicas: 3,
      updateStrategy: { type: 'OnDelete' },
    })
    await advance('1m')
    const images = async () => {
      await advance('1m')
      return (await listPods()).map(({ spec }) => spec.containers[0]?.image).sort()
    }
    await setImage(statefulSets as Resource, 'web', 'example/web:2')
    expect(await images()).toEqual(['example/web:1', 'example/web:1', 'example/web:1'])
    for (const name of await names()) await cluster.client.delete(pods, keyOf(name))
    expect(await images()).toEqual(['example/web:2', 'example/web:2', 'example/web:2'])
  })

  it('MinReadySeconds should be honored when enabled', async () => {
    await create(statefulSets as Resource, 'web', {
      serviceName: 'web',
      selector,
      template: template(),
      replicas: 2,
      minReadySeconds: 30,
    })
    const counts = async () => {
      const { status } = await cluster.client.get(statefulSets, keyOf('web'))
      return [status?.readyReplicas ?? 0, status?.availableReplicas ?? 0]
    }
    await advance('20s')
    expect(await counts()).toEqual([1, 0])
    await advance('20s')
    expect(await counts()).toEqual([2, 1])
    await advance('40s')
    expect(await counts()).toEqual([2, 2])
    // Whoever is available stays so by a shorter time, and is not by a longer one.
    await change(statefulSets as Resource, 'web', { spec: { minReadySeconds: 3600 } })
    await environment.clock.settle()
    expect(await counts()).toEqual([2, 0])
  })
})

describe('a Job', () => {
  const createJob = (spec: Partial<JobSpec>, pod: Partial<PodSpec> = {}) =>
    create(jobs as Resource, 'sum', {
      ...spec,
      template: { spec: { ...template().spec, restartPolicy: 'Never', ...pod } },
    })
  const find = (): Promise<Job> => cluster.client.get(jobs, keyOf('sum'))
  const conditions = async () =>
    ((await find()).status?.conditions ?? [])
      .filter(({ status }) => status === 'True')
      .map(({ type, reason }) => `${type} ${reason}`)

  it('should adopt matching orphans and release non-matching pods', async () => {
    await createJob({ parallelism: 2, completions: 2 })
    await advance('5s')
    const [first] = await listPods()
    const name = first?.metadata.name ?? ''
    await change(pods as Resource, name, { metadata: { ownerReferences: [{ $patch: 'replace' }] } })
    await advance('5s')
    expect((await findPod(name)).metadata.ownerReferences).toMatchObject([
      { kind: 'Job', name: 'sum', controller: true },
    ])
    const gone = Object.fromEntries(Object.keys(first?.metadata.labels ?? {}).map((label) => [label, null]))
    await change(pods as Resource, name, { metadata: { labels: gone } })
    await advance('5s')
    expect((await findPod(name)).metadata.ownerReferences).toBeUndefined()
    expect(await listPods()).toHaveLength(3)
  })

  it('should allow to use a pod failure policy to ignore failure matching on DisruptionTarget condition', async () => {
    const rules = [{ action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget', status: 'True' }] }]
    await createJob(
      { backoffLimit: 0, podFailurePolicy: { rules } },
      { containers: [{ name: 'main', image: 'example/web:1', env: [{ name: 'SIMULATED_RUN', value: '1h' }] }] },
    )
    await advance('5s')
    const [first] = await names()
    await evict(first ?? '')
    await advance('3m')
    expect((await find()).status).toMatchObject({ active: 1 })
    expect(await conditions()).toEqual([])
    expect(await names()).not.toContain(first)
  })

  it('should allow to use the pod failure policy on exit code to fail the job early', async () => {
    await createJob(
      {
        backoffLimit: 6,
        parallelism: 2,
        completions: 4,
        podFailurePolicy: { rules: [{ action: 'FailJob', onExitCodes: { operator: 'In', values: [42] } }] },
      },
      {
        containers: [
          {
            name: 'main',
            image: 'example/web:1',
            env: [
              { name: 'SIMULATED_RUN', value: '5s' },
              { name: 'SIMULATED_EXIT_CODE', value: '42' },
            ],
          },
        ],
      },
    )
    await advance('1m')
    expect(await conditions()).toEqual(['FailureTarget PodFailurePolicy', 'Failed PodFailurePolicy'])
    expect((await find()).status?.active ?? 0).toBe(0)
  })

  it('should run a job to completion when tasks sometimes fail and are locally restarted', async () => {
    const env = [
      { name: 'SIMULATED_RUN', value: '1s' },
      { name: 'SIMULATED_EXIT_CODE', value: '0,1' },
    ]
    await createJob(
      { completions: 4, parallelism: 2, backoffLimit: 999 },
      { restartPolicy: 'OnFailure', containers: [{ name: 'main', image: 'example/web:1', env }] },
    )
    await advance('1h')
    expect(await conditions()).toEqual(['SuccessCriteriaMet CompletionsReached', 'Complete CompletionsReached'])
    const restarts = (await listPods())
      .flatMap(({ status }) => status?.containerStatuses ?? [])
      .map((each) => each.restartCount)
    expect(restarts).toHaveLength(4)
    expect(Math.max(...restarts)).toBeGreaterThan(0)
  })

  it('should create pods for an Indexed job with completion indexes and specified hostname', async () => {
    await createJob({ completionMode: 'Indexed', completions: 3, parallelism: 3 })
    await advance('5s')
    const all = (await listPods()).map(({ metadata, spec }) => [
      metadata.annotations?.['batch.kubernetes.io/job-completion-index'],
      metadata.labels?.['batch.kubernetes.io/job-completion-index'],
      spec.hostname,
      spec.containers[0]?.env?.find(({ name }) => name === 'JOB_COMPLETION_INDEX')?.valueFrom?.fieldRef?.fieldPath,
    ])
    const path = "metadata.labels['batch.kubernetes.io/job-completion-index']"
    expect(all.sort()).toEqual(['0', '1', '2'].map((index) => [index, index, `sum-${index}`, path]))
  })
})

describe('a PodDisruptionBudget', () => {
  it('should block an eviction until it is updated to allow it', async () => {
    await create(replicaSets as Resource, 'web', { replicas: 3, selector, template: template() })
    await create(podDisruptionBudgets as Resource, 'web', { minAvailable: 3, selector })
    await advance('1m')
    const [first = ''] = await names()
    expect(await refusal(evict(first))).toBe(429)
    await change(podDisruptionBudgets as Resource, 'web', { spec: { minAvailable: 2 } })
    await advance('10s')
    expect(await refusal(evict(first))).toBe(0)
    expect(await refusal(evict((await names()).find((name) => name !== first) ?? ''))).toBe(429)
    await advance('1m')
    const { status } = await cluster.client.get(podDisruptionBudgets, keyOf('web'))
    expect(status).toMatchObject({ disruptionsAllowed: 1, currentHealthy: 3, desiredHealthy: 2, expectedPods: 3 })
  })

  const never = { readinessGates: [{ conditionType: 'example.dev/never' }] }
  const exclusive = {
    containers: [{ name: 'main', image: 'example/web:1', ports: [{ containerPort: 5555, hostPort: 5555 }] }],
  }
  const running = async () =>
    (await listPods()).filter(({ status }) => status?.phase === 'Running').map(({ metadata }) => metadata.name ?? '')

  it.each([
    ['ready', 'Default', 0, {}],
    ['ready', 'IfHealthyBudget', 0, {}],
    ['ready', 'AlwaysAllow', 0, {}],
    // The budget asks for one that is ready, and there is none.
    ['unready', 'Default', 429, never],
    ['unready', 'IfHealthyBudget', 429, never],
    ['unready', 'AlwaysAllow', 0, never],
  ])('should evict %s pods with %s UnhealthyPodEvictionPolicy as it says', async (_, policy, code, spec) => {
    await create(replicaSets as Resource, 'web', { replicas: 3, selector, template: template(spec) })
    const unhealthyPodEvictionPolicy = policy === 'Default' ? {} : { unhealthyPodEvictionPolicy: policy }
    await create(podDisruptionBudgets as Resource, 'web', { minAvailable: 1, selector, ...unhealthyPodEvictionPolicy })
    await advance('1m')
    expect(await refusal(evict((await names())[0] ?? ''))).toBe(code)
  })

  it.each([
    ['no PDB', undefined, { pods: 1 }, 0],
    ['too few pods, absolute', { minAvailable: 2 }, { pods: 2 }, 429],
    ['enough pods, absolute', { minAvailable: 2 }, { pods: 3 }, 0],
    ['enough pods, replicaSet, percentage', { minAvailable: '90%' }, { replicas: 10 }, 0],
    ['too few pods, replicaSet, percentage', { minAvailable: '90%' }, { replicas: 9 }, 429],
    ['maxUnavailable allow single eviction, percentage', { maxUnavailable: '10%' }, { replicas: 10 }, 0],
    ['maxUnavailable deny evictions, integer', { maxUnavailable: 1 }, { replicas: 10, exclusive: true }, 429],
  ] as const)(
    'evictions: %s',
    async (_, budget, count: { pods?: number; replicas?: number; exclusive?: boolean }, code) => {
      for (let index = 0; index < (count.pods ?? 0); index++) await createPod(`pod-${index}`)
      if (count.replicas !== undefined) {
        await create(replicaSets as Resource, 'web', {
          replicas: count.replicas,
          selector,
          // Where a node has room for one of them only, most are not ready.
          template: template(count.exclusive === true ? exclusive : {}),
        })
      }
      if (budget !== undefined) await create(podDisruptionBudgets as Resource, 'web', { ...budget, selector })
      await advance('1m')
      const [first = ''] = await running()
      expect(await refusal(evict(first))).toBe(code)
    },
  )

  it('should observe that the status is not updated for unmanaged pods', async () => {
    await createPod('alone')
    await create(podDisruptionBudgets as Resource, 'web', { maxUnavailable: 1, selector })
    await advance('1m')
    const { status } = await cluster.client.get(podDisruptionBudgets, keyOf('web'))
    expect(status).toMatchObject({ disruptionsAllowed: 0 })
    expect(status?.conditions).toMatchObject([
      { type: 'DisruptionAllowed', status: 'False', reason: 'InsufficientPods' },
    ])
  })
})

describe('a CronJob', () => {
  const createCronJob = (spec: object, run = '1h') =>
    create(cronJobs as Resource, 'beat', {
      schedule: '*/1 * * * *',
      jobTemplate: {
        spec: {
          template: {
            spec: {
              restartPolicy: 'OnFailure',
              containers: [{ name: 'main', image: 'example/sum', env: [{ name: 'SIMULATED_RUN', value: run }] }],
            },
          },
        },
      },
      ...spec,
    })
  const jobNames = async () =>
    (await cluster.client.list(jobs, { namespace })).items.map(({ metadata }) => metadata.name).sort()
  const active = async () => (await cluster.client.get(cronJobs, keyOf('beat'))).status?.active ?? []

  it('should schedule multiple jobs concurrently', async () => {
    await createCronJob({ concurrencyPolicy: 'Allow' })
    await advance('150s')
    expect(await jobNames()).toHaveLength(2)
    expect(await active()).toHaveLength(2)
  })

  it('should not schedule jobs when suspended', async () => {
    await createCronJob({ suspend: true })
    await advance('5m')
    expect(await jobNames()).toEqual([])
  })

  it('should not schedule new jobs when ForbidConcurrent', async () => {
    await createCronJob({ concurrencyPolicy: 'Forbid' })
    await advance('90s')
    const first = await jobNames()
    await advance('3m')
    expect(await jobNames()).toEqual(first)
    expect(first).toHaveLength(1)
  })

  it('should replace jobs when ReplaceConcurrent', async () => {
    await createCronJob({ concurrencyPolicy: 'Replace' })
    await advance('90s')
    const first = await jobNames()
    await advance('1m')
    expect(await jobNames()).toHaveLength(1)
    expect(await jobNames()).not.toEqual(first)
  })

  it('should remove from active list jobs that have been deleted', async () => {
    await createCronJob({ concurrencyPolicy: 'Forbid' })
    await advance('70s')
    const [name] = await active()
    await cluster.client.delete(jobs, keyOf(name?.name ?? ''), { propagationPolicy: 'Background' })
    await advance('10s')
    expect((await active()).map((each) => each.name)).not.toContain(name?.name)
  })

  it('should support timezone', async () => {
    // It is one in the morning in Coordinated Universal Time, and ten in Tokyo.
    const tenOClock = { schedule: '30 9 * * *', timeZone: 'Asia/Tokyo' }
    await createCronJob(tenOClock)
    await advance('40m')
    expect(await jobNames()).toHaveLength(1)
    const body = { spec: { timeZone: 'Nowhere/Else' } }
    expect(await refusal(change(cronJobs as Resource, 'beat', body))).toBe(422)
  })

  it.each([
    ['should delete successful finished jobs with limit of one successful job', { successfulJobsHistoryLimit: 1 }],
    ['should not emit unexpected warnings', {}],
  ])('%s', async (_, limits) => {
    await createCronJob(limits, '10s')
    await advance('310s')
    expect(await jobNames()).toHaveLength('successfulJobsHistoryLimit' in limits ? 1 : 3)
    const { items } = await cluster.client.list(events, { namespace })
    expect(items.filter(({ type, involvedObject }) => type === 'Warning' && involvedObject.kind === 'CronJob')).toEqual(
      [],
    )
  })
})
