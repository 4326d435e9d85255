import type { Pod } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { Framework } from './framework.ts'
import { NodeInfo } from './node-info.ts'
import { type ClusterPlugin, type NodePlugin, normalizeToMax } from './plugins/plugin.ts'
import { makeCluster, makeNode, makePod } from './testing/objects.ts'

const label = ({ node }: NodeInfo, key: string): number => Number(node.metadata.labels?.[key] ?? 0)

/** Scores nodes by the number that stands in a label. */
const byLabel = (key: string, weight: number | undefined, normalizes = false): NodePlugin => ({
  name: key,
  scope: 'node',
  ...(weight === undefined ? {} : { weight }),
  signature: () => undefined,
  scorer: () => ({
    score: (node) => label(node, key),
    ...(normalizes ? { normalize: (scores: Float64Array) => normalizeToMax(scores) } : {}),
  }),
})

const nodes = (...labels: readonly Readonly<Record<string, string>>[]) =>
  labels.map((each, index) => new NodeInfo(makeNode({ name: `n${index}`, labels: each })))

describe('candidates are ranked', () => {
  const rank = (plugins: readonly (NodePlugin | ClusterPlugin)[], candidates: readonly NodeInfo[], pod = makePod()) => [
    ...new Framework(plugins).prepare(pod, makeCluster(candidates)).rank(candidates),
  ]

  it('by the weighted sum of all scores', () => {
    const candidates = nodes({ a: '1', b: '10' }, { a: '2', b: '5' }, { a: '3' })
    expect(rank([byLabel('a', 3), byLabel('b', undefined)], candidates)).toEqual([13, 11, 9])
  })

  it('with scores of nodes compared with each other', () => {
    const candidates = nodes({ a: '1', b: '10' }, { a: '2', b: '20' })
    expect(rank([byLabel('a', 2), byLabel('b', 3, true)], candidates)).toEqual([2 + 150, 4 + 300])
  })

  it('without those that are the same for all of them', () => {
    expect(rank([byLabel('a', 2), byLabel('b', 3, true)], nodes({ a: '1', b: '7' }, { a: '2', b: '7' }))).toEqual([
      2, 4,
    ])
    expect(rank([byLabel('b', 3, true)], nodes({ b: '7' }, { b: '7' }, { b: '0' }))).toEqual([300, 300, 0])
  })

  it('with what plugins say that see the cluster', () => {
    const seen: unknown[] = []
    const plugin: ClusterPlugin = {
      name: 'Cluster',
      scope: 'cluster',
      weight: 5,
      signature: () => undefined,
      scorer(pod, _, candidates) {
        seen.push(
          pod.metadata.name,
          candidates.map(({ name }) => name),
        )
        return { score: (node) => label(node, 'c'), normalize: (scores) => normalizeToMax(scores, true) }
      },
    }
    const candidates = nodes({ a: '1', c: '1' }, { a: '1', c: '4' })
    expect(rank([byLabel('a', 1), plugin], candidates, makePod({}, 'p'))).toEqual([1 + 375, 1])
    expect(seen).toEqual(['p', ['n0', 'n1']])
  })

  it('by what the nodes are now', () => {
    const framework = new Framework([byLabel('a', 1)])
    const candidates = nodes({ a: '1' }, { a: '2' })
    const ask = () => [...framework.prepare(makePod(), makeCluster(candidates)).rank(candidates)]
    expect(ask()).toEqual([1, 2])
    candidates[0]?.setNode(makeNode({ name: 'n0', labels: { a: '7' } }))
    expect(ask()).toEqual([7, 2])
  })
})

describe('pods are alike', () => {
  const byLabels: ClusterPlugin = {
    name: 'Labels',
    scope: 'cluster',
    signature: ({ metadata }) => metadata.labels,
    filter: ({ metadata }) =>
      metadata.labels === undefined ? undefined : { refuse: () => undefined, add: () => {}, remove: () => {} },
  }
  const byNode: NodePlugin = { name: 'Node', scope: 'node', signature: ({ nodeSelector }) => nodeSelector }
  const framework = new Framework([byLabels, byNode])
  const signature = (pod: Pod) => framework.prepare(pod, makeCluster([])).signature
  const labelled = (app: string): Pod => {
    const pod = makePod()
    return { ...pod, metadata: { ...pod.metadata, labels: { app } } }
  }

  it('where no plugin tells them apart that has something to say', () => {
    expect(signature(makePod())).toBe(signature(makePod()))
    expect(signature(labelled('web'))).toBe(signature(labelled('web')))
    expect(signature(labelled('web'))).not.toBe(signature(labelled('db')))
    expect(signature(makePod({ nodeSelector: { disk: 'ssd' } }))).not.toBe(signature(makePod()))
    expect(signature(makePod({ priority: 5 }))).not.toBe(signature(makePod()))
  })

  it('for plugins of nodes by their spec, which those of one template share: they are asked once', () => {
    let asked = 0
    const counting: NodePlugin = { ...byNode, signature: ({ nodeSelector }) => [++asked, nodeSelector] }
    const once = new Framework([counting])
    const prepare = (spec: Pod['spec']) => once.prepare({ ...makePod(), spec }, makeCluster([])).signature
    const { spec } = makePod()
    const frozen = Object.freeze({ ...spec })
    expect(prepare(frozen)).toBe(prepare(frozen))
    expect(asked).toBe(1)
    // What may change in between is looked at each time.
    expect(prepare(spec)).not.toBe(prepare(spec))
    expect(prepare(frozen)).toBe(prepare(frozen))
  })

  it('for all that a plugin looks at which says nothing of them', () => {
    const silent = new Framework([{ ...byLabels, filter: () => undefined }])
    const of = (pod: Pod) => silent.prepare(pod, makeCluster([])).signature
    expect(of(labelled('web'))).toBe(of(labelled('db')))
  })
})

describe('nodes that a pod names', () => {
  const naming = (name: string, ...names: readonly string[]): NodePlugin => ({
    name,
    scope: 'node',
    signature: () => undefined,
    filter: () => ({ nodeNames: new Set(names), refuse: () => undefined }),
  })
  const named = (...plugins: readonly NodePlugin[]) => {
    const found = new Framework(plugins).prepare(makePod(), makeCluster([])).named
    return found && [[...found.nodeNames], found.plugins]
  }

  it('are those on which all plugins agree that name some', () => {
    expect(named(byLabel('a', 1))).toBeUndefined()
    expect(named(naming('One', 'a', 'b'), byLabel('a', 1))).toEqual([['a', 'b'], ['One']])
    expect(named(naming('One', 'a', 'b'), naming('Two', 'b', 'c'))).toEqual([['b'], ['One', 'Two']])
    expect(named(naming('One', 'a'), naming('Two', 'c'))).toEqual([[], ['One', 'Two']])
  })
})

describe('plugins that reserve', () => {
  it('are asked in their order until one cannot, and take back in the other order', () => {
    const log: string[] = []
    const reserving = (name: string, refuses = false): ClusterPlugin => ({
      name,
      scope: 'cluster',
      signature: () => undefined,
      reserve() {
        log.push(`reserve ${name}`)
        return refuses ? 'none left' : undefined
      },
      unreserve: () => log.push(`unreserve ${name}`),
    })
    const plugins = [reserving('A'), byLabel('a', 1), reserving('B', true), reserving('C')]
    const framework = new Framework(plugins)
    const node = new NodeInfo(makeNode())
    expect(framework.reserve(makePod(), node)).toBe('running Reserve plugin "B": none left')
    framework.unreserve(makePod(), node)
    expect(log).toEqual(['reserve A', 'reserve B', 'unreserve C', 'unreserve B', 'unreserve A'])
    expect(new Framework([reserving('A')]).reserve(makePod(), node)).toBeUndefined()
  })
})
