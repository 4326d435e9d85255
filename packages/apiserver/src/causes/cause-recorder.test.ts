import { VirtualClock } from '@coracle/environment'
import { expect, it } from 'vitest'
import { decodeCause, type WriteOrigin } from './cause-note.ts'
import { CauseRecorder, lazyChangesMax, type RecordedChange } from './cause-recorder.ts'

const origin: WriteOrigin = {
  context: { user: { name: 'jane', groups: [] }, userAgent: 'kubectl', claim: { because: 'it is time' } },
  verb: 'update',
  subresource: '',
  fieldManager: '',
}
const change: RecordedChange = { operation: 'update', prefix: '/registry/core/pods/', key: 'default/a', uid: 'u' }

it('a note that a store keeps as it comes is made when it is read, and tells of when it was written', async () => {
  const clock = new VirtualClock()
  const recorder = new CauseRecorder(clock)
  const [eager, lazy] = [recorder.noteOf(origin, [change], false), recorder.noteOf(origin, [change], true)]
  await clock.advance('1h')
  if (lazy === undefined || lazy instanceof Uint8Array) throw new Error('it is made at once')
  expect(lazy.bytes).toEqual(eager)
  expect(lazy.bytes).toBe(lazy.bytes)
  expect(decodeCause(lazy.bytes)).toMatchObject({ changes: [['update', 'core/pods/default/a', 'u']] })
})

it('a note of many changes is made at once, for the store to see how long it is', () => {
  const changes = Array.from({ length: lazyChangesMax + 1 }, () => change)
  expect(new CauseRecorder(new VirtualClock()).noteOf(origin, changes, true)).toBeInstanceOf(Uint8Array)
})

it('what goes on as before has no note', () => {
  const lease = { ...change, prefix: '/registry/coordination.k8s.io/leases/' }
  expect(new CauseRecorder(new VirtualClock()).noteOf(origin, [lease], true)).toBeUndefined()
})
