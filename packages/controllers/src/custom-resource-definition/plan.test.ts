import { type CustomResourceDefinition, customResourceCleanupFinalizer } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { acceptNames } from './naming.ts'
import { type Instances, planCleanup, planDefinition } from './plan.ts'

const nowMs = 1_900_000_000_000

/** A definition that wants these names; `accepted` are those it has already. */
function definition(
  plural: string,
  names: object = {},
  more: {
    readonly group?: string
    readonly accepted?: object
    readonly conditions?: readonly object[]
    readonly metadata?: object
  } = {},
): CustomResourceDefinition {
  const { group = 'example.com', accepted, conditions, metadata } = more
  const kind = plural.toUpperCase()
  const wanted = { plural, singular: plural, kind, listKind: `${kind}List`, ...names }
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}`, ...metadata },
    spec: { group, scope: 'Namespaced', names: wanted, versions: [{ name: 'v1', served: true, storage: true }] },
    status: {
      ...(accepted === undefined ? {} : { acceptedNames: accepted as never }),
      ...(conditions === undefined ? {} : { conditions: conditions as never }),
    },
  }
}

const having = (plural: string, names: object = {}, group?: string) => {
  const { spec } = definition(plural, names)
  return definition(plural, names, { accepted: spec.names, ...(group === undefined ? {} : { group }) })
}

describe('names', () => {
  it.each<[string, object, readonly CustomResourceDefinition[], string, string]>([
    ['are accepted where nobody has them', {}, [], 'NoConflicts', 'no conflicts found'],
    [
      'of another group do not matter',
      { kind: 'Y' },
      [having('y', { kind: 'Y' }, 'other.com')],
      'NoConflicts',
      'no conflicts found',
    ],
    [
      'of which one is the plural of another are not',
      { singular: 'y' },
      [having('y')],
      'SingularConflict',
      '"y" is already in use',
    ],
    [
      'of a kind that another has are not',
      { kind: 'Y' },
      [having('y', { kind: 'Y' })],
      'KindConflict',
      '"Y" is already in use',
    ],
    [
      'of lists that another has are not',
      { listKind: 'L' },
      [having('y', { listKind: 'L' })],
      'ListKindConflict',
      '"L" is already in use',
    ],
    [
      'that are short and taken are all named',
      { shortNames: ['a', 'b', 'c'] },
      [having('y', { shortNames: ['a', 'b'] })],
      'ShortNamesConflict',
      '["a" is already in use, "b" is already in use]',
    ],
  ])('%s', (_, names, others, reason, message) => {
    const wanted = definition('x', names)
    expect(acceptNames(wanted, [wanted, ...others]).condition).toMatchObject({ reason, message })
  })

  it('of built-in kinds are never free', () => {
    const leases = definition('leases', { singular: 'x' }, { group: 'coordination.k8s.io' })
    expect(acceptNames(leases, [leases]).condition).toMatchObject({ status: 'False', reason: 'PluralConflict' })
  })

  it('once accepted stay, and those that are free are accepted beside one that is not', () => {
    const wanted = definition(
      'x',
      { singular: 'y', shortNames: ['s'], categories: ['all'] },
      { accepted: { plural: 'x', singular: 'x', kind: 'X' } },
    )
    const { accepted } = acceptNames(wanted, [wanted, having('y')])
    expect(accepted).toMatchObject({ plural: 'x', singular: 'x', shortNames: ['s'], categories: ['all'] })
  })
})

describe('a definition', () => {
  const reasons = (wanted: CustomResourceDefinition, all = [wanted]) =>
    planDefinition(wanted, all, nowMs).status?.conditions?.map(
      ({ type, status, reason }) => `${type} ${status} ${reason}`,
    )

  it('is established in a second step, when its names are stored', () => {
    expect(reasons(definition('x'))).toEqual(['NamesAccepted True NoConflicts', 'Established False Installing'])
    const conditions = [{ type: 'NamesAccepted', status: 'True' }]
    expect(reasons(definition('x', {}, { conditions }))).toEqual([
      'NamesAccepted True NoConflicts',
      'Established True InitialNamesAccepted',
    ])
  })

  it('is not established while nobody could trust the webhook that converts', () => {
    const accepted = definition('x', {}, { conditions: [{ type: 'NamesAccepted', status: 'True' }] })
    const converting = (caBundle: string): CustomResourceDefinition => {
      const conversion = {
        strategy: 'Webhook',
        webhook: { clientConfig: { caBundle }, conversionReviewVersions: ['v1'] },
      }
      return { ...accepted, spec: { ...accepted.spec, conversion } }
    }
    expect(reasons(converting(btoa('no certificate')))).toContain('Established False InvalidCABundle')
    expect(reasons(converting(''))).toContain('Established True InitialNamesAccepted')
  })

  it('is not established without its names, but stays so once it is', () => {
    const wanted = definition('x', { kind: 'Y' })
    const other = having('y', { kind: 'Y' })
    expect(reasons(wanted, [wanted, other])).toEqual([
      'NamesAccepted False KindConflict',
      'Established False NotAccepted',
    ])
    const conditions = [{ type: 'Established', status: 'True', reason: 'InitialNamesAccepted' }]
    const old = definition('x', { kind: 'Y' }, { conditions })
    expect(reasons(old, [old, other])).toContain('Established True InitialNamesAccepted')
  })

  it('in a group of the community says who approved it', () => {
    const approved = (annotation: string) =>
      reasons(
        definition(
          'x',
          {},
          { group: 'x.k8s.io', metadata: { annotations: { 'api-approved.kubernetes.io': annotation } } },
        ),
      )?.at(-1)
    expect(approved('https://example.com/1')).toBe('KubernetesAPIApprovalPolicyConformant True ApprovedAnnotation')
    expect(approved('unapproved, a test')).toBe('KubernetesAPIApprovalPolicyConformant False UnapprovedAnnotation')
    expect(reasons(definition('x'))).toHaveLength(2)
  })
})

describe('the end of a definition', () => {
  const doomed = definition('x', {}, { metadata: { finalizers: ['a/b', customResourceCleanupFinalizer] } })

  it.each<[string, Instances, string]>([
    ['waits while objects are left', { type: 'remaining', count: 2 }, 'True InstanceDeletionInProgress'],
    ['waits where they cannot be deleted', { type: 'failed', message: 'no' }, 'True InstanceDeletionFailed'],
  ])('%s', (_, instances, condition) => {
    const { actions, status, requeueAfterMs } = planCleanup(doomed, instances, nowMs)
    expect(actions).toEqual([])
    expect(requeueAfterMs).toBeGreaterThan(0)
    expect(status?.conditions?.map(({ status, reason }) => `${status} ${reason}`)).toEqual([condition])
  })

  it.each<[string, Instances, string]>([
    ['comes when none is left', { type: 'remaining', count: 0 }, 'False InstanceDeletionCompleted'],
    ['comes at once where it never began', { type: 'never-established' }, 'False NeverEstablished'],
  ])('%s', (_, instances, condition) => {
    const [action] = planCleanup(doomed, instances, nowMs).actions
    if (action?.type !== 'update') throw new Error('the plan updates nothing')
    const { metadata, status } = action.object as CustomResourceDefinition
    expect(action.subresource).toBe('status')
    expect(metadata.finalizers).toEqual(['a/b'])
    expect(status?.conditions?.map(({ status, reason }) => `${status} ${reason}`)).toEqual([condition])
  })
})
