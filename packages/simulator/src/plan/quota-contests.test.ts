import type { KubernetesObject } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { quotaContestsOf } from './quota-contests.ts'
import type { RecordedChange } from './recording.ts'

const named = (kind: string, name: string, more: object = {}) =>
  ({ kind, metadata: { name, namespace: 'shop', uid: `${kind}-${name}`, ...more } }) as unknown as KubernetesObject

const ownedBy = (kind: string, name: string) => ({
  ownerReferences: [{ kind, name, uid: `${kind}-${name}`, controller: true }],
})
const workloads = [
  named('Deployment', 'web'),
  named('ReplicaSet', 'web-1', ownedBy('Deployment', 'web')),
  named('ReplicaSet', 'web-2', ownedBy('Deployment', 'web')),
  named('Job', 'import'),
]

const added = (object: KubernetesObject): RecordedChange => ({ atMs: 0, old: undefined, object })
const given = (kind: string, name: string, pod: string) => added(named('Pod', pod, ownedBy(kind, name)))
const refused = (kind: string, name: string, message: string) =>
  added({
    ...named('Event', `${name}.1`),
    involvedObject: { kind, namespace: 'shop', name, uid: `${kind}-${name}` },
    reason: 'FailedCreate',
    message,
  } as KubernetesObject)
const by = (...quotas: readonly string[]) =>
  `Error creating: pods "x" is forbidden: ${quotas.map((quota) => `exceeded quota: ${quota}, requested: pods=1, used: pods=2, limited: pods=2`).join(', ')}`

const texts = (underWay: readonly RecordedChange[], changes: readonly RecordedChange[]) =>
  quotaContestsOf(workloads, underWay, changes).map(
    ({ quota, workloads: rivals }) => `${quota.name}: ${rivals.map(({ kind, name }) => `${kind} ${name}`).join(', ')}`,
  )

describe('who gets the room of a quota', () => {
  const both = [refused('ReplicaSet', 'web-1', by('few')), refused('Job', 'import', by('few'))]

  it.each<[string, readonly RecordedChange[], readonly RecordedChange[], string[]]>([
    [
      'is chance where two workloads ask',
      [],
      [...both, given('Job', 'import', 'a')],
      ['few: Deployment web, Job import'],
    ],
    [
      'is chance also where they asked before',
      both,
      [given('Job', 'import', 'a')],
      ['few: Deployment web, Job import'],
    ],
    ['is nothing to win where no one is given anything', [], both, []],
    ['is nothing to win where only others are given something', [], [...both, given('StatefulSet', 'db', 'a')], []],
    ['is certain where one asks', [], [...both.slice(1), given('Job', 'import', 'a')], []],
    [
      'is certain among ReplicaSets of one Deployment',
      [],
      [...both.slice(0, 1), refused('ReplicaSet', 'web-2', by('few')), given('ReplicaSet', 'web-2', 'a')],
      [],
    ],
    [
      'is certain where each asks another quota',
      [],
      [...both.slice(0, 1), refused('Job', 'import', by('other')), given('Job', 'import', 'a')],
      [],
    ],
    [
      'is told of every quota that refuses',
      [],
      [...both, refused('ReplicaSet', 'web-1', by('small', 'few')), given('ReplicaSet', 'web-1', 'a')],
      ['few: Deployment web, Job import'],
    ],
    [
      'has nothing to do with other refusals',
      [],
      [...both.slice(0, 1), refused('Job', 'import', 'Error creating: no'), given('Job', 'import', 'a')],
      [],
    ],
  ])('%s', (_, underWay, changes, expected) => {
    expect(texts(underWay, changes)).toEqual(expected)
  })
})
