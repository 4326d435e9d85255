import { type FieldOwners, interned } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { createObjectCodec, withRevision } from './object-codec.ts'
import { heldObjectsMax, releaseHeldObjects, StoredObject, unstored } from './stored-object.ts'

const codec = createObjectCodec({ group: 'apps', version: 'v1', kind: 'Widget' })
const object = { apiVersion: 'apps/v1', kind: 'Widget', metadata: { name: 'ä', uid: 'u' }, spec: { size: 1 } }

const storedAt = (revision: number) => {
  const value = codec.encode(object, [])
  return new StoredObject(codec.decode(value, revision).object, revision, value, codec.head)
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
    expect(codec.encode({ spec, metadata, kind, apiVersion } as typeof object, []).toString()).toBe(
      codec.encode(object, []).toString(),
    )
  })

  it.each([
    ['with white space', JSON.stringify(object, null, 1)],
    ['in another order', '{"kind":"Widget","apiVersion":"apps/v1","metadata":{"name":"ä","uid":"u"}}'],
  ])('have one version where something else has written them %s', (_, text) => {
    const value = Buffer.from(text)
    const stored = new StoredObject(codec.decode(value, 3).object, 3, value, codec.head)
    for (const each of [stored, stored.at(4), stored.at(4).at(5)]) {
      each.bytes.toString()
      const later = each.at(6).bytes.toString()
      expect(later.match(/resourceVersion/g)).toHaveLength(1)
      expect(JSON.parse(later).metadata).toEqual({ resourceVersion: '6', name: 'ä', uid: 'u' })
    }
  })

  it('are made anew where something else has written them', () => {
    const value = Buffer.from('{ "kind": "Widget", "apiVersion": "apps/v1", "metadata": { "name": "x" } }')
    const stored = new StoredObject(codec.decode(value, 3).object, 3, value, codec.head)
    expect(JSON.parse(stored.bytes.toString())).toEqual({
      kind: 'Widget',
      apiVersion: 'apps/v1',
      metadata: { name: 'x', resourceVersion: '3' },
    })
    expect(JSON.parse(stored.at(4).bytes.toString()).metadata.resourceVersion).toBe('4')
  })
})

describe('the owners of an object', () => {
  const owners: FieldOwners = [
    {
      name: 'é',
      operation: 'Apply',
      apiVersion: 'apps/v1',
      subresource: '',
      time: '2026-01-01T00:00:00Z',
      fields: { 'f:spec': { 'f:size': {} } },
    },
    { name: 'm', operation: 'Update', apiVersion: 'apps/v1', subresource: 'status', fields: { 'f:status': {} } },
  ]
  const lonelyFields = Object.fromEntries(
    Array.from({ length: 20 }, (_, index) => [`f:${index}`, { [`f:lonely${index}`]: {} }]),
  )
  const managedFields = [
    {
      manager: 'é',
      operation: 'Apply',
      apiVersion: 'apps/v1',
      time: '2026-01-01T00:00:00Z',
      fieldsType: 'FieldsV1',
      fieldsV1: { 'f:spec': { 'f:size': {} } },
    },
    {
      manager: 'm',
      operation: 'Update',
      apiVersion: 'apps/v1',
      fieldsType: 'FieldsV1',
      fieldsV1: { 'f:status': {} },
      subresource: 'status',
    },
  ]
  const read = (value: Uint8Array, revision = 1) =>
    new StoredObject(codec.decode(value, revision).object, revision, value, codec.head)

  it('are kept beside it, and shown as its managedFields', () => {
    const stored = read(codec.encode(object, owners))
    expect(stored.object).toEqual(withRevision(object, 1))
    expect(stored.owners).toEqual(owners)
    const shown = { ...object, metadata: { ...object.metadata, resourceVersion: '1', managedFields } }
    expect(JSON.parse(stored.bytes.toString())).toEqual(shown)
    expect(stored.withManagedFields).toEqual(shown)
    expect(JSON.parse(stored.at(27).bytes.toString())).toEqual({
      ...shown,
      metadata: { ...shown.metadata, resourceVersion: '27' },
    })
  })

  it('are shown of what a dry run would have stored, where it has any', () => {
    const tried = unstored(object, 0, owners)
    const shown = { ...object, metadata: { ...object.metadata, managedFields } }
    expect([tried.object, tried.withManagedFields]).toEqual([object, shown])
    expect(JSON.parse(tried.bytes.toString())).toEqual(shown)
    expect(tried.bytes).toBe(tried.bytes)
    expect(unstored(object, 0, []).withManagedFields).toBe(object)
    expect(JSON.parse(unstored(object, 0, []).bytes.toString())).toEqual(object)
  })

  it('are shared by the objects that have the same', () => {
    const [a, b] = [read(codec.encode(object, owners)), read(codec.encode(object, owners))]
    expect(a.owners[0]?.fields).toBe(b.owners[0]?.fields)
  })

  const sharings: readonly (readonly [string, FieldOwners])[] = [
    ['other objects have the same', owners.map((owner) => ({ ...owner, fields: interned(owner.fields) }))],
    ['no other object has', [{ ...owners[0], fields: lonelyFields } as FieldOwners[number]]],
  ]
  const writeOthers = () => {
    for (let other = 0; other < heldObjectsMax; other += 1) void read(codec.encode(object, [])).owners
  }
  const losses: readonly (readonly [string, () => void])[] = [
    ['many others have been written since', writeOthers],
    ['a rest has begun', releaseHeldObjects],
  ]

  it.each(sharings.flatMap(([sharing, own]) => losses.map(([loss, letGo]) => [loss, sharing, own, letGo] as const)))(
    'are known, as are its bytes, when %s, where %s',
    (_loss, _sharing, own, letGo) => {
      const expected = read(codec.encode(object, own)).bytes.toString()
      const written = new StoredObject(withRevision(object, 1), 1, codec.encode(object, own), codec.head, {
        owners: own,
      })
      letGo()
      expect(written.owners).toEqual(own)
      expect(written.byteLength).toBe(codec.encode(object, own).length)
      expect(written.at(1).bytes.toString()).toBe(expected)
      expect(written.bytes.toString()).toBe(expected)
    },
  )

  it('are read from the managedFields of what another program has stored', () => {
    const value = Buffer.from(JSON.stringify({ ...object, metadata: { ...object.metadata, managedFields } }))
    expect(codec.decode(value, 2)).toEqual({ object: withRevision(object, 2), owners })
  })

  it('are told from a member of the object that is called like them', () => {
    for (const own of [{ '/owners': [] }, { '/owners': [1] }, { x: { y: 1, '/owners': [2] } }]) {
      const tricky = { ...object, ...own }
      const stored = read(codec.encode(tricky, []))
      expect([stored.object, stored.owners]).toEqual([withRevision(tricky, 1), []])
      expect(JSON.parse(stored.bytes.toString())).toEqual(stored.object)
    }
  })
})
