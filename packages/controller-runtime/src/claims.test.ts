import type { ObjectMeta } from '@coracle/api'
import { createFakeClient } from '@coracle/client/testing'
import { virtualEnvironment } from '@coracle/environment'
import { describe, expect, it } from 'vitest'
import { adoption, liveOwner, release } from './claims.ts'
import { controllerRef } from './owners.ts'
import type { PatchAction } from './plan.ts'
import type { ReconcileContext } from './reconcile.ts'
import { gadgets, type Widget, widget, widgets } from './testing/resources.ts'

const owner = widget('web', 0, { uid: 'u1' })
const other = { apiVersion: 'v1', kind: 'ConfigMap', name: 'other', uid: 'other' }
const object = (ownerReferences?: readonly (typeof other)[]) =>
  widget('it', 0, { uid: 'it', resourceVersion: '7', ownerReferences })

describe('claims', () => {
  const patch = (ownerReferences: unknown, because: string) => ({
    type: 'patch',
    resource: gadgets,
    key: { namespace: 'default', name: 'it' },
    patch: { type: 'merge', body: { metadata: { uid: 'it', resourceVersion: '7', ownerReferences } } },
    because,
  })

  it('make an owner the controller of an object, beside its other owners', () => {
    expect(adoption(gadgets, owner, object(), 'it matches')).toEqual(patch([controllerRef(owner)], 'it matches'))
    expect(adoption(gadgets, owner, object([other]), 'it matches')).toEqual(
      patch([other, controllerRef(owner)], 'it matches'),
    )
  })

  it('make one who is an owner already the controller, and name it once', () => {
    const { apiVersion, kind, name, uid } = controllerRef(owner)
    const owned = object([{ apiVersion, kind, name, uid }, other])
    expect(adoption(gadgets, owner, owned, 'it matches')).toEqual(patch([controllerRef(owner), other], 'it matches'))
  })

  it('let an object go, and leave it its other owners', () => {
    const owned = object([other, controllerRef(owner)])
    expect(release(gadgets, owner, owned, 'it matches no more')).toEqual(patch([other], 'it matches no more'))
    expect(release(gadgets, owner, object([controllerRef(owner)]), 'no more')).toEqual(patch(null, 'no more'))
  })

  it('hold an object that is adopted by the owner’s finalizer, and no longer one that is let go', () => {
    const finalizersOf = ({ patch }: PatchAction) =>
      (patch as { readonly body: { readonly metadata: ObjectMeta } }).body.metadata.finalizers
    const held = { ...object(), metadata: { ...object().metadata, finalizers: ['example.dev/a', 'example.dev/b'] } }
    expect(finalizersOf(adoption(gadgets, owner, object(), '', 'example.dev/b'))).toEqual(['example.dev/b'])
    expect(finalizersOf(adoption(gadgets, owner, held, '', 'example.dev/c'))).toHaveLength(3)
    expect(finalizersOf(adoption(gadgets, owner, held, '', 'example.dev/b'))).toBeUndefined()
    expect(finalizersOf(release(gadgets, owner, held, '', 'example.dev/b'))).toEqual(['example.dev/a'])
    expect(finalizersOf(release(gadgets, owner, held, '', 'example.dev/c'))).toBeUndefined()
  })

  it('address an object without a namespace by its name', () => {
    const { namespace: _namespace, ...metadata } = object().metadata
    expect(adoption(gadgets, owner, { ...object(), metadata }, '')).toMatchObject({ key: { name: 'it' } })
  })
})

describe('the live owner', () => {
  const environment = virtualEnvironment()
  const client = createFakeClient(environment)
  const context = { client, resource: widgets } as unknown as ReconcileContext<Widget>

  it('is the object as the server has it', async () => {
    const cached = await client.create<Widget>(widgets, widget('live', 1))
    const newer = await client.update<Widget>(widgets, { ...cached, spec: { gadgets: 2 } })
    expect(await liveOwner(context, cached)).toEqual(newer)
  })

  it('is none where the object is gone, or another has its name', async () => {
    const gone = await client.create<Widget>(widgets, widget('gone', 1))
    await client.delete(widgets, { namespace: 'default', name: 'gone' })
    expect(await liveOwner(context, gone)).toBeUndefined()
    await client.create<Widget>(widgets, widget('gone', 1))
    expect(await liveOwner(context, gone)).toBeUndefined()
  })

  it('is not guessed where the server cannot be asked', async () => {
    client.intercept(() => {
      throw new Error('no route to host')
    })
    await expect(liveOwner(context, owner)).rejects.toThrow('no route to host')
  })
})
