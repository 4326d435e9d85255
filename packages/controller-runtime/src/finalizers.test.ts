import { createFakeClient } from '@coracle/client/testing'
import { virtualEnvironment } from '@coracle/environment'
import { describe, expect, it } from 'vitest'
import { addFinalizer, hasFinalizer, isBeingDeleted, removeFinalizer } from './finalizers.ts'
import { widget, widgets } from './testing/resources.ts'

const finalizer = 'example.com/clean-up'

describe('finalizers', () => {
  it('hold an object back until they are removed', async () => {
    const client = createFakeClient(virtualEnvironment())
    const created = await client.create(widgets, widget('web', 0, { finalizers: ['example.com/other'] }))
    const held = await addFinalizer(client, widgets, created, finalizer)
    expect(hasFinalizer(held, finalizer)).toBe(true)
    await client.delete(widgets, { namespace: 'default', name: 'web' })
    const going = await client.get(widgets, { namespace: 'default', name: 'web' })
    expect(isBeingDeleted(going)).toBe(true)
    await removeFinalizer(client, widgets, going, finalizer)
    const left = await client.get(widgets, { namespace: 'default', name: 'web' })
    expect(left.metadata.finalizers).toEqual(['example.com/other'])
    await removeFinalizer(client, widgets, left, 'example.com/other')
    expect(client.stored(widgets)).toEqual([])
  })

  it('are written only where that changes something', async () => {
    const client = createFakeClient(virtualEnvironment())
    const held = await client.create(widgets, widget('web', 0, { finalizers: [finalizer] }))
    expect(await addFinalizer(client, widgets, held, finalizer)).toBe(held)
    await removeFinalizer(client, widgets, held, 'example.com/absent')
    expect(client.calls).toHaveLength(1)
  })

  it('are not taken from a newer object by a list made from an older one', async () => {
    const client = createFakeClient(virtualEnvironment())
    const old = await client.create(widgets, widget('web', 0))
    await addFinalizer(client, widgets, old, 'example.com/other')
    await expect(addFinalizer(client, widgets, old, finalizer)).rejects.toMatchObject({ reason: 'Conflict' })
  })

  it('count as removed from an object that is gone', async () => {
    const client = createFakeClient(virtualEnvironment())
    const gone = widget('web', 0, { finalizers: [finalizer] })
    await expect(removeFinalizer(client, widgets, gone, finalizer)).resolves.toBeUndefined()
  })
})
