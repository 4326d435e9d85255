import { describe, expect, it } from 'vitest'
import { columnNames, decoded, problemsOfCreate, problemsOfUpdate, row } from '../../../test/requests.ts'
import { clusterRoles, roles } from './role.ts'
import { clusterRoleBindings, roleBindings } from './role-binding.ts'

describe('a role', () => {
  const reading = { verbs: ['get'], apiGroups: [''], resources: ['pods'] }
  const url = { verbs: ['get'], nonResourceURLs: ['/metrics'] }

  it('says what may be done with what', () => {
    expect(problemsOfCreate(roles, { rules: [reading] })).toEqual([])
    expect(problemsOfCreate(roles, { rules: [{}] })).toEqual([
      'rules[0].verbs: Required value: verbs must contain at least one value',
      'rules[0].apiGroups: Required value: resource rules must supply at least one api group',
      'rules[0].resources: Required value: resource rules must supply at least one resource',
    ])
  })

  it('is about paths outside of the API in the whole cluster only, and about nothing else then', () => {
    expect(problemsOfCreate(clusterRoles, { rules: [url] })).toEqual([])
    expect(problemsOfCreate(roles, { rules: [url] })).toEqual([
      'rules[0].nonResourceURLs: Invalid value: ["/metrics"]: namespaced rules cannot apply to non-resource URLs',
    ])
    expect(problemsOfCreate(clusterRoles, { rules: [{ ...url, ...reading }] })).toEqual([
      'rules[0].nonResourceURLs: Invalid value: ["/metrics"]: rules cannot apply to both regular resources and non-resource URLs',
    ])
  })

  it('is put together from some, not from none', () => {
    expect(problemsOfCreate(clusterRoles, { aggregationRule: {} })).toEqual([
      'aggregationRule.clusterRoleSelectors: Required value: at least one clusterRoleSelector required if aggregationRule is non-nil',
    ])
  })

  it('says of a selector what is wrong in it, and that it is none', () => {
    const aggregationRule = { clusterRoleSelectors: [{ matchExpressions: [{ key: 'a', operator: 'Like' }] }] }
    expect(problemsOfCreate(clusterRoles, { aggregationRule })).toEqual([
      'aggregationRule.clusterRoleSelectors[0].matchExpressions[0].operator: Invalid value: "Like": not a valid selector operator',
      'aggregationRule.clusterRoleSelectors[0]: Invalid value: null: invalid label selector.',
    ])
  })

  it('may be called as it likes', () => {
    expect(roles.nameFormat).toBe('path-segment')
    expect(columnNames(clusterRoles)).toEqual({ shown: ['Name', 'Created At'], wide: [] })
  })
})

describe('a binding', () => {
  const roleRef = { kind: 'ClusterRole', name: 'view' }
  const bound = (...subjects: readonly object[]) => ({ roleRef, subjects })

  it('fills in the groups of users and of the role', () => {
    const { roleRef: role, subjects } = decoded(
      roleBindings,
      bound(
        { kind: 'User', name: 'eve' },
        { kind: 'Group', name: 'all', apiGroup: '' },
        { kind: 'ServiceAccount', name: 'a' },
      ),
    )
    expect(role.apiGroup).toBe('rbac.authorization.k8s.io')
    expect(subjects).toEqual([
      { kind: 'User', name: 'eve', apiGroup: 'rbac.authorization.k8s.io' },
      { kind: 'Group', name: 'all', apiGroup: 'rbac.authorization.k8s.io' },
      { kind: 'ServiceAccount', name: 'a' },
    ])
  })

  it.each<readonly [string, object, readonly string[]]>([
    ['somebody', bound({ kind: 'Group', name: 'all' }, { kind: 'ServiceAccount', name: 'a', namespace: 'n' }), []],
    [
      'nothing',
      {},
      ['roleRef.kind: Unsupported value: "": supported values: "ClusterRole"', 'roleRef.name: Required value'],
    ],
    [
      'a role of one namespace',
      { roleRef: { ...roleRef, kind: 'Role' } },
      ['roleRef.kind: Unsupported value: "Role": supported values: "ClusterRole"'],
    ],
    [
      'another group',
      { roleRef: { ...roleRef, apiGroup: 'apps' } },
      ['roleRef.apiGroup: Unsupported value: "apps": supported values: "rbac.authorization.k8s.io"'],
    ],
    [
      'an account of no namespace',
      bound({ kind: 'ServiceAccount', name: 'a' }),
      ['subjects[0].namespace: Required value'],
    ],
    [
      'somebody of another kind',
      bound({ kind: 'Robot', name: 'r' }, { kind: 'User', name: 'u', apiGroup: 'apps' }),
      [
        'subjects[0].kind: Unsupported value: "Robot": supported values: "ServiceAccount", "User", "Group"',
        'subjects[1].apiGroup: Unsupported value: "apps": supported values: "rbac.authorization.k8s.io"',
      ],
    ],
  ])('in the whole cluster judges %s', (_, draft, problems) => {
    expect(problemsOfCreate(clusterRoleBindings, { ...draft })).toEqual(problems)
  })

  it('gives the same role for good', () => {
    expect(problemsOfUpdate(roleBindings, { roleRef }, { roleRef: { ...roleRef, name: 'edit' } })).toEqual([
      'roleRef: Invalid value: {"APIGroup":"rbac.authorization.k8s.io","Kind":"ClusterRole","Name":"edit"}: cannot change roleRef',
    ])
  })

  it('is shown with who gets it', () => {
    const draft = bound(
      { kind: 'User', name: 'a' },
      { kind: 'User', name: 'b' },
      { kind: 'ServiceAccount', name: 's', namespace: 'n' },
    )
    expect(row(roleBindings, draft, 0)).toMatchObject({
      Role: 'ClusterRole/view',
      Users: 'a, b',
      Groups: '',
      ServiceAccounts: 'n/s',
    })
  })
})
