import { expect, it } from 'vitest'
import type { AskedUser } from '../runtime.ts'
import { asItsUser, processUser } from './process-user.ts'

const passwd = [
  'root:x:0:0:root:/root:/bin/bash',
  'web:x:1000:100:,,,:/srv/web:/bin/sh',
  'nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin',
].join('\n')
const asked = (more: Partial<AskedUser>): AskedUser => ({
  supplementalGroups: [],
  onlyTheseGroups: false,
  neverRoot: false,
  noNewPrivileges: false,
  ...more,
})

const user = (more: Partial<AskedUser>, canBeOthers = true) => processUser(asked(more), canBeOthers, () => passwd)

it.each<[string, Partial<AskedUser>, ReturnType<typeof processUser>]>([
  [
    'has the group and the home of its account',
    { runAsUser: 1000 },
    { uid: 1000, gid: 100, supplementalGroups: [100], home: '/srv/web', noNewPrivileges: false },
  ],
  [
    'is in nobody’s group where it has no account',
    { runAsUser: 4711 },
    { uid: 4711, gid: 65_534, supplementalGroups: [65_534], home: '/', noNewPrivileges: false },
  ],
  [
    'has the group that the container names, and the pod’s groups',
    { runAsUser: 1000, runAsGroup: 7, supplementalGroups: [9, 33] },
    { uid: 1000, gid: 7, supplementalGroups: [7, 9, 33], home: '/srv/web', noNewPrivileges: false },
  ],
  [
    'is in no others where the pod wants it strict',
    { runAsUser: 1000, supplementalGroups: [9], onlyTheseGroups: true },
    { uid: 1000, gid: 100, supplementalGroups: [100, 9], home: '/srv/web', noNewPrivileges: false },
  ],
  [
    'is nobody where it must not be root and names no user',
    { neverRoot: true },
    { uid: 65_534, gid: 65_534, supplementalGroups: [65_534], home: '/nonexistent', noNewPrivileges: false },
  ],
  [
    'is root in another group',
    { runAsGroup: 7 },
    { uid: 0, gid: 7, supplementalGroups: [7], home: '/root', noNewPrivileges: false },
  ],
  [
    'is root in more groups',
    { supplementalGroups: [9] },
    { uid: 0, gid: 0, supplementalGroups: [0, 9], home: '/root', noNewPrivileges: false },
  ],
  ['is whoever runs the agent as root', { runAsUser: 0 }, undefined],
  ['is whoever runs the agent where nothing is asked', {}, undefined],
])('a container %s', (_, more, expected) => {
  expect(user(more)).toEqual(expected)
})

it('is whoever runs the agent where that is not root', () => {
  expect(user({ runAsUser: 1000, neverRoot: true }, false)).toBeUndefined()
  expect(processUser(undefined, true)).toBeUndefined()
})

it('takes a program of this host, and says which', () => {
  const other = { uid: 7, gid: 8, supplementalGroups: [8], home: '/', noNewPrivileges: false }
  const command = { argv: ['/bin/true'], env: {}, directory: '/', user: other }
  expect(() => asItsUser(command, ['/nowhere/setpriv'])).toThrow(
    'failed to start container: to run as user 7 takes the program "setpriv" of util-linux on this host: install util-linux',
  )
})
