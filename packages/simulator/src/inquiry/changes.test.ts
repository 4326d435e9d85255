import type { Change, Explanation } from '@coracle/why'
import { describe, expect, it } from 'vitest'
import { falseChanges, type Writers } from './changes.ts'
import type { LoggedChange, WriteLog } from './write-log.ts'

const place = { group: 'apps', resource: 'replicasets', namespace: 'default', name: 'web' }
const path = 'apps/replicasets/default/web'
const reconciled = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', uid: 'd' }
const controller = {
  type: 'controller',
  name: 'deployment-controller',
  user: 'system:serviceaccount:kube-system:d',
} as const

const created: Change = {
  revision: 7,
  time: '2026-01-01T00:00:00Z',
  who: controller,
  request: { verb: 'create' },
  objects: [{ operation: 'create', ...place, uid: 'r' }],
  because: 'there is none',
  reconciled,
  from: [5],
}
const asked: Change = {
  revision: 5,
  time: '2026-01-01T00:00:00Z',
  who: { type: 'user', name: 'kubernetes-admin', user: 'kubernetes-admin' },
  request: { verb: 'create' },
  objects: [
    { operation: 'create', group: 'apps', resource: 'deployments', namespace: 'default', name: 'web', uid: 'd' },
  ],
  from: [],
  end: 'request',
}

const written = new Map<number, readonly LoggedChange[]>([
  [7, [{ operation: 'create', path, uid: 'r' }]],
  [6, [{ operation: 'update', path: 'core/pods/default/web-1', uid: 'p' }]],
  [5, [{ operation: 'create', path: 'apps/deployments/default/web', uid: 'd' }]],
])
const owners: Readonly<Record<string, readonly string[]>> = { r: ['d'], p: ['former'] }
const paths: Readonly<Record<string, string>> = { r: path, former: path, d: 'apps/deployments/default/web' }
const log = {
  at: (revision) => written.get(revision) ?? [],
  latestOf: (uid) => (uid === 'r' ? 7 : 5),
  knows: (uid) => uid === 'r' || uid === 'd',
  ownersOf: (uid) => new Set(owners[uid] ?? []),
  pathOf: (uid) => paths[uid],
} as Pick<WriteLog, 'at' | 'latestOf' | 'knows' | 'ownersOf' | 'pathOf'> as WriteLog

const writers = (answered: string, uncertain?: string): Writers => ({
  writersOf: (revision) => new Set([revision === 5 ? 'player' : answered]),
  isUncertain: (component) => component === uncertain,
})

const problems = (changes: readonly Change[], given = writers('deployment-controller')) =>
  falseChanges(
    {
      apiVersion: 'coracle.dev/v1',
      kind: 'Explanation',
      object: { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: 'r' },
      verdict: 'fine',
      findings: [],
      changes,
    } satisfies Explanation,
    log,
    given,
  )

describe('what is told of changes', () => {
  it('is true where it is what was written, by whom, and after what', () => {
    expect(problems([created, asked])).toEqual([])
  })

  it.each<[what: string, changes: readonly Change[], problem: RegExp]>([
    [
      'another object',
      [{ ...created, objects: asked.objects }, asked],
      /^revision 7: told is create apps\/deployments/,
    ],
    [
      'a change where nothing was written',
      [created, { ...asked, revision: 4 }],
      /^revision 4: told is .*; written was nothing/,
    ],
    [
      'another author',
      [{ ...created, who: { ...controller, name: 'job-controller' } }, asked],
      /^revision 7: job-controller .* deployment-controller wrote/,
    ],
    ['what came later', [{ ...created, from: [9] }, asked], /^revision 7: follows from 9, which came later/],
    [
      'what is none of its business',
      [
        { ...created, who: { ...controller, name: 'replicaset-controller' }, reconciled: { ...reconciled, uid: 'r' } },
        asked,
      ],
      /^revision 7: follows from 5, at which apps\/deployments\/default\/web changed/,
    ],
    [
      'a request by a controller',
      [{ ...created, from: [], end: 'request' }, asked],
      /^revision 7: ends with request, by a controller/,
    ],
    [
      'what never was',
      [{ ...created, reconciled: { ...reconciled, uid: 'x' } }, asked],
      /^revision 7: Deployment web was reconciled/,
    ],
    ['all but the latest', [asked], /^it was last changed at revision 7, which is left out/],
    ['the oldest first', [asked, created], /^it is not told newest first/],
  ])('is false where it names %s', (_what, changes, problem) => {
    expect(problems(changes)).toContainEqual(expect.stringMatching(problem))
  })

  it('is true of a pod whose owner had the name before', () => {
    const byName = { ...created, who: { ...controller, name: 'replicaset-controller' }, from: [6] }
    const ofSet = { ...byName, reconciled: { ...reconciled, kind: 'ReplicaSet', uid: 'r' } }
    expect(problems([ofSet], writers('replicaset-controller'))).toEqual([])
    const ofAnother = { ...byName, reconciled }
    expect(problems([ofAnother], writers('replicaset-controller'))).toEqual([
      'revision 7: follows from 6, at which core/pods/default/web-1 changed',
    ])
  })

  it('may be right where its author never got the answer', () => {
    expect(problems([created, asked], writers('scheduler', 'deployment-controller'))).toEqual([])
  })
})
