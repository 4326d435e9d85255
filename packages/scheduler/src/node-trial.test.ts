import type { Pod } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { NodeInfo } from './node-info.ts'
import { NodeTrial } from './node-trial.ts'
import type { ClusterFilter, NodeFilter } from './plugins/plugin.ts'
import { makeNode, makePod } from './testing/objects.ts'

const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((name) => makePod({}, name)) as [Pod, Pod, Pod, Pod]
const refusal = (...reasons: string[]) => ({ reasons, isHelpedByEviction: true })

/** A trial of a node with these pods; `told` is what a filter of the cluster has been told, `pods` what it has seen last. */
function trialOf(pods: readonly Pod[], nominated: readonly Pod[], accepts: (names: string) => boolean = () => true) {
  const node = new NodeInfo(makeNode({ name: 'n' }))
  for (const pod of pods) node.add(pod)
  const told: string[] = []
  const nameOf = ({ metadata }: Pod) => metadata.name
  const seen: string[] = []
  const filter: NodeFilter = {
    refuse(info) {
      const names = [...info.pods.values()].map(nameOf).sort().join(' ')
      seen.push(names)
      return accepts(names) ? undefined : refusal(names)
    },
  }
  const cluster: ClusterFilter = {
    refuse: () => undefined,
    add: (pod, { name }) => told.push(`+${nameOf(pod)} on ${name}`),
    remove: (pod, { name }) => told.push(`-${nameOf(pod)} on ${name}`),
  }
  const trial = new NodeTrial(node, [{ plugin: 'P', filter }], [{ plugin: 'C', filter: cluster }], nominated)
  return { node, trial, told, seen }
}

describe('a trial of a node', () => {
  it('changes nothing of the node itself', () => {
    const { node, trial, seen } = trialOf([a, b], [])
    trial.remove(a)
    trial.add(c)
    expect(trial.refuse()).toBeUndefined()
    expect([seen, [...node.pods.values()]]).toEqual([['b c'], [a, b]])
  })

  it('asks beside the pods that are to come there, and then without them', () => {
    const { trial, told, seen } = trialOf([a], [b, c])
    expect(trial.refuse()).toBeUndefined()
    expect(seen).toEqual(['a b c', 'a'])
    expect(told).toEqual(['+b on n', '+c on n', '-b on n', '-c on n'])
  })

  it('gives the refusal beside those pods, or else the one without them', () => {
    const beside = trialOf([a], [b], (names) => names !== 'a b')
    expect(beside.trial.refuse()).toEqual({ ...refusal('a b'), plugin: 'P' })
    // The pods that are to come are taken out again.
    expect(beside.trial.refuse()).toEqual({ ...refusal('a b'), plugin: 'P' })
    expect(trialOf([a], [b], (names) => names !== 'a').trial.refuse()).toEqual({ ...refusal('a'), plugin: 'P' })
  })

  it('tells filters of the cluster of what changes, and takes all back at its end', () => {
    const { trial, told } = trialOf([a, b], [d])
    trial.remove(a)
    trial.remove(b)
    trial.add(b)
    trial.add(c)
    trial.refuse()
    told.length = 0
    trial.end()
    expect(told).toEqual(['+a on n', '-c on n'])
    trial.end()
    expect(told).toHaveLength(2)
  })
})
