import { type KubernetesObject, pods, type Resource } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { findingsOf } from '../explanation.ts'
import { condition, examined, object, pod, running } from '../testing/examined.ts'
import { rulesOf } from './index.ts'
import { refusedByEvents } from './replicas.ts'

const deletionTimestamp = '2026-01-01T00:00:00Z'
const ready = { ...running, conditions: [condition('Ready', 'True')] }
const podOf = (uid: string, status: object, metadata: object = {}) =>
  pod(
    status,
    {},
    {
      name: uid,
      uid,
      ownerReferences: [{ kind: 'ReplicaSet', name: 'web', uid: 'rs', controller: true }],
      ...metadata,
    },
  )
const set = (spec: object, status: object = {}, metadata: object = {}): KubernetesObject =>
  object('apps/v1', 'ReplicaSet', {
    metadata: { uid: 'rs', ...metadata },
    spec: { selector: { matchLabels: { app: 'web' } }, ...spec },
    status,
  })
const among = (subject: KubernetesObject, ...all: readonly KubernetesObject[]) =>
  examined(subject, { known: new Map([[pods as Resource, all]]) })

describe('of a ReplicaSet', () => {
  it.each(['ReplicaSet', 'ReplicationController'])('or its like are read the pods that it selects: %s', (kind) => {
    const apiVersion = kind === 'ReplicaSet' ? 'apps/v1' : 'v1'
    const reads = (labels: object) => {
      const selector = kind === 'ReplicaSet' ? { matchLabels: labels } : labels
      const subject = object(apiVersion, kind, { spec: { selector } })
      return rulesOf(subject).reads?.(subject)
    }
    expect(reads({ app: 'web' })).toEqual([{ resource: pods, namespace: 'default', labelSelector: 'app=web' }])
    expect(reads({})).toEqual([])
  })

  it('lead those of its own pods on that do not serve, and all when it is going', () => {
    const known = [
      podOf('well', ready),
      podOf('ill', running),
      podOf('going', running, { deletionTimestamp }),
      podOf('done', { phase: 'Succeeded' }),
      pod(running, {}, { name: 'other', uid: 'other' }),
    ]
    const leads = (subject: KubernetesObject) =>
      rulesOf(subject)
        .leads?.(among(subject, ...known).facts)
        .map(({ metadata }) => metadata.name)
    expect(leads(set({}))).toEqual(['ill'])
    expect(leads(set({}, {}, { deletionTimestamp }))).toEqual(['well', 'ill', 'going', 'done'])
  })

  it.each<[string, KubernetesObject, readonly KubernetesObject[], object | undefined]>([
    ['has as many pods as it is to have', set({ replicas: 1 }), [podOf('a', ready)], undefined],
    ['is to have one, where it does not say', set({}), [podOf('a', ready)], undefined],
    ['has too few', set({ replicas: 2 }), [podOf('a', ready)], { what: '1 of 2 pods are ready', because: '1 exist' }],
    [
      'has some that are not ready',
      set({ replicas: 2 }),
      [podOf('a', ready), podOf('b', running)],
      { what: '1 of 2 pods are ready', because: '2 exist' },
    ],
    [
      'has too many, of which as many as it is to have are ready',
      set({ replicas: 1 }),
      [podOf('a', ready), podOf('b', running)],
      { what: '1 of 1 pods are ready', because: '2 exist' },
    ],
    [
      'has some that are going, and others have some',
      set({ replicas: 2 }),
      [podOf('a', ready), podOf('b', ready, { deletionTimestamp }), pod(ready, {}, { name: 'c', uid: 'c' })],
      { what: '1 of 2 pods are ready', because: '1 exist' },
    ],
  ])('is told what it lacks, as it is seen to: it %s', (_, subject, known, expected) => {
    const findings = findingsOf(among(subject, ...known)).filter(({ object }) => object.kind === 'ReplicaSet')
    expect(findings).toMatchObject(
      expected === undefined ? [] : [{ reason: 'UnderWay', state: 'waiting', ...expected }],
    )
  })

  it('is told that the API server refuses its pods, or their deletion', () => {
    const quota = 'exceeded quota: q'
    const refused = (status: string, reason: string, replicas: number, ...known: readonly KubernetesObject[]) =>
      findingsOf(
        among(set({ replicas }, { conditions: [condition('ReplicaFailure', status, reason, quota)] }), ...known),
      ).map((found) => [found.reason, found.because])
    const [one, going] = [podOf('a', ready), podOf('b', ready, { deletionTimestamp })]
    expect(refused('True', 'FailedCreate', 1)).toEqual([['QuotaExceeded', quota]])
    expect(refused('True', 'FailedCreate', 1, going)).toEqual([['QuotaExceeded', quota]])
    expect(refused('True', 'FailedDelete', 0, one)).toEqual([['DeletionRefused', quota]])
    // As many as there are to be: the condition is taken back later.
    expect(refused('True', 'FailedCreate', 1, one)).toEqual([])
    expect(refused('True', 'FailedDelete', 1, one)).toEqual([])
    expect(refused('True', 'FailedDelete', 0, going)).toEqual([])
    expect(refused('False', 'FailedCreate', 1, one)).toEqual([])
  })
})

describe('of who tells by events alone that its pods are refused', () => {
  const event = (reason: string, minute: number, message = 'exceeded quota: q') => ({
    reason,
    message,
    lastTimestamp: `2026-01-01T00:0${minute}:00Z`,
  })
  it.each<[string, readonly object[], string | undefined]>([
    ['the latest counts', [event('FailedCreate', 1), event('FailedCreate', 2, 'is invalid: it')], 'TemplateInvalid'],
    ['a ReplicaSet may be refused as well', [event('ReplicaSetCreateError', 1)], 'QuotaExceeded'],
    ['nothing counts after a creation', [event('FailedCreate', 1), event('SuccessfulCreate', 2)], undefined],
    ['nothing counts after a scaling', [event('FailedCreate', 1), event('ScalingReplicaSet', 2)], undefined],
    ['it counts after a creation', [event('SuccessfulCreate', 1), event('FailedCreate', 2)], 'QuotaExceeded'],
    [
      'it counts beside a creation of the same time',
      [event('FailedCreate', 1), event('SuccessfulCreate', 1)],
      'QuotaExceeded',
    ],
    ['other events say nothing of it', [event('Killing', 1)], undefined],
    ['one without words is a refusal, too', [{ reason: 'FailedCreate', metadata: {} }], 'CreationRefused'],
  ])('%s', (_, events, reason) => {
    expect(refusedByEvents(examined(set({}), { events }).facts)?.reason).toBe(reason)
  })
})
