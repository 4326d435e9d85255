import { describe, expect, it } from 'vitest'
import { type Diagnosis, explain, explainNoHelp, explainPreemption, isSettledEarly } from './fit-error.ts'
import { NodeInfo } from './node-info.ts'
import { makeNode } from './testing/objects.ts'

const refusedBy = (...reasons: string[]) => ({
  node: new NodeInfo(makeNode()),
  refusal: { plugin: 'P', reasons, isHelpedByEviction: false },
})

const diagnosis = (parts: Partial<Diagnosis>): Diagnosis => ({
  nodeCount: 3,
  refusals: [],
  namedBy: [],
  isContradictory: false,
  ...parts,
})

const rejection = { plugin: 'P', reasons: ['claim not found', 'class not found'], isHelpedByEviction: false }

describe('why no node takes a pod', () => {
  it.each<[string, Partial<Diagnosis>, string]>([
    ['there is none', { nodeCount: 0, rejection }, 'no nodes available to schedule pods'],
    ['it is so whichever the node', { rejection }, '0/3 nodes are available: claim not found, class not found.'],
    [
      'it names nodes in ways that contradict each other',
      { isContradictory: true, namedBy: ['P'] },
      '0/3 nodes are available: pod affinity terms conflict.',
    ],
    [
      'nodes refuse it, each reason with its count, in the order of that text',
      {
        nodeCount: 12,
        refusals: [
          ...Array.from({ length: 2 }, () => refusedBy('Too many pods', 'Insufficient cpu')),
          ...Array.from({ length: 10 }, () => refusedBy('Insufficient memory')),
        ],
      },
      '0/12 nodes are available: 10 Insufficient memory, 2 Insufficient cpu, 2 Too many pods.',
    ],
    [
      'plugins name the nodes it may go to',
      { namedBy: ['P', 'Q'], refusals: [refusedBy('Too many pods')] },
      "0/3 nodes are available: 1 Too many pods, 2 node(s) didn't satisfy plugin(s) [P Q].",
    ],
  ])('is told where %s', (_, parts, text) => {
    expect(explain(diagnosis(parts))).toBe(text)
  })
})

describe('why it does not help that others leave', () => {
  it('is told with the nodes where that was not considered', () => {
    const attempts = [{ reasons: ['Insufficient cpu'] }, { reasons: ['Insufficient cpu', 'Too many pods'] }]
    expect(explainPreemption(diagnosis({}), attempts)).toBe(
      '0/3 nodes are available: 1 Preemption is not helpful for scheduling, 1 Too many pods, 2 Insufficient cpu.',
    )
    expect(explainPreemption(diagnosis({ nodeCount: 2 }), attempts)).toBe(
      '0/2 nodes are available: 1 Too many pods, 2 Insufficient cpu.',
    )
  })

  const hopeless = { type: 'hopeless', message: 'nothing helps' } as const
  const preempts = { type: 'preempts', victims: { node: new NodeInfo(makeNode()), pods: [], violations: 0 } } as const
  it.each<[string, string, Partial<Diagnosis>, Parameters<typeof explainNoHelp>[1]]>([
    ['is not where there is no node', '', { nodeCount: 0 }, hopeless],
    ['is not where others leave', '', {}, preempts],
    ['is not found where no node was looked at', 'not found', { rejection }, hopeless],
    ['is not found where the nodes contradict each other', 'not found', { isContradictory: true }, hopeless],
    ['is not found where nobody has looked', 'not found', {}, undefined],
    ['is told otherwise', 'no new claims to deallocate, preemption: nothing helps', {}, hopeless],
  ])('%s', (_, text, parts, preemption) => {
    expect(explainNoHelp(diagnosis(parts), preemption)).toBe(text)
  })

  it('is settled before a node is looked at where that makes no difference', () => {
    expect([{}, { rejection }, { isContradictory: true }].map((parts) => isSettledEarly(diagnosis(parts)))).toEqual([
      false,
      true,
      true,
    ])
  })
})
