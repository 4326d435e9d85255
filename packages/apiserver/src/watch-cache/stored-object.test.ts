import { describe, expect, it } from 'vitest'
import { createObjectCodec, withRevision } from './object-codec.ts'
import { StoredObject } from './stored-object.ts'

const codec = createObjectCodec({ group: 'apps', version: 'v1', kind: 'Widget' })
const object = { apiVersion: 'apps/v1', kind: 'Widget', metadata: { name: 'ä', uid: 'u' }, spec: { size: 1 } }

const storedAt = (revision: number) => {
  const value = codec.encode(object)
  return new StoredObject(codec.decode(value, revision), revision, value, codec.head)
}

describe('the bytes of an object', () => {
  it('are the stored ones with the version put in', () => {
    const stored = storedAt(42)
    expect(JSON.parse(stored.bytes.toString())).toEqual(stored.object)
    expect(stored.object).toEqual(withRevision(object, 42))
    expect(stored.bytes).toBe(stored.bytes)
  })

  it.each(['before they were asked for', 'after'])('take another version in place of the first, %s', (when) => {
    const stored = storedAt(99)
    if (when === 'after') stored.bytes.toString()
    const later = stored.at(100)
    expect(JSON.parse(later.bytes.toString()).metadata).toEqual({ resourceVersion: '100', name: 'ä', uid: 'u' })
    expect(JSON.parse(stored.bytes.toString()).metadata.resourceVersion).toBe('99')
    expect(JSON.parse(later.at(7).bytes.toString()).metadata.resourceVersion).toBe('7')
  })

  it('are stored in one order, whatever the order of the members', () => {
    const { metadata, spec, kind, apiVersion } = object
    expect(codec.encode({ spec, metadata, kind, apiVersion } as typeof object).toString()).toBe(
      codec.encode(object).toString(),
    )
  })

  it('are made anew where something else has written them', () => {
    const value = Buffer.from('{ "kind": "Widget", "apiVersion": "apps/v1", "metadata": { "name": "x" } }')
    const stored = new StoredObject(codec.decode(value, 3), 3, value, codec.head)
    expect(JSON.parse(stored.bytes.toString())).toEqual({
      kind: 'Widget',
      apiVersion: 'apps/v1',
      metadata: { name: 'x', resourceVersion: '3' },
    })
    expect(JSON.parse(stored.at(4).bytes.toString()).metadata.resourceVersion).toBe('4')
  })
})
