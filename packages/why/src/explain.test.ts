import type { Cause, KubernetesObject } from '@coracle/api'
import { configMaps, notFound } from '@coracle/api'
import { virtualEnvironment } from '@coracle/environment'
import { describe, expect, it } from 'vitest'
import { explain, follow, type WhySource } from './explain.ts'

const subject = { resource: configMaps, namespace: 'default', name: 'a' }

const causeOf = (revision: number, parts: Partial<Cause> = {}): Cause => ({
  apiVersion: 'coracle.dev/v1',
  kind: 'Cause',
  metadata: { name: String(revision), creationTimestamp: '2026-01-01T00:00:00Z' },
  revision,
  changes: [{ operation: 'update', group: '', resource: 'configmaps', namespace: 'default', name: 'a', uid: 'u' }],
  user: 'jane',
  request: { verb: 'update', fieldManager: 'kubectl-edit' },
  ...parts,
})

/** A server with one ConfigMap and its record, both of which a test may change. */
function server() {
  const { clock } = virtualEnvironment()
  const state: { object: KubernetesObject | undefined; causes: Cause[] } = {
    object: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'default', name: 'a', uid: 'u' } },
    causes: [causeOf(3)],
  }
  const source: WhySource = {
    clock,
    client: {
      get: async (resource, { name }) => {
        if (state.object === undefined) throw notFound(resource, name)
        return state.object as never
      },
      list: async () => ({ apiVersion: 'v1', kind: 'List', metadata: {}, items: [] }),
    },
    causes: {
      causes: async ({ revisions, after = 0, uid = 'u' }) => ({
        causes: state.causes.filter(
          ({ revision, changes }) => revisions?.includes(revision) ?? (revision > after && changes[0]?.uid === uid),
        ),
      }),
    },
  }
  return { source, state, clock }
}

describe('an explanation', () => {
  it('names who changed what, when, with what, and why', async () => {
    const { source, state } = server()
    const deployment = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' }
    const reconcile = { controller: 'settings', object: deployment, seen: [3] }
    state.causes = [causeOf(7, { because: 'it was old', reconcile, user: 'robot', claimed: true }), causeOf(3)]
    const explanation = await explain(source, subject)
    expect(explanation).toMatchObject({
      apiVersion: 'coracle.dev/v1',
      kind: 'Explanation',
      object: { kind: 'ConfigMap', namespace: 'default', name: 'a', uid: 'u' },
      verdict: 'fine',
      findings: [],
    })
    expect(explanation.changes).toEqual([
      {
        revision: 7,
        time: '2026-01-01T00:00:00Z',
        who: { type: 'controller', name: 'settings', user: 'robot', manager: 'kubectl-edit', claimed: true },
        request: { verb: 'update' },
        objects: causeOf(7).changes,
        because: 'it was old',
        reconciled: deployment,
        from: [3],
      },
      {
        revision: 3,
        time: '2026-01-01T00:00:00Z',
        who: { type: 'user', name: 'jane', user: 'jane', manager: 'kubectl-edit' },
        request: { verb: 'update' },
        objects: causeOf(3).changes,
        from: [],
        end: 'request',
      },
    ])
  })

  it('leads back to whoever wanted the object, however often it has changed since', async () => {
    const { source, state } = server()
    const created = {
      request: { verb: 'create' },
      changes: causeOf(3).changes.map((change) => ({ ...change, operation: 'create' as const })),
    } as const
    const set = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web' }
    const scaled = causeOf(2, {
      changes: [{ operation: 'update', group: 'apps', resource: 'replicasets', name: 'web', uid: 's' }],
    })
    const changes = Array.from({ length: 40 }, (_, index) => causeOf(44 - index))
    const creation = causeOf(3, { ...created, reconcile: { controller: 'sets', object: set, seen: [2] } })
    state.causes = [...changes, creation, scaled]
    const revisions = (await explain(source, subject, { changes: 5 })).changes?.map(({ revision }) => revision)
    expect(revisions).toEqual([44, 43, 42, 41, 40, 3, 2])
  })

  it('has no changes where the server keeps no record', async () => {
    const { source } = server()
    expect(await explain({ ...source, causes: { causes: async () => undefined } }, subject)).not.toHaveProperty(
      'changes',
    )
  })

  it('is refused of what never was', async () => {
    const { source, state } = server()
    state.object = undefined
    state.causes = []
    await expect(explain(source, subject)).rejects.toThrow('configmaps "a" not found')
  })
})

describe('following an explanation', () => {
  it('tells what is new, and nothing where nothing is', async () => {
    const { source, state, clock } = server()
    const stopping = new AbortController()
    const told: { readonly verdict: string; readonly revisions: readonly number[] | undefined }[] = []
    const reading = (async () => {
      for await (const { verdict, changes } of follow(source, subject, { intervalMs: 1000, signal: stopping.signal }))
        told.push({ verdict, revisions: changes?.map(({ revision }) => revision) })
    })()
    await clock.advance(5000)
    state.causes = [causeOf(5), ...state.causes]
    await clock.advance(5000)
    const going = { deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['a.io/b'] }
    state.object = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { namespace: 'default', name: 'a', uid: 'u', ...going },
    }
    await clock.advance(5000)
    state.object = undefined
    state.causes = [
      causeOf(8, { changes: causeOf(8).changes.map((change) => ({ ...change, operation: 'delete' })) }),
      ...state.causes,
    ]
    await clock.advance(5000)
    stopping.abort()
    await clock.advance(5000)
    await reading
    expect(told).toEqual([
      { verdict: 'fine', revisions: [3] },
      { verdict: 'fine', revisions: [5] },
      { verdict: 'stuck', revisions: [] },
      { verdict: 'gone', revisions: [8] },
    ])
  })
})
