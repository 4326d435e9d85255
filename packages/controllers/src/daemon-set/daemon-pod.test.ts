import type { Pod } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { pod } from '../testing/objects.ts'
import { nodeOf } from './daemon-pod.ts'

describe('the node of a daemon pod', () => {
  const named = (...values: readonly string[]) => ({ key: 'metadata.name', operator: 'In', values })
  const requiring = (...terms: readonly object[]): Pod => {
    const base = pod('p')
    const nodeAffinity = { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: terms } }
    return { ...base, spec: { ...base.spec, affinity: { nodeAffinity } } } as Pod
  }

  const required = requiring({ matchFields: [named('n')] })
  const waiting = { ...required, spec: { ...required.spec, nodeName: '' } } as Pod

  it.each<readonly [string, Pod, string | undefined]>([
    ['the one that it is bound to', pod('p', { node: 'n' }), 'n'],
    ['the one that it requires', required, 'n'],
    ['the one that it requires as long as it is bound to none', waiting, 'n'],
    [
      'the one that one of several terms requires',
      requiring({ matchExpressions: [] }, { matchFields: [named('n')] }),
      'n',
    ],
    [
      'the one that one of several fields requires',
      requiring({ matchFields: [{ ...named('x'), key: 'metadata.uid' }, named('n')] }),
      'n',
    ],
    ['none where it says nothing of nodes', pod('p'), undefined],
    ['none where it may be on one of two', requiring({ matchFields: [named('n', 'm')] }), undefined],
    [
      'none where it is to be on any but one',
      requiring({ matchFields: [{ ...named('n'), operator: 'NotIn' }] }),
      undefined,
    ],
  ])('is %s', (_, of, name) => {
    expect(nodeOf(of)).toBe(name)
  })
})
