import { expect, it } from 'vitest'
import type { ServerRecord } from '../local/server-record.ts'
import { changesOfUse } from './former-use.ts'

const now: ServerRecord = {
  version: '0.10.0',
  pid: 1,
  url: 'https://127.0.0.1:6443',
  startedAt: '2026-11-22T07:00:00Z',
  store: 'disk',
  runtime: 'process',
  isDetached: false,
}

it.each([
  ['nothing of a first start', undefined, []],
  ['nothing where all is the same', now, []],
  ['nothing of an older version', { ...now, version: '0.9.9' }, []],
  [
    'that objects were kept elsewhere',
    { ...now, store: 'etcd' as const },
    ['objects were kept in an etcd the last time, and are kept on disk now'],
  ],
  [
    'that a newer version was there',
    { ...now, version: '0.11.0' },
    ['was last used by version 0.11.0, which is newer than this one, 0.10.0'],
  ],
])('tells %s', (_, former, notes) => {
  expect(changesOfUse(former, now)).toEqual(notes)
})
