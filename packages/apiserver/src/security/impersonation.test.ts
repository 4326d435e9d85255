import { describe, expect, it } from 'vitest'
import { askedUser } from './impersonation.ts'

describe('the headers of an impersonation', () => {
  it.each<[what: string, headers: string[], user: object]>([
    ['a user', ['Impersonate-User', 'eve'], { name: 'eve' }],
    [
      'groups, each in its header',
      ['impersonate-user', 'eve', 'Impersonate-Group', 'a, b', 'IMPERSONATE-GROUP', 'c'],
      { name: 'eve', groups: ['a, b', 'c'] },
    ],
    ['the first of several users', ['Impersonate-User', 'eve', 'Impersonate-User', 'ann'], { name: 'eve' }],
    [
      'a uid and extra fields, of which keys are escaped',
      [
        ...['Impersonate-User', 'eve', 'Impersonate-Uid', '42'],
        ...['Impersonate-Extra-Scopes', 'view', 'Impersonate-Extra-scopes', 'edit'],
        ...['Impersonate-Extra-acme.com%2Fproject', 'x', 'Impersonate-Extra-100%', 'y'],
      ],
      {
        name: 'eve',
        uid: '42',
        extra: new Map([
          ['scopes', ['view', 'edit']],
          ['acme.com/project', ['x']],
          ['100%', ['y']],
        ]),
      },
    ],
  ])('ask for %s', (_, headers, user) => {
    expect(askedUser(['Host', 'a', ...headers, 'If-Match', 'x'])).toEqual({
      groups: [],
      uid: '',
      extra: new Map(),
      ...user,
    })
  })

  it.each([
    ['groups', 'Impersonate-Group', 'system:masters'],
    ['a uid', 'Impersonate-Uid', '42'],
    ['extra fields', 'Impersonate-Extra-Scopes', 'view'],
  ])('are refused where they ask for %s and name no user', (_, ...headers) => {
    expect(() => askedUser(headers)).toThrow(expect.objectContaining({ code: 400 }))
  })

  it('are none without a user', () => {
    expect(askedUser(['Host', 'a', 'If-Match', 'b', 'Impersonate-User', ''])).toBeUndefined()
  })
})
