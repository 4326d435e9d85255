import type { Pod } from '@coracle/api'
import type { StoreEvent } from '@coracle/store'
import { describe, expect, it } from 'vitest'
import { pastOf } from './past.ts'
import type { StoredObject } from './stored-object.ts'
import { storedPod } from './testing/stored-pods.ts'

describe('the past of a cache', () => {
  const prefix = '/registry/core/pods/'
  const bytesOf = (state: string) => Buffer.from(state)
  const change = (type: 'put' | 'delete', name: string, revision: number, previousRevision: number): StoreEvent => ({
    type,
    key: `${prefix}default/${name}`,
    value: bytesOf(type === 'put' ? `new-${revision}` : `old-${previousRevision}`),
    revision,
    createRevision: 1,
    previousRevision,
  })
  const carrying = (event: StoreEvent): StoreEvent => ({
    ...event,
    previousValue: bytesOf(`old-${event.previousRevision}`),
  })
  /** `REVISION TYPE KEY OBJECT was OBJECT`, an object as its node and revision. */
  const told = (changes: readonly StoreEvent[]) => {
    const read = (_key: string, value: Uint8Array, revision: number) =>
      storedPod('default/x', { nodeName: String(value) }, revision)
    const { startRevision, events } = pastOf(changes, { after: 5, prefix, timeMs: 7, read })
    const words = (stored: StoredObject | undefined) =>
      stored === undefined
        ? 'nothing'
        : `${(stored.object as unknown as Pod).spec.nodeName}@${stored.object.metadata.resourceVersion}`
    const lines = events.map(({ revision, type, key, stored, previous }) => {
      return `${revision} ${type} ${key} ${words(stored)} was ${words(previous)}`
    })
    return { startRevision, lines, events }
  }

  it('has every change with what was there before', () => {
    const changes = [change('put', 'a', 6, 0), change('put', 'a', 8, 6), change('delete', 'a', 9, 8)]
    expect(told([...changes, change('put', 'a', 10, 0)])).toMatchObject({
      startRevision: 5,
      lines: [
        '6 ADDED default/a new-6@6 was nothing',
        '8 MODIFIED default/a new-8@8 was new-6@6',
        '9 DELETED default/a new-8@9 was new-8@8',
        '10 ADDED default/a new-10@10 was nothing',
      ],
    })
  })

  it('takes what was before from the change where that carries it, and from a deletion', () => {
    expect(told([carrying(change('put', 'a', 6, 3)), change('delete', 'b', 7, 4)])).toMatchObject({
      startRevision: 5,
      lines: ['6 MODIFIED default/a new-6@6 was old-3@3', '7 DELETED default/b old-4@7 was old-4@4'],
    })
  })

  it('begins after the last change of which nobody knows what was before', () => {
    const changes = [change('put', 'a', 6, 0), change('put', 'b', 7, 3), change('put', 'b', 8, 7)]
    expect(told(changes)).toMatchObject({ startRevision: 7, lines: ['8 MODIFIED default/b new-8@8 was new-7@7'] })
    expect(told([change('put', 'b', 7, 3)])).toMatchObject({ startRevision: 7, lines: [] })
  })

  it('leaves out the rest of a transaction that is not known whole', () => {
    const changes = [change('put', 'a', 7, 3), change('put', 'b', 7, 0), change('put', 'c', 8, 0)]
    expect(told(changes)).toMatchObject({ startRevision: 7, lines: ['8 ADDED default/c new-8@8 was nothing'] })
  })

  it('is older than all that the cache has seen itself', () => {
    const { events } = told([change('put', 'a', 6, 0), change('put', 'b', 7, 0)])
    expect(events.map(({ sequence, timeMs }) => [sequence, timeMs])).toEqual([
      [-2, 7],
      [-1, 7],
    ])
  })
})
