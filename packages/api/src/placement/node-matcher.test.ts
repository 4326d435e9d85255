import { describe, expect, it } from 'vitest'
import type { NodeSelectorRequirement, NodeSelectorTerm } from '../kinds/core/common.ts'
import type { Node } from '../kinds/core/node/node-schema.ts'
import { storedPod } from '../kinds/core/pod/pod-fixtures.ts'
import { nodeTermMatcher, requiredNodeMatcher } from './node-matcher.ts'

const node: Node = {
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'node-a', labels: { disk: 'ssd', cores: '16', note: 'x' } },
}

const condition = (key: string, operator: string, ...values: string[]): NodeSelectorRequirement => ({
  key,
  operator,
  values,
})

describe('nodeTermMatcher', () => {
  it.each<[NodeSelectorRequirement, boolean]>([
    [condition('disk', 'In', 'hdd', 'ssd'), true],
    [condition('disk', 'In', 'hdd'), false],
    [condition('zone', 'In', 'a'), false],
    [condition('disk', 'NotIn', 'ssd'), false],
    [condition('disk', 'NotIn', 'hdd'), true],
    [condition('zone', 'NotIn', 'a'), true],
    [condition('disk', 'Exists'), true],
    [condition('zone', 'Exists'), false],
    [condition('toString', 'Exists'), false],
    [condition('disk', 'DoesNotExist'), false],
    [condition('zone', 'DoesNotExist'), true],
    [condition('cores', 'Gt', '9'), true],
    [condition('cores', 'Gt', '16'), false],
    [condition('cores', 'Lt', '+17'), true],
    [condition('cores', 'Lt', '16'), false],
    [condition('note', 'Gt', '1'), false],
    [condition('cores', 'Gt', 'few'), false],
    [condition('disk', 'Like', 'ssd'), false],
  ])('labels: %o: %s', (requirement, matches) => {
    expect(nodeTermMatcher({ matchExpressions: [requirement] })(node)).toBe(matches)
  })

  it.each<[NodeSelectorRequirement, boolean]>([
    [condition('metadata.name', 'In', 'node-a'), true],
    [condition('metadata.name', 'In', 'node-b'), false],
    [condition('metadata.name', 'NotIn', 'node-a'), false],
    [condition('metadata.name', 'NotIn', 'node-b'), true],
    [condition('metadata.name', 'Exists'), false],
    [condition('spec.podCIDR', 'In', 'node-a'), false],
  ])('fields: %o: %s', (requirement, matches) => {
    expect(nodeTermMatcher({ matchFields: [requirement] })(node)).toBe(matches)
  })

  const yes = condition('disk', 'Exists')
  const no = condition('disk', 'DoesNotExist')
  const named = condition('metadata.name', 'In', 'node-a')
  const misnamed = condition('metadata.name', 'In', 'node-b')
  it.each<[string, NodeSelectorTerm, boolean]>([
    ['all that hold', { matchExpressions: [yes, yes], matchFields: [named] }, true],
    ['labels that do not', { matchExpressions: [yes, no], matchFields: [named] }, false],
    ['fields that do not', { matchExpressions: [yes], matchFields: [misnamed] }, false],
    ['none', {}, false],
  ])('conditions: %s', (_, term, matches) => {
    expect(nodeTermMatcher(term)(node)).toBe(matches)
  })
})

describe('requiredNodeMatcher', () => {
  const required = (...nodeSelectorTerms: NodeSelectorTerm[]) => ({
    nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } },
  })
  const good: NodeSelectorTerm = { matchExpressions: [condition('disk', 'Exists')] }
  const bad: NodeSelectorTerm = { matchExpressions: [condition('disk', 'DoesNotExist')] }

  it.each<[string, Readonly<Record<string, unknown>>, boolean | undefined]>([
    ['has nothing to say about pods that require nothing', {}, undefined],
    ['takes an empty selector for none', { nodeSelector: {} }, undefined],
    ['takes no preference for a requirement', { affinity: { nodeAffinity: {} } }, undefined],
    ['wants every label', { nodeSelector: { disk: 'ssd', cores: '16' } }, true],
    ['wants every label with that value', { nodeSelector: { disk: 'ssd', cores: '8' } }, false],
    ['wants one of the terms', { affinity: required(bad, good) }, true],
    ['wants at least one', { affinity: required(bad) }, false],
    ['has no node for no terms', { affinity: required() }, false],
    ['wants selector and affinity', { nodeSelector: { disk: 'hdd' }, affinity: required(good) }, false],
  ])('%s', (_, spec, matches) => {
    expect(requiredNodeMatcher(storedPod(spec).spec)?.(node)).toBe(matches)
  })
})
