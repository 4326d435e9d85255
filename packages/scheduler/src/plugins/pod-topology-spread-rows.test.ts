import type { Labels, Pod, PodSpec, TopologySpreadConstraint } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { NodeInfo } from '../node-info.ts'
import { SchedulerCache } from '../scheduler-cache.ts'
import { makeNode, makePod } from '../testing/objects.ts'
import { podTopologySpread } from './pod-topology-spread.ts'

/** `fb`: the labels foo and bar. */
const labelsOf = (text: string): Labels => ({
  ...(text.includes('f') && { foo: '' }),
  ...(text.includes('b') && { bar: '' }),
})

let count = 0
const podWith = (labels: string, spec: Partial<PodSpec> = {}): Pod => {
  const pod = makePod(spec, `p${++count}`)
  const deletionTimestamp = labels.includes('.') ? '2026-01-01T00:00:00Z' : undefined
  const namespace = labels.includes('@') ? 'other' : 'default'
  return { ...pod, metadata: { ...pod.metadata, namespace, deletionTimestamp, labels: labelsOf(labels) } }
}

/**
 * Nodes by their names: a and b are in one zone, x and y in another, unless `~` follows. `-`: without the label `node`, `*`: with the label
 * foo, `!`: tainted. After a colon come the labels of each of its pods, with `.` where it is ending, `@` where it is in another namespace.
 */
function nodesOf(text: string): readonly NodeInfo[] {
  return text.split(' ').map((each) => {
    const [marks = '', pods = ''] = each.split(':')
    const [name = ''] = marks
    const info = new NodeInfo(
      makeNode({
        name,
        labels: {
          ...(!marks.includes('~') && { zone: name < 'c' ? 'zone1' : 'zone2' }),
          ...(!marks.includes('-') && { node: name }),
          ...(marks.includes('*') && { foo: '' }),
        },
        ...(marks.includes('!') && { taints: [{ key: 'foo', effect: 'NoSchedule' as const }] }),
      }),
    )
    for (const labels of pods === '' ? [] : pods.split(',')) info.add(podWith(labels))
    return info
  })
}

/** `zone f 1 min=2 affinity=Ignore taints=Honor`: over zones, counting pods with foo (`-`: without a selector), at most 1 apart. */
function constraintOf(text: string): TopologySpreadConstraint {
  const [topologyKey = '', counted, maxSkew, ...more] = text.split(' ')
  const options = Object.fromEntries(more.map((each) => each.split('=')))
  return {
    topologyKey,
    maxSkew: Number(maxSkew),
    whenUnsatisfiable: 'DoNotSchedule',
    ...(counted !== '-' && {
      labelSelector: { matchExpressions: [{ key: counted === 'f' ? 'foo' : 'bar', operator: 'Exists' }] },
    }),
    ...(options.min && { minDomains: Number(options.min) }),
    ...(options.affinity && { nodeAffinityPolicy: options.affinity }),
    ...(options.taints && { nodeTaintsPolicy: options.taints }),
  }
}

/** `foo`: nodes with that label; `a,b`: these nodes; `not a`: all others. */
function onNodes(text: string): Partial<PodSpec> {
  if (text === '') return {}
  if (text === 'foo') return { nodeSelector: { foo: '' } }
  const operator = text.startsWith('not ') ? 'NotIn' : 'In'
  const values = text.replace('not ', '').split(',')
  const nodeSelectorTerms = [{ matchExpressions: [{ key: 'node', operator, values } as const] }]
  return { affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } } }
}

// As in upstream's tests of this plugin.
describe('a pod that must be spread, as upstream spreads it', () => {
  it.each<[nodes: string, labels: string, where: string, constraints: string, verdicts: string]>([
    ['a b x y', 'f', '', 'zone f 1', '++++'],
    ['a b x y', 'f', '', 'zone b 1', '++++'],
    ['a:f@,f@ b x:f y:f', 'f', '', 'zone f 1', '++--'],
    ['a b x:f y:f', 'f', '', 'zone - 1', '++++'],
    ['a:f,f b:f x y:f,f,f', 'f', '', 'zone f 1', '++++'],
    ['a:f b~:f x:f y:f', 'f', '', 'zone f 1', '+?--'],
    ['a x', 'f', '', 'rack f 1', '??'],
    ['a:f,f b:f x y:f,f,f', 'f', '', 'node f 1', '--+-'],
    ['a:f,f b:f x y:f,f,f', 'f', '', 'node f 2', '-++-'],
    ['a:f,f b:f x y:f,f,f', 'b', '', 'node f 1', '-++-'],
    ['a:f,f b:f x y:f,f,f', 'f', 'a,y', 'node f 1', '+++-'],
    ['a~:f. b~:f', 'f', '', 'node f 1', '+-'],
    ['a b:f,f x y:f', 'f', 'not b', 'zone f 1', '++--'],
    ['a~:f,f b~:f,f c~:f', 'f', '', 'node f 2 min=4', '--+'],
    ['a~:f,f b~:f,f c~:f', 'f', '', 'node f 2 min=2', '+++'],
    ['a:f b:f x y:f', 'f', '', 'zone f 2 min=3', '--++'],
    ['a:f b:f x y:f', 'f', '', 'zone f 2 min=1', '++++'],
    ['a*~:f b*~:f x*~ y~:f', 'f', 'foo', 'node f 1', '--++'],
    ['a*~:f b*~:f x*~ y~:f', 'f', 'foo', 'node f 1 affinity=Ignore', '--+-'],
    ['a*~:f b*~:f x*~ y!~:f', 'f', '', 'node f 1 taints=Honor', '--++'],
    ['a*~:f b*~:f x*~ y!~:f', 'f', '', 'node f 1', '--+-'],
    ['a:f,f b:f x y:f,f,f', 'f', '', 'zone f 1; node f 1', '--+-'],
    ['a:f,f b:f x y:f,f,f,f', 'f', '', 'zone f 1; node f 1', '----'],
    ['a:f b x y:b', 'fb', '', 'zone f 1; node b 1', '--+-'],
    ['a:f b x:b y:b', 'fb', '', 'zone f 1; node b 1', '----'],
    ['a:f,fb b x y:f,fb,f', 'fb', '', 'zone f 1; node b 1', '-+--'],
    ['a:f b x:b y:b', 'b', '', 'zone f 1; node b 1', '++--'],
    ['a:f b x- y:f', 'f', '', 'zone f 1; node f 1', '-+?-'],
    ['a*:f b*:f x* y:f', 'f', 'foo', 'zone f 1; node f 1 affinity=Ignore', '--+-'],
    ['a*:f b*:f x* y!:f', 'f', '', 'zone f 1 taints=Honor; node f 1', '--+-'],
    ['a*:f b:f x* y*!:f', 'f', 'foo', 'zone f 1; node f 1', '-++-'],
    ['a*:f b:f x* y*!:f', 'f', 'foo', 'zone f 1 taints=Honor; node f 1 affinity=Ignore', '--+-'],
    ['a:fb,f b:fb x y:f,fb,f', 'fb', '', 'zone b 1; zone f 1', '--++'],
    ['a:fb,f b:fb x y:f,fb,f,f', 'fb', '', 'zone b 1; zone f 1', '----'],
  ])('among %s, with labels %s, on nodes %s, by %s: %s', (text, labels, where, constraints, expected) => {
    const cache = new SchedulerCache()
    const nodes = nodesOf(text)
    for (const { node, pods } of nodes) {
      cache.setNode(node)
      for (const pod of pods.values()) cache.place(pod, node.metadata.name ?? '')
    }
    const topologySpreadConstraints = constraints.split('; ').map(constraintOf)
    const verdicts = (pod: Pod) => {
      const filter = podTopologySpread.filter?.(pod, cache)
      return nodes.map(({ name }) => {
        const node = cache.node(name)
        const refusal = node && filter?.refuse(node)
        return refusal === undefined ? '+' : refusal.isHelpedByEviction ? '-' : '?'
      })
    }
    // What was counted for others is not taken for this one.
    for (const each of [
      {},
      { nodeSelector: { other: '' } },
      { tolerations: [{ key: 'foo', operator: 'Exists' as const }] },
    ]) {
      verdicts(podWith(labels, { topologySpreadConstraints, ...each }))
    }
    verdicts({ ...podWith(labels, { topologySpreadConstraints }), metadata: { namespace: 'other', uid: 'other' } })
    expect(verdicts(podWith(labels, { topologySpreadConstraints, ...onNodes(where) })).join('')).toBe(expected)
  })
})
