import { createFakeClient, type FakeClient } from '@coracle/client/testing'
import { virtualEnvironment } from '@coracle/environment'
import { beforeEach, describe, expect, it } from 'vitest'
import { createOrPatch, createOrUpdate, mergePatch } from './create-or-update.ts'
import { type Widget, widget, widgets } from './testing/resources.ts'

let client: FakeClient

beforeEach(() => {
  client = createFakeClient(virtualEnvironment())
})

const writes = () => client.calls.map(({ verb }) => verb).filter((verb) => verb !== 'get')

const sized = (gadgets: number) => ({
  initial: widget('a', 0),
  change: (object: Widget): Widget => ({ ...object, spec: { gadgets } }),
})

describe.each([
  ['createOrUpdate', createOrUpdate, 'update'],
  ['createOrPatch', createOrPatch, 'patch'],
] as const)('%s', (_, ensure, verb) => {
  it('creates what is not there, changes what differs, and leaves the rest alone', async () => {
    expect(await ensure(client, widgets, sized(1))).toMatchObject({
      operation: 'created',
      object: { spec: { gadgets: 1 } },
    })
    expect(await ensure(client, widgets, sized(1))).toMatchObject({ operation: 'unchanged' })
    expect(await ensure(client, widgets, sized(2))).toMatchObject({
      operation: 'updated',
      object: { spec: { gadgets: 2 } },
    })
    expect(writes()).toEqual(['create', verb])
  })

  it('does not let a change in place pass for none', async () => {
    await ensure(client, widgets, sized(1))
    const get = client.get.bind(client)
    // As over HTTP, where each answer is read anew.
    client.get = async (...asked) => structuredClone(await get(...asked))
    const change = (object: Widget) => {
      ;(object.spec as { gadgets: number }).gadgets = 2
      return object
    }
    await expect(ensure(client, widgets, { initial: widget('a', 0), change })).rejects.toThrow(TypeError)
  })

  it('does not let another object be meant', async () => {
    await ensure(client, widgets, sized(1))
    const change = (object: Widget) => ({ ...object, metadata: { ...object.metadata, name: 'b' } })
    await expect(ensure(client, widgets, { initial: widget('a', 0), change })).rejects.toThrow('cannot be changed')
  })
})

describe('somebody else who writes between reading and writing', () => {
  const meanwhile = (object: Widget): Widget => {
    void client.patch(
      widgets,
      { namespace: 'default', name: 'a' },
      { type: 'merge', body: { metadata: { labels: { seen: 'yes' } } } },
    )
    return { ...object, spec: { gadgets: 2 } }
  }

  beforeEach(async () => {
    await client.create(widgets, widget('a', 1))
  })

  it('makes an update a conflict', async () => {
    await expect(createOrUpdate(client, widgets, { initial: widget('a', 0), change: meanwhile })).rejects.toMatchObject(
      { status: { reason: 'Conflict' } },
    )
  })

  it('keeps what it wrote where a patch follows', async () => {
    await createOrPatch(client, widgets, { initial: widget('a', 0), change: meanwhile })
    expect(client.stored(widgets)).toMatchObject([{ spec: { gadgets: 2 }, metadata: { labels: { seen: 'yes' } } }])
  })
})

describe('a merge patch', () => {
  const from = widget('a', 1, { uid: 'u', resourceVersion: '5', labels: { a: '1', b: '2' } })
  const to = { ...from, spec: { gadgets: 3 }, metadata: { ...from.metadata, labels: { a: '1' } } }

  it('has only what changes, for this object alone', () => {
    expect(mergePatch(from, to)).toEqual({
      type: 'merge',
      body: { spec: { gadgets: 3 }, metadata: { uid: 'u', labels: { b: null } } },
    })
  })

  it('is refused for an object that has changed, where that is wanted', () => {
    expect(mergePatch(from, to, { optimisticLock: true }).body).toMatchObject({ metadata: { resourceVersion: '5' } })
  })
})
