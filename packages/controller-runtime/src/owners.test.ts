import { describe, expect, it } from 'vitest'
import { controllerOf, controllerRef, isControlledBy } from './owners.ts'
import { gadgets, widget, widgets } from './testing/resources.ts'

const owner = widget('web', 0, { uid: 'u1' })
const owned = widget('child', 0, { ownerReferences: [controllerRef(owner)] })

describe('owner references', () => {
  it('name the controller as upstream does', () => {
    expect(controllerRef(owner)).toEqual({
      apiVersion: 'example.com/v1',
      kind: 'Widget',
      name: 'web',
      uid: 'u1',
      controller: true,
      blockOwnerDeletion: true,
    })
  })

  it.each([
    ['any kind', undefined, 'web'],
    ['its kind', widgets, 'web'],
    ['its kind in another version', { ...widgets, version: 'v2' }, 'web'],
    ['another kind', gadgets, undefined],
    ['its kind in another group', { ...widgets, group: 'other.com' }, undefined],
  ])('find a controller of %s', (_, resource, name) => {
    expect(controllerOf(owned, resource)?.name).toBe(name)
  })

  it('tell an owner from another of its name', () => {
    expect(isControlledBy(owned, owner)).toBe(true)
    expect(isControlledBy(owned, widget('web', 0, { uid: 'u2' }))).toBe(false)
  })

  it('do not take a plain owner for the controller', () => {
    const reference = { ...controllerRef(owner), controller: false }
    expect(controllerOf(widget('child', 0, { ownerReferences: [reference] }))).toBeUndefined()
  })
})
