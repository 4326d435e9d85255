import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodeCause, encodeCause, type NotedChange, type WriteOrigin } from './cause-note.ts'

const origin: WriteOrigin = {
  context: { user: { name: 'jane', groups: [] }, userAgent: '' },
  verb: 'create',
  subresource: '',
  fieldManager: '',
}
const changes: readonly NotedChange[] = [['create', 'core/pods/default/a', 'u1']]
const text = (note: Uint8Array) => Buffer.from(note).toString()

describe('the note of a transaction', () => {
  it('has nothing that is empty', () => {
    expect(text(encodeCause(1000, origin, changes))).toBe(
      '{"t":1000,"user":"jane","verb":"create","did":[["create","core/pods/default/a","u1"]]}',
    )
  })

  it('is JSON with its members in one order', () => {
    const reconcile = { controller: 'job', object: { apiVersion: 'v1', kind: 'Job', name: 'a' }, seen: [3, 2] }
    const whole: WriteOrigin = {
      context: {
        user: { name: 'a "b"', groups: ['g'] },
        userAgent: 'agent/\\1',
        auditId: 'id',
        claim: { because: 'it\nis ü', reconcile },
      },
      verb: 'update',
      subresource: 'status',
      fieldManager: 'tool',
      admission: ['Priority'],
    }
    const expected = {
      t: 1.5,
      user: 'a "b"',
      agent: 'agent/\\1',
      audit: 'id',
      manager: 'tool',
      verb: 'update',
      sub: 'status',
      admission: ['Priority'],
      because: 'it\nis ü',
      reconcile,
      did: changes,
    }
    for (let time = 0; time < 2; time += 1)
      expect(text(encodeCause(1.5, whole, changes))).toBe(JSON.stringify(expected))
  })

  it('is read as it was written, whatever the texts are', () => {
    const any = fc.string({ unit: 'binary', maxLength: 20 })
    fc.assert(
      fc.property(any, any, any, any, any, (name, userAgent, fieldManager, subresource, because) => {
        const written: WriteOrigin = {
          ...origin,
          context: { user: { name, groups: [] }, userAgent, claim: { because } },
          fieldManager,
          subresource,
        }
        const read = decodeCause(encodeCause(7, written, changes))
        expect(read).toEqual({ timeMs: 7, origin: written, changes })
      }),
    )
  })

  it('keeps of what a client chooses no more than the first 256 characters', () => {
    const long = 'x'.repeat(300)
    const { origin: read } = decodeCause(
      encodeCause(1, { ...origin, fieldManager: long, context: { ...origin.context, userAgent: long } }, changes),
    )
    expect([read.fieldManager, read.context.userAgent]).toEqual(['x'.repeat(256), 'x'.repeat(256)])
  })
})
