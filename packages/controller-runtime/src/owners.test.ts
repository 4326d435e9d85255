import { describe, expect, it } from 'vitest'
import {
  AlreadyOwnedError,
  controlledBy,
  controllerOf,
  controllerRef,
  isControlledBy,
  removeOwnerReference,
  setControllerReference,
  setOwnerReference,
} from './owners.ts'
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

  it.each([
    ['in a namespace of those there alone', 'default', ['here']],
    ['in none of those everywhere', undefined, ['here', 'elsewhere']],
  ])('are believed where an owner is %s', (_, namespace, names) => {
    const cache = {
      byIndex: () => [
        widget('here', 0, { namespace: 'default', ownerReferences: [controllerRef(owner)] }),
        widget('elsewhere', 0, { namespace: 'other', ownerReferences: [controllerRef(owner)] }),
      ],
    }
    const found = controlledBy(cache, { metadata: { uid: 'u1', ...(namespace === undefined ? {} : { namespace }) } })
    expect(found.map(({ metadata }) => metadata.name)).toEqual(names)
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

describe('binding an object to an owner', () => {
  const free = widget('child', 0)
  const other = widget('other', 0, { uid: 'u2' })

  it('makes it the controller, once', () => {
    const bound = setControllerReference(owner, free)
    expect(bound.metadata.ownerReferences).toEqual([controllerRef(owner)])
    expect(setControllerReference(owner, bound)).toBe(bound)
    expect(free.metadata.ownerReferences).toBeUndefined()
  })

  it('takes nothing from another controller, and says whose it is', () => {
    const take = () => setControllerReference(other, owned)
    expect(take).toThrow(AlreadyOwnedError)
    expect(take).toThrow('Widget default/child is controlled by Widget web already')
  })

  it('adds an owner beside the controller, and makes an owner the controller', () => {
    const both = setOwnerReference(other, owned)
    const { controller: _, blockOwnerDeletion: __, ...plain } = controllerRef(other)
    expect(both.metadata.ownerReferences).toEqual([controllerRef(owner), plain])
    const promoted = setControllerReference(owner, setOwnerReference(owner, free))
    expect(promoted.metadata.ownerReferences).toEqual([controllerRef(owner)])
  })

  it('refuses an owner of another namespace, and takes one that has none', () => {
    const elsewhere = widget('web', 0, { uid: 'u3', namespace: 'other' })
    expect(() => setControllerReference(elsewhere, free)).toThrow(
      'Widget other/web cannot own Widget default/child: an owner must be in the same namespace, or in none',
    )
    const { namespace: _, ...metadata } = elsewhere.metadata
    expect(controllerOf(setControllerReference({ ...elsewhere, metadata }, free))?.uid).toBe('u3')
  })

  it('ends when the owner is taken off', () => {
    expect(removeOwnerReference(owner, owned).metadata.ownerReferences).toEqual([])
    expect(removeOwnerReference(other, owned)).toBe(owned)
  })
})
