import { ApiError, type KubernetesObject, type ReplicationController, replicationControllers } from '@coracle/api'
import { createFakeClient } from '@coracle/client/testing'
import { virtualEnvironment } from '@coracle/environment'
import { describe, expect, it } from 'vitest'
import { applyObject, applyPatch, lastAppliedAnnotation, withLastApplied } from './apply-object.ts'

const widgets = { group: 'example.test', version: 'v1', kind: 'Widget', plural: 'widgets', namespaced: true }

interface Widget extends KubernetesObject {
  readonly spec: Readonly<Record<string, unknown>>
}

const widget = (spec: Widget['spec']): Widget => ({
  apiVersion: 'example.test/v1',
  kind: 'Widget',
  metadata: { name: 'w', namespace: 'default' },
  spec,
})

/** What a client offers, to put something else in the place of some of it. */
const withMethods = <T extends object>(client: T): T =>
  new Proxy({} as T, {
    ownKeys: () => ['get', 'create'],
    getOwnPropertyDescriptor: () => ({ configurable: true, enumerable: true }),
    get: (_, name) => {
      const value = Reflect.get(client, name) as unknown
      return typeof value === 'function' ? value.bind(client) : value
    },
  })

describe('applyObject', () => {
  it('creates what is not there, then leaves it, then changes what differs', async () => {
    const client = createFakeClient(virtualEnvironment())
    const apply = async (spec: Widget['spec']) => (await applyObject(client, widgets, widget(spec))).outcome
    expect(await apply({ size: 1, colour: 'red' })).toBe('created')
    expect(await apply({ size: 1, colour: 'red' })).toBe('unchanged')
    expect(await apply({ size: 2, colour: 'red' })).toBe('configured')
    expect(client.stored<Widget>(widgets)[0]?.spec).toEqual({ size: 2, colour: 'red' })
  })

  it('takes away what was applied before, and keeps what others have set', async () => {
    const client = createFakeClient(virtualEnvironment())
    const { object } = await applyObject(client, widgets, widget({ size: 1, colour: 'red' }))
    await client.update(widgets, { ...(object as Widget), spec: { size: 1, colour: 'red', weight: 7 } })
    await applyObject(client, widgets, widget({ size: 1 }))
    expect(client.stored<Widget>(widgets)[0]?.spec).toEqual({ size: 1, weight: 7 })
  })

  it('tries again where somebody else was first, and gives up in the end', async () => {
    const client = createFakeClient(virtualEnvironment())
    await applyObject(client, widgets, widget({ size: 1 }))
    for (const conflicts of [5, 6]) {
      let left = conflicts
      const pauses: number[] = []
      const contended = {
        ...withMethods(client),
        patch: ((...args: Parameters<typeof client.patch>) =>
          left-- > 0
            ? Promise.reject(new ApiError(409, 'Conflict', 'changed meanwhile'))
            : client.patch(...args)) as typeof client.patch,
      } as typeof client
      const pause = async (ms: number) => void pauses.push(ms)
      const applied = applyObject(contended, widgets, widget({ size: conflicts }), { source: 'w.yaml', pause })
      if (conflicts === 5) expect((await applied).outcome).toBe('configured')
      else await expect(applied).rejects.toThrow('changed meanwhile')
      expect(pauses).toEqual([1000, 1000, 1000, 1000])
    }
    expect(client.stored<Widget>(widgets)[0]?.spec).toEqual({ size: 5 })
  })

  it('tells of an object that was never applied', async () => {
    const client = createFakeClient(virtualEnvironment())
    await client.create(widgets, widget({ size: 1 }))
    expect(await applyObject(client, widgets, widget({ size: 1 }))).toMatchObject({
      outcome: 'configured',
      lacksLastApplied: true,
    })
  })

  it('creates nothing that is null, and records that it was', async () => {
    const client = createFakeClient(virtualEnvironment())
    await applyObject(client, widgets, widget({ size: null, parts: [{ cpu: null, memory: 1 }] }))
    const [stored] = client.stored<Widget>(widgets)
    expect(stored?.spec).toEqual({ parts: [{ memory: 1 }] })
    expect(stored?.metadata.annotations?.[lastAppliedAnnotation]).toContain('"cpu":null')
  })

  it('sends no write for a local dry run', async () => {
    const client = createFakeClient(virtualEnvironment())
    expect(await applyObject(client, widgets, widget({}), { local: true })).toMatchObject({ outcome: 'created' })
    expect(client.stored(widgets)).toEqual([])
  })
})

describe('applyPatch', () => {
  const controller = (image: string, more: object = {}): ReplicationController =>
    ({
      apiVersion: 'v1',
      kind: 'ReplicationController',
      metadata: { name: 'web', namespace: 'default' },
      spec: { template: { spec: { containers: [{ name: 'web', image, ...more }] } } },
    }) as unknown as ReplicationController

  it('merges lists of known kinds by their keys', () => {
    const current = withLastApplied(controller('nginx:1', { imagePullPolicy: 'Always' }))
    const patch = applyPatch(replicationControllers, withLastApplied(controller('nginx:2')), current)
    expect(patch.type).toBe('strategic')
    expect(patch.body).toMatchObject({
      spec: { template: { spec: { containers: [{ name: 'web', image: 'nginx:2' }] } } },
    })
  })

  it('replaces lists of other kinds', () => {
    const current = withLastApplied(widget({ list: [1, 2] }))
    const patch = applyPatch(widgets, withLastApplied(widget({ list: [2] })), current)
    expect(patch.type).toBe('merge')
    expect(patch.body).toMatchObject({ spec: { list: [2] } })
  })
})

describe('withLastApplied', () => {
  it('records the object as kubectl does: keys in order, without the record itself', () => {
    const object = { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'c' }, data: { b: '1', a: '2' } }
    const recorded = withLastApplied(withLastApplied(object))
    expect(recorded.metadata.annotations).toEqual({
      [lastAppliedAnnotation]:
        '{"apiVersion":"v1","data":{"a":"2","b":"1"},"kind":"ConfigMap","metadata":{"annotations":{},"name":"c"}}\n',
    })
  })
})
