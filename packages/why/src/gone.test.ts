import type { Cause, CausedChange, Event } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { goneFindings, neverThere } from './gone.ts'

const reference = { apiVersion: 'v1', kind: 'Pod', namespace: 'default', name: 'web-0', uid: 'u' }
const cause = (revision: number, operation: CausedChange['operation'], parts: Partial<Cause>): Cause => ({
  apiVersion: 'coracle.dev/v1',
  kind: 'Cause',
  metadata: { name: String(revision), creationTimestamp: `2026-01-01T00:00:0${revision}Z` },
  revision,
  changes: [{ operation, group: '', resource: 'pods', name: 'web-0', uid: 'u' }],
  user: 'jane',
  request: { verb: 'delete' },
  ...parts,
})
const kubelet = {
  user: 'system:node:n1',
  because: 'its containers have ended',
  reconcile: { controller: 'kubelet', object: reference, seen: [3] },
}

describe('what is gone', () => {
  it('was deleted by somebody, and removed when it had ended', () => {
    const causes = [
      cause(5, 'delete', kubelet),
      cause(3, 'update', {}),
      cause(1, 'create', { request: { verb: 'create' } }),
    ]
    expect(goneFindings(reference, causes)[0]?.because).toBe(
      'jane deleted it at 2026-01-01T00:00:03Z; kubelet removed it at 2026-01-01T00:00:05Z, when it had ended',
    )
  })

  it('was deleted by a controller, for a reason', () => {
    const because = '2 replicas exist and 1 are wanted'
    const set = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web' }
    const scaled = cause(3, 'delete', {
      because,
      reconcile: { controller: 'replicaset-controller', object: set, seen: [] },
    })
    expect(goneFindings(reference, [scaled])[0]?.because).toBe(
      `replicaset-controller deleted it at 2026-01-01T00:00:03Z: replicaset/web: ${because}`,
    )
  })

  it('is nothing to be told of where the record does not have the deletion', () => {
    expect(goneFindings(reference, [cause(1, 'create', { request: { verb: 'create' } })])).toEqual([])
  })
})

describe('what never was', () => {
  const refused = (message: string) =>
    ({ metadata: {}, involvedObject: { kind: 'StatefulSet', name: 'web' }, message }) as Event

  it('was refused, where an event names it', () => {
    const told = refused(
      'Create Pod web-0 in StatefulSet web failed error: pods "web-0" is forbidden: exceeded quota: q',
    )
    expect(neverThere(reference, [told])).toMatchObject([
      { reason: 'QuotaExceeded', because: `statefulset/web: ${told.message}` },
    ])
  })

  it('is not another whose name begins alike', () => {
    expect(neverThere(reference, [refused('Create Pod web-01 failed: exceeded quota: q')])).toEqual([])
  })
})
