import { describe, expect, it } from 'vitest'
import type { Pod } from '../kinds/core/pod/pod-schema.ts'
import type { ScopedResourceSelectorRequirement } from '../kinds/core/resource-quota/schema.ts'
import type { KubernetesObject } from '../meta.ts'
import { isInScope } from './scopes.ts'

const pods = { group: '', plural: 'pods' }
const claims = { group: '', plural: 'persistentvolumeclaims' }
const ofClass1: ScopedResourceSelectorRequirement = { scopeName: 'PriorityClass', operator: 'In', values: ['class1'] }
const scopes: readonly ScopedResourceSelectorRequirement[] = [
  ...['Terminating', 'NotTerminating', 'BestEffort', 'NotBestEffort', 'CrossNamespacePodAffinity'].map(
    (scopeName) => ({ scopeName, operator: 'Exists' }) as ScopedResourceSelectorRequirement,
  ),
  ofClass1,
]

const podOf = (spec: Partial<Pod['spec']>) =>
  ({ metadata: {}, spec: { containers: [], ...spec } }) as unknown as KubernetesObject
const isIn = (requirement: ScopedResourceSelectorRequirement, kind: typeof pods, object: KubernetesObject): boolean =>
  isInScope({ scopeSelector: { matchExpressions: [requirement] } }, kind, object)

const term = { topologyKey: 'zone', labelSelector: {} }
const preferring = (of: object) => [{ weight: 1, podAffinityTerm: { ...term, ...of } }]

describe('a pod', () => {
  it.each<readonly [string, object, readonly string[]]>([
    ['that says nothing', {}, ['NotTerminating', 'BestEffort']],
    ['of a priority class', { priorityClassName: 'class1' }, ['NotTerminating', 'BestEffort', 'PriorityClass']],
    ['of another', { priorityClassName: 'class2' }, ['NotTerminating', 'BestEffort']],
    [
      'that asks for resources',
      { containers: [{ name: 'a', resources: { requests: { cpu: '1' }, limits: { cpu: '2' } } }] },
      ['NotTerminating', 'NotBestEffort'],
    ],
    ['that ends in time', { activeDeadlineSeconds: 30 }, ['Terminating', 'BestEffort']],
    ['that has no time', { activeDeadlineSeconds: 0 }, ['Terminating', 'BestEffort']],
  ])('%s is in these scopes', (_, spec, wanted) => {
    const names = scopes.filter((scope) => isIn(scope, pods, podOf(spec))).map(({ scopeName }) => scopeName)
    expect(names).toEqual(wanted)
  })

  it.each<readonly [string, object, boolean]>([
    [
      'near pods of its own namespace',
      { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } },
      false,
    ],
    [
      'near pods of namespaces that it names',
      { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ ...term, namespaces: ['a'] }] } },
      true,
    ],
    [
      'near pods of namespaces that it selects',
      { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ ...term, namespaceSelector: {} }] } },
      true,
    ],
    [
      'rather near pods of namespaces that it names',
      { podAffinity: { preferredDuringSchedulingIgnoredDuringExecution: preferring({ namespaces: ['a'] }) } },
      true,
    ],
    [
      'away from pods of namespaces that it names',
      { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ ...term, namespaces: ['a'] }] } },
      true,
    ],
    [
      'rather away from pods of namespaces that it selects',
      { podAntiAffinity: { preferredDuringSchedulingIgnoredDuringExecution: preferring({ namespaceSelector: {} }) } },
      true,
    ],
  ])('that wants to be %s: looks across namespaces %#', (_, affinity, wanted) => {
    const scope = { scopeName: 'CrossNamespacePodAffinity', operator: 'Exists' } as const
    expect(isIn(scope, pods, podOf({ affinity } as Partial<Pod['spec']>))).toBe(wanted)
  })

  it.each([
    ['In', ['class1'], [true, false, false]],
    ['NotIn', ['class1'], [false, true, true]],
    ['Exists', [], [true, true, false]],
    ['DoesNotExist', [], [false, false, true]],
  ] as const)('of class1, class2 and none: %s %j', (operator, values, wanted) => {
    const classes = [{ priorityClassName: 'class1' }, { priorityClassName: 'class2' }, {}]
    const scope = { scopeName: 'PriorityClass', operator, values: [...values] } as const
    expect(classes.map((spec) => isIn(scope, pods, podOf(spec)))).toEqual(wanted)
  })

  it('is in all scopes of a quota, or not counted', () => {
    const spec = { scopes: ['NotTerminating', 'BestEffort'], scopeSelector: { matchExpressions: [ofClass1] } } as const
    expect(isInScope(spec, pods, podOf({ priorityClassName: 'class1' }))).toBe(true)
    expect(isInScope(spec, pods, podOf({ priorityClassName: 'class1', activeDeadlineSeconds: 1 }))).toBe(false)
    expect(isInScope(spec, pods, podOf({}))).toBe(false)
  })
})

describe('a claim', () => {
  const gold = { scopeName: 'VolumeAttributesClass', operator: 'In', values: ['gold'] } as const
  const claimOf = (spec: object, status: object = {}) => ({ metadata: {}, spec, status }) as unknown as KubernetesObject

  it.each<readonly [string, KubernetesObject, boolean]>([
    ['that asks for the class', claimOf({ volumeAttributesClassName: 'gold' }), true],
    ['that has it', claimOf({ volumeAttributesClassName: 'iron' }, { currentVolumeAttributesClassName: 'gold' }), true],
    ['that is to get it', claimOf({}, { modifyVolumeStatus: { targetVolumeAttributesClassName: 'gold' } }), true],
    ['of another', claimOf({ volumeAttributesClassName: 'iron' }), false],
    ['of none', claimOf({}), false],
  ])('%s', (_, claim, wanted) => {
    expect(isIn(gold, claims, claim)).toBe(wanted)
  })

  it('is in no scope of pods', () => {
    for (const scope of scopes) expect(isIn(scope, claims, claimOf({}))).toBe(false)
  })
})
