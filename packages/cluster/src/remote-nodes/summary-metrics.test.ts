import type { Node, Pod } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { nodeMetricsOf, podMetricsOf, type Summary } from './summary-metrics.ts'

const pod: Pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web', namespace: 'default', uid: 'uid-web' },
  spec: { containers: [{ name: 'main' }] },
}
const node: Node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n' } }
const usage = { cpu: { usageNanoCores: 5_000_000 }, memory: { workingSetBytes: 1024 } }
const podRef = { name: 'web', namespace: 'default', uid: 'uid-web' }

/** What an agent answers is whatever JSON it likes. */
const podsOf = (summary: unknown) => podMetricsOf(summary as Summary, [pod], 0)
const nodeOf = (summary: unknown) => nodeMetricsOf(summary as Summary, node, 0)

describe('what an agent tells of its node', () => {
  it('is what its pods and the node use', () => {
    const summary = { node: usage, pods: [{ podRef, containers: [{ name: 'main', ...usage }] }] }
    expect(podsOf(summary)).toMatchObject([
      { containers: [{ name: 'main', usage: { cpu: '5000000n', memory: '1Ki' } }] },
    ])
    expect(nodeOf(summary)).toMatchObject({ usage: { cpu: '5000000n', memory: '1Ki' } })
  })

  it.each<[string, unknown]>([
    ['nothing', null],
    ['a text', 'so much'],
    ['pods that are no list', { node: [], pods: {} }],
    ['pods that are none', { node: null, pods: [null, 1, {}] }],
    ['no containers', { pods: [{ podRef, containers: { main: usage } }] }],
    ['containers that are none', { pods: [{ podRef, containers: [null, 'main'] }] }],
    [
      'texts in the place of numbers',
      { node: textual(), pods: [{ podRef, containers: [{ name: 'main', ...textual() }] }] },
    ],
    ['less than nothing', { node: negative(), pods: [{ podRef, containers: [{ name: 'main', ...negative() }] }] }],
    ['a name that is none', { pods: [{ podRef, containers: [{ name: {}, ...usage }] }] }],
  ])('is nothing where it says %s, and those of others are shown all the same', (_, summary) => {
    expect([podsOf(summary), nodeOf(summary)]).toEqual([[], undefined])
  })
})

function textual() {
  return { cpu: { usageNanoCores: 'much' }, memory: { workingSetBytes: 'more' } }
}

function negative() {
  return { cpu: { usageNanoCores: -1 }, memory: { workingSetBytes: 1024 } }
}
