import type { Pod, PodDisruptionBudget, TopologySpreadConstraint } from '@coracle/api'
import { seededRandom } from '@coracle/environment'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { explain } from '../fit-error.ts'
import { Framework } from '../framework.ts'
import type { NodeInfo } from '../node-info.ts'
import { defaultPlugins } from '../plugins/index.ts'
import { schedule } from '../schedule.ts'
import { SchedulerCache } from '../scheduler-cache.ts'
import { makeNode, makePod, type NodeOptions } from '../testing/objects.ts'
import { splitByBudgets } from './budgets.ts'
import { type Preemption, pickVictims, planPreemption, preemptionReason } from './preempt.ts'
import type { Victims } from './victims.ts'

const random = seededRandom(1)
const framework = new Framework(defaultPlugins)

interface PodOptions {
  readonly name?: string
  readonly cpu?: string
  readonly startTime?: string
  readonly labels?: Readonly<Record<string, string>>
  readonly spec?: Parameters<typeof makePod>[0]
}

/** A pod that asks for a CPU, unless said otherwise. */
function pod(priority: number, { name, cpu = '1', startTime, labels, spec }: PodOptions = {}): Pod {
  const made = makePod({ priority, requests: { cpu }, ...spec }, name)
  return {
    ...made,
    metadata: { ...made.metadata, ...(labels && { labels }) },
    ...(startTime && { status: { startTime } }),
  }
}

/** A cluster of nodes, each with room for 4 CPUs and with pods. */
function clusterOf(...nodes: readonly (readonly Pod[] | readonly [NodeOptions, ...Pod[]])[]): SchedulerCache {
  const cache = new SchedulerCache()
  for (const [index, [first, ...others]] of nodes.entries()) {
    const options = first !== undefined && !('kind' in first) ? first : {}
    const name = `n${index + 1}`
    cache.setNode(makeNode({ name, ...options }))
    for (const each of [first, ...others]) if (each !== undefined && 'kind' in each) cache.place(each, name)
  }
  return cache
}

/** What is decided for a pod that finds no node. */
function preempt(wanting: Pod, cluster: SchedulerCache, budgets: readonly PodDisruptionBudget[] = []): Preemption {
  const decision = schedule(wanting, cluster, framework)
  if (decision.type === 'fits') throw new Error('there is room')
  const before = cluster.nodes.map(summary)
  const { prepared, diagnosis } = decision
  const preemption = planPreemption({ prepared, diagnosis, cluster, budgets, random })
  expect(cluster.nodes.map(summary)).toEqual(before)
  const again = schedule(wanting, cluster, framework)
  expect(again.type === 'unschedulable' && explain(again.diagnosis)).toBe(explain(diagnosis))
  return preemption
}

const summary = ({ name, milliCpu, pods }: NodeInfo) => [name, milliCpu, [...pods.keys()]]

/** Who leaves which node; what is said where nobody does. */
function outcome(preemption: Preemption): string {
  if (preemption.type !== 'preempts') return preemption.message
  const { node, pods } = preemption.victims
  return `${node.name}: ${pods.map(({ metadata }) => metadata.name).join(' ')}`
}

const budget = (
  allowed: number,
  matchLabels: Readonly<Record<string, string>> | undefined = { app: 'web' },
  more: object = {},
): PodDisruptionBudget => ({
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: { name: 'budget', namespace: 'default' },
  spec: { selector: { matchLabels } },
  status: { disruptionsAllowed: allowed, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0, ...more },
})

const web = { app: 'web' }

describe('who leaves a node', () => {
  it.each<[string, readonly Pod[], Pod, readonly PodDisruptionBudget[], string]>([
    ['the one in the way', [pod(0, { name: 'a', cpu: '4' })], pod(1), [], 'n1: a'],
    [
      'no more than have to',
      [pod(0, { name: 'a' }), pod(0, { name: 'b', cpu: '3' })],
      pod(1, { cpu: '3' }),
      [],
      'n1: b',
    ],
    [
      'the least important first',
      [pod(2, { name: 'a', cpu: '2' }), pod(1, { name: 'b', cpu: '2' })],
      pod(5, { cpu: '2' }),
      [],
      'n1: b',
    ],
    [
      'of equally important ones those that came last',
      [
        pod(0, { name: 'old', cpu: '2', startTime: '2026-01-01T00:00:00Z' }),
        pod(0, { name: 'new', cpu: '2', startTime: '2026-01-02T00:00:00Z' }),
      ],
      pod(1, { cpu: '2' }),
      [],
      'n1: new',
    ],
    [
      'of those first the ones that have not been started',
      [pod(0, { name: 'idle', cpu: '2' }), pod(0, { name: 'new', cpu: '2', startTime: '2026-01-02T00:00:00Z' })],
      pod(1, { cpu: '2' }),
      [],
      'n1: idle',
    ],
    [
      'rather others than those that are guarded',
      [pod(0, { name: 'guarded', cpu: '2', labels: web }), pod(1, { name: 'plain', cpu: '2' })],
      pod(5, { cpu: '2' }),
      [budget(0)],
      'n1: plain',
    ],
    [
      'guarded ones as far as that is allowed',
      [pod(0, { name: 'guarded', cpu: '2', labels: web }), pod(1, { name: 'plain', cpu: '2' })],
      pod(5, { cpu: '2' }),
      [budget(1)],
      'n1: guarded',
    ],
    [
      'guarded ones too, where there is no other way',
      [pod(0, { name: 'guarded', cpu: '4', labels: web })],
      pod(5),
      [budget(0)],
      'n1: guarded',
    ],
    [
      'the most important is told of first',
      [pod(1, { name: 'a', cpu: '2', labels: web }), pod(2, { name: 'b', cpu: '2' })],
      pod(5, { cpu: '4' }),
      [budget(0)],
      'n1: b a',
    ],
    [
      'nobody where that is not enough',
      [pod(9, { name: 'a', cpu: '2' }), pod(0, { name: 'b', cpu: '2' })],
      pod(5, { cpu: '3' }),
      [],
      '0/1 nodes are available: 1 Insufficient cpu.',
    ],
    [
      'nobody equally important',
      [pod(1, { name: 'a', cpu: '4' })],
      pod(1),
      [],
      '0/1 nodes are available: 1 No preemption victims found for incoming pod.',
    ],
    [
      'nobody where the node could never take the pod',
      [pod(0, { name: 'a' })],
      pod(1, { cpu: '5' }),
      [],
      '0/1 nodes are available: 1 Preemption is not helpful for scheduling.',
    ],
    [
      'nobody for a pod that has none leave',
      [pod(0, { name: 'a', cpu: '4' })],
      pod(1, { spec: { preemptionPolicy: 'Never' } }),
      [],
      'not eligible due to preemptionPolicy=Never.',
    ],
  ])('is %s', (_, pods, wanting, budgets, expected) => {
    expect(outcome(preempt(wanting, clusterOf(pods), budgets))).toBe(expected)
  })

  it('is who keeps the pod away by anti-affinity, or makes places too uneven', () => {
    const matching = { labelSelector: { matchLabels: web }, topologyKey: 'zone' }
    const apart = { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [matching] } }
    const zone = { labels: { zone: 'a' } }
    const wanting = pod(1, { labels: web, spec: { affinity: apart } })
    const cluster = clusterOf([zone, pod(0, { name: 'a', labels: web }), pod(0, { name: 'b' })])
    expect(outcome(preempt(wanting, cluster))).toBe('n1: a')

    const spread: TopologySpreadConstraint = { ...matching, maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule' }
    const even = pod(1, { labels: web, spec: { topologySpreadConstraints: [spread] } })
    const full = pod(9, { name: 'full', cpu: '4' })
    const uneven = clusterOf([zone, pod(0, { name: 'a', labels: web })], [{ labels: { zone: 'b' } }, full])
    expect(outcome(preempt(even, uneven))).toBe('n1: a')
  })

  it('is never more than needed, never more important, and always enough', () => {
    const running = fc.record({ priority: fc.integer({ min: 0, max: 3 }), cpu: fc.integer({ min: 1, max: 4 }) })
    fc.assert(
      fc.property(
        fc.array(fc.array(running, { maxLength: 4 }), { minLength: 1, maxLength: 4 }),
        fc.integer({ min: 1, max: 4 }),
        (nodes, cpu) => {
          const made = nodes.map((pods) => {
            let left = 4
            return pods.flatMap((each) => {
              if (each.cpu > left) return []
              left -= each.cpu
              return [pod(each.priority, { cpu: `${each.cpu}` })]
            })
          })
          const cluster = clusterOf(...made)
          const wanting = pod(2, { cpu: `${cpu}` })
          const fits = () => schedule(wanting, cluster, framework)
          if (fits().type === 'fits') return
          const preemption = preempt(wanting, cluster)
          if (preemption.type !== 'preempts') {
            const lesser = (info: NodeInfo) => [...info.pods.values()].filter(({ spec }) => (spec.priority ?? 0) < 2)
            for (const info of cluster.nodes) {
              for (const each of lesser(info)) cluster.remove(each.metadata.uid ?? '')
            }
            expect(fits().type).toBe('unschedulable')
            return
          }
          const { node, pods } = preemption.victims
          for (const victim of pods) {
            expect(victim.spec.priority).toBeLessThan(2)
            cluster.remove(victim.metadata.uid ?? '')
          }
          expect(fits()).toMatchObject({ type: 'fits', node: { name: node.name } })
          for (const victim of pods) {
            cluster.place(victim, node.name)
            expect(fits().type).toBe('unschedulable')
            cluster.remove(victim.metadata.uid ?? '')
          }
        },
      ),
    )
  })
})

describe('of several nodes', () => {
  const victims = (name: string, violations: number, ...pods: readonly Pod[]): Victims => {
    const node = clusterOf([{ name }]).nodes[0] as NodeInfo
    return { node, violations, pods }
  }
  const at = (day: number) => ({ startTime: `2026-01-0${day}T00:00:00Z` })

  it.each<[string, readonly Victims[]]>([
    ['whose budgets suffer least', [victims('a', 1, pod(0)), victims('best', 0, pod(9), pod(9))]],
    ['whose most important victim is the least', [victims('a', 0, pod(3)), victims('best', 0, pod(2), pod(2))]],
    [
      'whose victims are together the least important',
      [victims('a', 0, pod(3), pod(2)), victims('best', 0, pod(3), pod(1))],
    ],
    ['with fewer victims, also below 0', [victims('a', 0, pod(-1), pod(-5)), victims('best', 0, pod(-1))]],
    ['whose most important victims came last', [victims('a', 0, pod(1, at(1))), victims('best', 0, pod(1, at(2)))]],
    [
      'by the eldest of the most important',
      [victims('a', 0, pod(1, at(3)), pod(1, at(1))), victims('best', 0, pod(1, at(2)), pod(1, at(2)))],
    ],
    [
      'whatever the age of the less important',
      [victims('a', 0, pod(2, at(2)), pod(1, at(3))), victims('best', 0, pod(2, at(3)), pod(1, at(1)))],
    ],
    ['that comes first, where all else is equal', [victims('best', 0, pod(1)), victims('a', 0, pod(1))]],
  ])('the one is taken %s', (_, candidates) => {
    expect(pickVictims(candidates)?.node.name).toBe('best')
  })

  it('none is taken where there is none', () => {
    expect(pickVictims([])).toBeUndefined()
  })

  it('the one is taken where the least important leave', () => {
    const cluster = clusterOf(
      [pod(3, { name: 'a', cpu: '4' })],
      [pod(1, { name: 'b', cpu: '4' })],
      [{ unschedulable: true }, pod(0, { name: 'c', cpu: '4' })],
    )
    expect(outcome(preempt(pod(5), cluster))).toBe('n2: b')
  })

  it('what is said counts them', () => {
    const cluster = clusterOf(
      [pod(9, { cpu: '4' })],
      [pod(9, { cpu: '2' }), pod(0, { cpu: '2' })],
      [{ unschedulable: true }],
    )
    expect(outcome(preempt(pod(5, { cpu: '3' }), cluster))).toBe(
      '0/3 nodes are available: 1 Insufficient cpu, 1 No preemption victims found for incoming pod, 1 Preemption is not helpful for scheduling.',
    )
  })

  it.each([
    [300, 100],
    [1500, 150],
  ])('of %d enough are tried, not all: %d', (count, tried) => {
    const cluster = clusterOf(...Array.from({ length: count }, () => [pod(0, { cpu: '4' })]))
    let trials = 0
    const counting = defaultPlugins.map((plugin) =>
      plugin.name !== 'NodeName' || plugin.scope !== 'node'
        ? plugin
        : {
            ...plugin,
            filter: () => ({
              refuse() {
                trials++
                return undefined
              },
            }),
          },
    )
    const decision = schedule(pod(1), cluster, new Framework(counting))
    if (decision.type === 'fits') throw new Error('there is no room')
    trials = 0
    const { prepared, diagnosis } = decision
    const preemption = planPreemption({ prepared, diagnosis, cluster, budgets: [], random })
    // With its pod and without it.
    expect([preemption.type, trials]).toEqual(['preempts', 2 * tried])
  })
})

it('a node where no budget suffers is looked for among all', () => {
  const guarded = () => [pod(0, { cpu: '4', labels: web })]
  for (const place of [0, 110, 219]) {
    const nodes = Array.from({ length: 220 }, (_, index) =>
      index === place ? [pod(1, { name: 'plain', cpu: '4' })] : guarded(),
    )
    expect(outcome(preempt(pod(5), clusterOf(...nodes), [budget(0)]))).toBe(`n${place + 1}: plain`)
  }
})

describe('a pod for which others are leaving', () => {
  const wanting = pod(5, { name: 'wanting' })
  const leaving = (reason = 'PreemptionByScheduler', priority = 0): Pod => {
    const made = pod(priority, { name: 'leaving', cpu: '4' })
    const condition = { type: 'DisruptionTarget', status: 'True', reason } as const
    return {
      ...made,
      metadata: { ...made.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' },
      status: { conditions: [{ type: 'Ready', status: 'True' }, condition] },
    }
  }
  const other = pod(0, { name: 'other', cpu: '4' })

  it.each<[string, Pod, string]>([
    ['waits for them', leaving(), 'not eligible due to a terminating pod on the nominated node.'],
    ['has others leave, where those leave for another reason', leaving('EvictionByEvictionAPI'), 'n1: leaving'],
    ['has others leave, where those are as important', leaving('PreemptionByScheduler', 5), 'n2: other'],
    [
      'has others leave, where those were not to leave after all',
      {
        ...leaving(),
        status: { conditions: [{ type: 'DisruptionTarget', status: 'False', reason: preemptionReason }] },
      },
      'n1: leaving',
    ],
    [
      'has others leave, where those say something else of themselves',
      { ...leaving(), status: { conditions: [{ type: 'Ready', status: 'True', reason: preemptionReason }] } },
      'n1: leaving',
    ],
    ['has others leave, where those say nothing of why', { ...leaving(), status: undefined } as never, 'n1: leaving'],
    ['has others leave, where those are not leaving yet', pod(0, { name: 'leaving', cpu: '4' }), 'n1: leaving'],
    ['has others leave, where those are more important', leaving('PreemptionByScheduler', 9), 'n2: other'],
  ])('%s', (_, there, expected) => {
    const cluster = expected.startsWith('n1') ? clusterOf([there]) : clusterOf([there], [other])
    cluster.nominations.set(wanting, 'n1')
    expect(outcome(preempt(wanting, cluster))).toBe(expected)
  })

  it('has others leave, where it could not come to its node any more', () => {
    const cluster = clusterOf([{ unschedulable: true }, leaving()], [other])
    cluster.nominations.set(wanting, 'n1')
    expect(outcome(preempt(wanting, cluster))).toBe('n2: other')
  })
})

describe('a place made for a pod', () => {
  const nominated = pod(5, { name: 'nominated', cpu: '3' })
  const decide = (wanting: Pod, cluster: SchedulerCache) => {
    const decision = schedule(wanting, cluster, framework)
    return decision.type === 'fits' ? decision.node.name : explain(decision.diagnosis)
  }

  it('is taken by it, even where others would suit better', () => {
    const cluster = clusterOf([], [pod(0)], [])
    cluster.nominations.set(nominated, 'n2')
    expect(decide(nominated, cluster)).toBe('n2')
  })

  it('is not waited for, where another node takes it first', () => {
    const cluster = clusterOf([pod(9, { cpu: '4' })], [])
    cluster.nominations.set(nominated, 'n1')
    expect(decide(nominated, cluster)).toBe('n2')
  })

  it('is not given to others, but to more important ones', () => {
    const cluster = clusterOf([])
    cluster.nominations.set(nominated, 'n1')
    expect(decide(pod(5, { cpu: '2' }), cluster)).toBe('0/1 nodes are available: 1 Insufficient cpu.')
    expect(decide(pod(5, { cpu: '1' }), cluster)).toBe('n1')
    expect(decide(pod(6, { cpu: '2' }), cluster)).toBe('n1')
    cluster.nominations.remove('uid-nominated')
    expect(decide(pod(5, { cpu: '2' }), cluster)).toBe('n1')
  })

  it('does not count as taken, where another pod wants to be near it', () => {
    const term = { labelSelector: { matchLabels: web }, topologyKey: 'zone' }
    const affinity = { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } }
    const cluster = clusterOf([{ labels: { zone: 'a' } }])
    cluster.nominations.set(pod(5, { name: 'nominated', labels: web }), 'n1')
    expect(decide(pod(0, { spec: { affinity } }), cluster)).toContain("node(s) didn't match pod affinity rules")
  })
})

describe('disruption budgets', () => {
  const guarded = (budgets: readonly PodDisruptionBudget[], ...pods: readonly Pod[]) =>
    splitByBudgets(pods, budgets).guarded.map(({ metadata }) => metadata.name)
  const [a, b, c] = ['a', 'b', 'c'].map((name) => pod(0, { name, labels: web })) as [Pod, Pod, Pod]
  const other = pod(0, { name: 'other', labels: { app: 'other' } })

  it.each<[string, readonly PodDisruptionBudget[], readonly string[]]>([
    ['none', [], []],
    ['that allow nothing', [budget(0)], ['a', 'b', 'c']],
    ['that allow some', [budget(2)], ['c']],
    ['of which the strictest counts', [budget(2), budget(1)], ['b', 'c']],
    ['without a selector', [{ ...budget(0), spec: {} }], []],
    ['that say nothing', [{ ...budget(0), spec: undefined } as never], []],
    ['with an empty selector', [budget(0, {})], []],
    ['of another namespace', [{ ...budget(0), metadata: { name: 'budget', namespace: 'elsewhere' } }], []],
    ['that count a pod as gone already', [budget(1, web, { disruptedPods: { a: '2026-01-01T00:00:00Z' } })], ['c']],
    ['that have yet to be counted', [{ ...budget(0), status: undefined } as never], ['a', 'b', 'c']],
  ])('guard pods: %s', (_, budgets, expected) => {
    expect(guarded(budgets, a, other, b, c)).toEqual(expected)
  })

  it('guard a pod that is called as what every object inherits', () => {
    const named = pod(0, { name: 'constructor', labels: web })
    expect(guarded([budget(0, web, { disruptedPods: { a: '2026-01-01T00:00:00Z' } })], a, named)).toEqual([
      'constructor',
    ])
  })

  it('guard no pod without labels, though their selectors mean it', () => {
    const selector = { matchExpressions: [{ key: 'app', operator: 'DoesNotExist' }] }
    const unlabelled = pod(0, { name: 'unlabelled', labels: {} })
    const elsewhere = pod(0, { name: 'labelled', labels: { tier: 'a' } })
    expect(guarded([{ ...budget(0), spec: { selector } }], unlabelled, elsewhere)).toEqual(['labelled'])
  })
})
