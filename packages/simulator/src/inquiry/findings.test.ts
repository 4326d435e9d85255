import type { KubernetesObject, Pod } from '@coracle/api'
import type { Explanation, Finding } from '@coracle/why'
import { describe, expect, it } from 'vitest'
import type { View } from '../view.ts'
import { falseFindings } from './findings.ts'
import type { WriteLog } from './write-log.ts'

const reference = { apiVersion: 'v1', kind: 'Pod', namespace: 'default', name: 'web', uid: 'p' }
const pod = (parts: object) =>
  ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace: 'default', name: 'web', uid: 'p' },
    spec: {},
    ...parts,
  }) as KubernetesObject
const finding = (parts: Partial<Finding>): Finding => ({
  object: reference,
  reason: 'UntoleratedTaint',
  what: '',
  because: '0/1 nodes are available',
  remedy: '',
  state: 'stuck',
  ...parts,
})
const unscheduled = pod({
  status: { conditions: [{ type: 'PodScheduled', status: 'False', message: '0/1 nodes are available' }] },
})
const ready = pod({
  spec: { nodeName: 'n1' },
  status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
})
const node = {
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'n1', uid: 'n' },
  spec: { taints: [{ key: 'gpu', effect: 'NoSchedule' }] },
  status: { conditions: [{ type: 'Ready', status: 'True' }] },
} as KubernetesObject

function problems(object: KubernetesObject | undefined, told: Partial<Explanation>): readonly string[] {
  const known = [node, ...(object === undefined ? [] : [object])]
  const view: Pick<View, 'byUid' | 'find' | 'list' | 'podsOf'> = {
    byUid: (uid) => known.find(({ metadata }) => metadata.uid === uid),
    find: (kind, _namespace, name) => known.find((each) => each.kind === kind && each.metadata.name === name),
    list: () => [],
    podsOf: (): readonly Pod[] => [],
  }
  const explanation: Explanation = {
    apiVersion: 'coracle.dev/v1',
    kind: 'Explanation',
    object: reference,
    verdict: 'stuck',
    findings: [],
    ...told,
  }
  return falseFindings(explanation, {
    view: view as View,
    log: { eventsAbout: () => [] } as Partial<WriteLog> as WriteLog,
  })
}

describe('what is told of an object', () => {
  it('is true where it is so', () => {
    const remedy = 'take the taint away: `coracle taint nodes n1 gpu:NoSchedule-`'
    expect(problems(unscheduled, { findings: [finding({ remedy })] })).toEqual([])
    expect(problems(ready, { verdict: 'fine' })).toEqual([])
    expect(problems(undefined, { verdict: 'gone' })).toEqual([])
  })

  it.each<[what: string, KubernetesObject | undefined, Partial<Explanation>, problem: RegExp]>([
    ['has a node', ready, { findings: [finding({})] }, /it is on n1/],
    [
      'was told something else',
      unscheduled,
      { findings: [finding({ because: 'no nodes' })] },
      /condition PodScheduled says: 0\/1/,
    ],
    [
      'finds no such taint',
      unscheduled,
      { findings: [finding({ remedy: '`coracle taint nodes n1 disk:NoSchedule-`' })] },
      /node n1 is not tainted disk:NoSchedule/,
    ],
    ['is there', ready, { verdict: 'gone' }, /told to be gone, and is there/],
    ['is gone', undefined, { verdict: 'fine' }, /told to be there, and is not/],
    ['is not fine', unscheduled, { verdict: 'fine' }, /told to be fine: it is not ready/],
    ['is fine', ready, { verdict: 'waiting', findings: [finding({ reason: 'Starting' })] }, /it is as it is to be/],
    [
      'is held up in a way that is checked by nobody',
      ready,
      { findings: [finding({ reason: 'Magic' })] },
      /nobody here knows/,
    ],
    ['is another', ready, { findings: [finding({ object: { ...reference, kind: 'Node' } })] }, /it is Pod web/],
  ])('is false where the object %s', (_what, object, told, problem) => {
    expect(problems(object, told)).toContainEqual(expect.stringMatching(problem))
  })
})
