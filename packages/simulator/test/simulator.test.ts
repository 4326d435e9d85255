import type { KubernetesObject } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { type Operation, run, type Scenario, scenarioOf, shrink } from '../src/index.ts'

/** One server, one node, clocks that agree. */
const quiet = { servers: 1, nodes: 1, skewsMs: {} } as const

/** The run of a seed, and one that is asked why things are as they are: made once for all tests that look at it. */
const runOf = onceForEach((seed) => run(scenarioOf(seed)))
const askedRunOf = onceForEach((seed) => run(scenarioOf(seed), { questions: 4 }))

function onceForEach<T>(make: (seed: number) => T): (seed: number) => T {
  const made = new Map<number, T>()
  return (seed) => {
    const found = made.get(seed) ?? make(seed)
    made.set(seed, found)
    return found
  }
}

describe('a seed', () => {
  const texts = Array.from({ length: 300 }, (_, seed) => JSON.stringify(scenarioOf(seed).operations))

  it('always gives the same scenario, and another seed another', () => {
    expect(scenarioOf(3)).toEqual(scenarioOf(3))
    expect(scenarioOf(3)).not.toEqual(scenarioOf(4))
  })

  it('gives operations in the order of their times', () => {
    for (let seed = 1; seed <= 50; seed++) {
      const times = scenarioOf(seed).operations.map(({ atMs }) => atMs)
      expect(times).toEqual([...times].sort((a, b) => a - b))
    }
  })

  it.each([
    ['Jobs with rules for failures', '"podFailurePolicy"'],
    ['Jobs with rules for success', '"successPolicy"'],
    ['Jobs with a limit for each index', '"backoffLimitPerIndex"'],
    ['sets whose numbers begin somewhere', '"ordinals"'],
    ['pods that are more important', '"PriorityClass"'],
    ['pods that keep apart', '"podAntiAffinity"'],
    ['budgets that let go of what is not healthy', '"AlwaysAllow"'],
    ['quotas of other kinds', '"count/jobs.batch"'],
    ['owners in a circle', '"own"'],
    ['objects that several apply', '"apply"'],
    ['load balancers', '"LoadBalancer"'],
    ['nodes that are taken away', '"remove-node"'],
    ['pods that nodes are given in files', '"manifest"'],
  ])('is often about %s', (_, text) => {
    expect(texts.filter((each) => each.includes(text)).length).toBeGreaterThan(5)
  })

  it('always gives the same run', async () => {
    expect(await run(scenarioOf(11))).toEqual(await runOf(11))
  })
})

// More of them: npm run simulate -- --seeds 1000
describe('a cluster keeps its promises', () => {
  it.each(Array.from({ length: 12 }, (_, index) => index + 1))('under seed %i', async (seed) => {
    expect((await runOf(seed)).violations).toEqual([])
  })
})

// More of them: npm run simulate -- --seeds 1000 --questions 4
describe('nothing that is told of why things are as they are is false', () => {
  it.each([21, 22, 23, 24, 25, 26])('under seed %i', async (seed) => {
    const { violations, answers } = await askedRunOf(seed)
    expect(violations).toEqual([])
    expect(answers).toBeGreaterThan(20)
  })

  it('and asking changes nothing', async () => {
    const [quiet, asked] = [await runOf(25), await askedRunOf(25)]
    expect(asked.digest).toBe(quiet.digest)
  })
})

it('does not take a node for lost when time has gone by while nothing happened', async () => {
  const workload = (apiVersion: string, kind: 'Deployment' | 'ReplicationController', name: string, spec: object) => {
    const template = {
      metadata: { labels: { app: name } },
      spec: { containers: [{ name: 'main', image: 'example/web:1' }] },
    }
    const object = { apiVersion, kind, metadata: { namespace: 'default', name }, spec: { ...spec, template } }
    return object as KubernetesObject
  }
  const options = {
    replicas: 4,
    minReadySeconds: 2,
    strategy: { type: 'Recreate' },
    selector: { matchLabels: { app: 'w1' } },
  }
  const operations: readonly Operation[] = [
    { atMs: 0, type: 'create', object: workload('apps/v1', 'Deployment', 'w1', options) },
    {
      atMs: 0,
      type: 'create',
      object: workload('v1', 'ReplicationController', 'w2', { replicas: 3, selector: { app: 'w2' } }),
    },
    { atMs: 86_700, type: 'cordon', pick: 0, isCordoned: true },
    { atMs: 87_000, type: 'relabel-pod', pick: 0.44 },
    {
      atMs: 104_300,
      type: 'scale',
      target: { kind: 'ReplicationController', namespace: 'default', name: 'w2' },
      replicas: 5,
    },
  ]
  expect((await run({ ...quiet, seed: 20109, operations })).violations).toEqual([])
})

it('starts a server again until it works, also where the store cannot be reached meanwhile', async () => {
  const template = {
    metadata: { labels: { app: 'w1' } },
    spec: { containers: [{ name: 'main', image: 'example/web:1' }] },
  }
  const object = {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { namespace: 'default', name: 'w1' },
    spec: { selector: { matchLabels: template.metadata.labels }, template },
  } as KubernetesObject
  const operations: readonly Operation[] = [
    { atMs: 0, type: 'create', object },
    { atMs: 18_503, type: 'cut-store', server: 1, forMs: 45_358 },
    { atMs: 29_026, type: 'crash-at-write', server: 1, writes: 3, takesEffect: true, forMs: 31_900 },
    { atMs: 92_376, type: 'cut-store', server: 1, forMs: 27_195 },
    { atMs: 103_572, type: 'cut-store', server: 1, forMs: 12_810 },
  ]
  expect((await run({ ...quiet, servers: 2, nodes: 2, seed: 3074, operations })).violations).toEqual([])
})

it('does not blame a rollout for a ReplicaSet of which nobody has told its controller', async () => {
  const object = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { namespace: 'default', name: 'w2' },
    spec: {
      replicas: 5,
      selector: { matchLabels: { app: 'w2' } },
      template: {
        metadata: { labels: { app: 'w2' } },
        spec: { containers: [{ name: 'main', image: 'example/web:2' }] },
      },
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 2, maxUnavailable: '25%' } },
    },
  } as KubernetesObject
  const target = { kind: 'Deployment', namespace: 'default', name: 'w2' } as const
  // The server stops for so long at the write of the first new ReplicaSet that the controller's watch is back after the next image.
  const operations: readonly Operation[] = [
    { atMs: 0, type: 'create', object },
    { atMs: 34_413, type: 'crash', server: 0, component: 'kube-controller-manager', forMs: 30_446 },
    { atMs: 35_653, type: 'set-image', target, image: 'example/web:1' },
    { atMs: 54_980, type: 'crash-at-write', server: 0, writes: 2, takesEffect: true, forMs: 32_418 },
    { atMs: 104_594, type: 'set-image', target, image: 'example/web:3' },
  ]
  expect((await run({ ...quiet, seed: 20050210, operations })).violations).toEqual([])
})

it('ends a run that would write without end', async () => {
  const { violations } = await run(scenarioOf(3), { writesMax: 150 })
  expect(violations).toContainEqual(expect.objectContaining({ invariant: 'a run comes to an end' }))
})

describe('a scenario that fails', () => {
  const operation = (name: string, index: number): Operation => ({
    atMs: index,
    type: 'touch',
    target: { kind: 'Deployment', name },
  })
  const scenario = (...names: readonly string[]): Scenario => ({ ...quiet, seed: 1, operations: names.map(operation) })
  const namesOf = ({ operations }: Scenario) => operations.map((each) => ('target' in each ? each.target.name : ''))

  it('is shrunk to what it takes', async () => {
    const fails = async (tried: Scenario) => ['b', 'e'].every((name) => namesOf(tried).includes(name))
    expect(namesOf(await shrink(scenario('a', 'b', 'c', 'd', 'e', 'f', 'g'), fails))).toEqual(['b', 'e'])
  })

  it('stays as it is when all of it is needed', async () => {
    const whole = scenario('a', 'b', 'c')
    expect(await shrink(whole, async (tried) => namesOf(tried).length === 3)).toEqual(whole)
  })
})

it('comes to rest where a claim is deleted before the pod that waits for it has started', async () => {
  const template = {
    metadata: { labels: { app: 'w1' } },
    spec: { containers: [{ name: 'main', image: 'example/web:1' }] },
  }
  const claim = {
    metadata: { name: 'data' },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  }
  const object = {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { namespace: 'default', name: 'w1' },
    spec: { selector: { matchLabels: { app: 'w1' } }, serviceName: 'w1', template, volumeClaimTemplates: [claim] },
  } as KubernetesObject
  const target = { kind: 'PersistentVolumeClaim', namespace: 'default', name: 'data-w1-0' } as const
  const operations: readonly Operation[] = [
    { atMs: 1000, type: 'crash-node', node: 0, forMs: 30_000 },
    { atMs: 5000, type: 'create', object },
    { atMs: 10_000, type: 'delete', target, propagationPolicy: 'Background' },
  ]
  expect((await run({ ...quiet, seed: 1, operations })).violations).toEqual([])
})
