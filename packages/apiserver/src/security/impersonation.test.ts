import { describe, expect, it } from 'vitest'
import { impersonatedUser } from './impersonation.ts'

const needs = (headers: readonly string[]) =>
  impersonatedUser(headers)?.needed.map((attributes) => {
    if (attributes.kind !== 'resource') throw new Error('not about a resource')
    const { verb, resource, subresource, namespace, name } = attributes
    return [verb, resource.group, [resource.plural, subresource].filter(Boolean).join('/'), namespace, name].join(' ')
  })

describe('impersonation', () => {
  it.each<[what: string, headers: string[], user: object]>([
    ['a user', ['Impersonate-User', 'eve'], { name: 'eve', groups: ['system:authenticated'] }],
    [
      'groups, each in its header',
      ['impersonate-user', 'eve', 'Impersonate-Group', 'a, b', 'IMPERSONATE-GROUP', 'c'],
      { name: 'eve', groups: ['a, b', 'c', 'system:authenticated'] },
    ],
    [
      'someone not authenticated',
      ['Impersonate-User', 'eve', 'Impersonate-Group', 'system:unauthenticated'],
      { name: 'eve', groups: ['system:unauthenticated'] },
    ],
    [
      'nobody in particular',
      ['Impersonate-User', 'system:anonymous', 'Impersonate-Group', 'a'],
      { name: 'system:anonymous', groups: ['a', 'system:unauthenticated'] },
    ],
    [
      'a service account, whose groups are known',
      ['Impersonate-User', 'system:serviceaccount:team:bot'],
      {
        name: 'system:serviceaccount:team:bot',
        groups: ['system:serviceaccounts', 'system:serviceaccounts:team', 'system:authenticated'],
      },
    ],
    [
      'a uid and extra fields, of which keys are escaped',
      [
        ...['Impersonate-User', 'eve', 'Impersonate-Uid', '42'],
        ...['Impersonate-Extra-Scopes', 'view', 'Impersonate-Extra-scopes', 'edit'],
        ...['Impersonate-Extra-acme.com%2Fproject', 'x', 'Impersonate-Extra-100%', 'y'],
      ],
      {
        name: 'eve',
        groups: ['system:authenticated'],
        uid: '42',
        extra: { scopes: ['view', 'edit'], 'acme.com/project': ['x'], '100%': ['y'] },
      },
    ],
  ])('makes of the headers %s', (_, headers, user) => {
    expect(impersonatedUser(['Host', 'a', ...headers, 'If-Match', 'x'])?.user).toEqual(user)
  })

  it('needs a right for each thing it asks for', () => {
    expect(
      needs([
        ...['Impersonate-User', 'eve', 'Impersonate-Group', 'a', 'Impersonate-Uid', '42'],
        ...['Impersonate-Extra-Scopes', 'view', 'Impersonate-Extra-Scopes', 'edit'],
      ]),
    ).toEqual([
      'impersonate  users  eve',
      'impersonate  groups  a',
      'impersonate authentication.k8s.io userextras/scopes  view',
      'impersonate authentication.k8s.io userextras/scopes  edit',
      'impersonate authentication.k8s.io uids  42',
    ])
    expect(needs(['Impersonate-User', 'system:serviceaccount:team:bot'])).toEqual([
      'impersonate  serviceaccounts team bot',
    ])
  })

  it.each([
    ['groups', 'Impersonate-Group', 'system:masters'],
    ['a uid', 'Impersonate-Uid', '42'],
    ['extra fields', 'Impersonate-Extra-Scopes', 'view'],
  ])('is refused where it asks for %s and names no user', (_, ...headers) => {
    expect(() => impersonatedUser(headers)).toThrow(expect.objectContaining({ code: 400 }))
  })

  it('is nothing without such headers', () => {
    expect(impersonatedUser(['Host', 'a', 'If-Match', 'b', 'Impersonate-User', ''])).toBeUndefined()
  })
})
