import { configMaps, type Namespace, namespaces, pods, replicaSets } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { secondsAgo, startMs } from '../testing/objects.ts'
import { isAwaitingContent } from './awaiting-content.ts'
import type { NamespaceContent } from './content.ts'
import { planNamespace } from './plan.ts'

function namespace(parts: Partial<Namespace> = {}): Namespace {
  return {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: 'team', deletionTimestamp: secondsAgo(5) },
    spec: { finalizers: ['kubernetes', 'example.com/other'] },
    ...parts,
  } as Namespace
}

const empty: NamespaceContent = { remaining: [], errors: [] }

describe('isAwaitingContent', () => {
  it.each<[string, Namespace, boolean]>([
    ['is being deleted and holds its content', namespace(), true],
    ['is not being deleted', namespace({ metadata: { name: 'team' } }), false],
    ['is empty already', namespace({ spec: { finalizers: ['example.com/other'] } }), false],
    ['has no finalizers', namespace({ spec: {} }), false],
    ['has no spec', namespace({ spec: undefined }), false],
  ])('tells a namespace that %s', (_what, object, wanted) => {
    expect(isAwaitingContent(object)).toBe(wanted)
  })
})

describe('planNamespace', () => {
  it('takes its own finalizer off an empty namespace, and no other, once it says that it is empty', () => {
    const { status } = planNamespace(namespace(), empty, startMs)
    expect(planNamespace(namespace({ status }), empty, startMs)).toEqual({
      actions: [
        {
          type: 'update',
          resource: namespaces,
          object: namespace({ status, spec: { finalizers: ['example.com/other'] } }),
          subresource: 'finalize',
          because: 'nothing is left in the namespace',
        },
      ],
    })
    const { actions } = planNamespace(namespace({ spec: undefined }), empty, startMs)
    expect(actions).toMatchObject([{ object: { spec: { finalizers: [] } } }])
  })

  it.each<[string, Partial<Namespace>]>([
    ['by finalizers of its spec', {}],
    [
      'by finalizers of its metadata',
      {
        metadata: { name: 'team', deletionTimestamp: secondsAgo(5), finalizers: ['example.com/wait'] },
        spec: { finalizers: ['kubernetes'] },
      },
    ],
  ])('says that nothing is left in a namespace that is held %s', (_, parts) => {
    const conditions = [{ type: 'NamespaceContentRemaining', status: 'True', reason: 'SomeResourcesRemain' }]
    const held = namespace({ ...parts, status: { phase: 'Terminating', conditions } } as Partial<Namespace>)
    const { actions, status, requeueAfterMs } = planNamespace(held, empty, startMs)
    expect({ actions, requeueAfterMs }).toEqual({ actions: [], requeueAfterMs: 0 })
    expect(status?.conditions?.map((each) => [each.type, each.status])).toEqual([
      ['NamespaceContentRemaining', 'False'],
      ['NamespaceDeletionDiscoveryFailure', 'False'],
      ['NamespaceDeletionGroupVersionParsingFailure', 'False'],
      ['NamespaceDeletionContentFailure', 'False'],
      ['NamespaceFinalizersRemaining', 'False'],
    ])
  })

  it('says no more of an empty namespace that nothing else holds', () => {
    expect(planNamespace(namespace({ spec: { finalizers: ['kubernetes'] } }), empty, startMs)).toMatchObject({
      actions: [{ subresource: 'finalize' }],
    })
  })

  const said = (content: Partial<NamespaceContent>, old: Partial<Namespace> = {}) => {
    const plan = planNamespace(namespace(old), { ...empty, ...content }, startMs)
    expect(plan).toMatchObject({ actions: [], status: { phase: 'Terminating' }, requeueAfterMs: 5000 })
    return plan.status?.conditions?.map(
      ({ type, status, reason, message }) => `${type} ${status} ${reason}: ${message}`,
    )
  }
  const discovered = [
    'NamespaceDeletionDiscoveryFailure False ResourcesDiscovered: All resources successfully discovered',
    'NamespaceDeletionGroupVersionParsingFailure False ParsedGroupVersions: All legacy kube types successfully parsed',
  ]

  it('says what is left, of which kind how many, and what holds it', () => {
    const remaining = [
      { resource: replicaSets, count: 1, finalizers: new Map([['b.com/y', 1]]) },
      {
        resource: pods,
        count: 3,
        finalizers: new Map([
          ['b.com/y', 2],
          ['a.com/x', 1],
        ]),
      },
    ]
    expect(said({ remaining })).toEqual([
      ...discovered,
      'NamespaceDeletionContentFailure False ContentDeleted: All content successfully deleted, may be waiting on finalization',
      'NamespaceContentRemaining True SomeResourcesRemain: Some resources are remaining: pods. has 3 resource instances, replicasets.apps has 1 resource instances',
      'NamespaceFinalizersRemaining True SomeFinalizersRemain: Some content in the namespace has finalizers remaining: a.com/x in 1 resource instances, b.com/y in 3 resource instances',
    ])
  })

  it('says that nothing holds what is left', () => {
    expect(said({ remaining: [{ resource: configMaps, count: 1, finalizers: new Map() }] })?.at(-1)).toBe(
      'NamespaceFinalizersRemaining False ContentHasNoFinalizers: All content-preserving finalizers finished',
    )
  })

  it('says what could not be deleted', () => {
    expect(said({ errors: ['disk on fire', 'out of ink'] })).toEqual([
      ...discovered,
      'NamespaceDeletionContentFailure True ContentDeletionFailed: Failed to delete all resource types, 2 remaining: disk on fire, out of ink',
      'NamespaceContentRemaining False ContentRemoved: All content successfully removed',
      'NamespaceFinalizersRemaining False ContentHasNoFinalizers: All content-preserving finalizers finished',
    ])
  })

  it('keeps since when a condition holds, and conditions of others', () => {
    const conditions = [
      { type: 'NamespaceContentRemaining', status: 'True', reason: 'x', lastTransitionTime: secondsAgo(60) },
      { type: 'Own', status: 'True' },
    ]
    const remaining = [{ resource: pods, count: 1, finalizers: new Map() }]
    const old = { status: { phase: 'Active', conditions } } as Partial<Namespace>
    const { status } = planNamespace(namespace(old), { ...empty, remaining }, startMs)
    const times = new Map(status?.conditions?.map(({ type, lastTransitionTime }) => [type, lastTransitionTime]))
    expect(times.get('NamespaceContentRemaining')).toBe(secondsAgo(60))
    expect(times.get('NamespaceDeletionContentFailure')).toBe(secondsAgo(0))
    expect(times.has('Own')).toBe(true)
  })
})
