import { configMaps, nodes } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { placeObject } from './place-object.ts'

const object = (namespace?: string) => ({
  apiVersion: 'v1',
  kind: 'X',
  metadata: { name: 'x', ...(namespace === undefined ? {} : { namespace }) },
})

describe('placeObject', () => {
  it('fills in the namespace', () => {
    const placement = { namespace: 'team', givenNamespace: undefined }
    expect(placeObject(object(), configMaps, placement).metadata.namespace).toBe('team')
    expect(placeObject(object('own'), configMaps, placement).metadata.namespace).toBe('own')
  })

  it('gives none to kinds without namespaces', () => {
    expect(placeObject(object('x'), nodes, { namespace: 'team', givenNamespace: undefined }).metadata).toEqual({
      name: 'x',
    })
  })

  it('refuses an object of another namespace than the one asked for', () => {
    expect(() => placeObject(object('a'), configMaps, { namespace: 'b', givenNamespace: 'b' })).toThrow(
      'the namespace from the provided object "a" does not match the namespace "b"',
    )
  })
})
