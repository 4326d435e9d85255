import { jsonFormOf, type KubernetesObject } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { bookmarkDelivery, initialEndDelivery, ObjectDelivery } from './cache-event.ts'
import { podEvent, storedPod } from './testing/stored-pods.ts'

describe('the deliveries of an event', () => {
  it('are made once each, for all who watch', () => {
    const event = podEvent('default/a', {}, { nodeName: 'n1' }, 7)
    expect(event.added).toBe(event.added)
    expect(event.modified).toBe(event.modified)
    expect(event.deleted).toBe(event.deleted)
    expect([event.added, event.modified, event.deleted].map((each) => each.event.type)).toEqual([
      'ADDED',
      'MODIFIED',
      'DELETED',
    ])
    expect(event.added.event.object).toBe(event.stored.object)
    expect(event.modified.event.object).toBe(event.stored.object)
  })

  it('of a delete have what the object last was', () => {
    const event = podEvent('default/a', { nodeName: 'n1' }, undefined, 7)
    expect(event.deleted.stored).toBe(event.stored)
  })

  it('are lines of the watch stream', () => {
    const { added, modified, deleted } = podEvent('default/a', {}, {}, 7)
    for (const delivery of [added, modified, deleted]) {
      const line = delivery.bytes.toString()
      expect(line.endsWith('\n')).toBe(true)
      const { type, object } = delivery.event
      expect(JSON.parse(line)).toEqual({ type, object: jsonFormOf(object as KubernetesObject) })
      expect(delivery.bytes).toBe(delivery.bytes)
    }
  })

  it('keep their type in another form', () => {
    const shown = new ObjectDelivery('MODIFIED', storedPod('default/a')).showing(storedPod('default/b'))
    expect([shown.event.type, shown.event.object.metadata.name]).toEqual(['MODIFIED', 'b'])
  })
})

describe('a bookmark', () => {
  const kind = { kind: 'Pod', apiVersion: 'v1' }

  it('has the kind and the version alone', () => {
    const { event, bytes } = bookmarkDelivery(kind, 12)
    expect(event).toEqual({ type: 'BOOKMARK', object: { ...kind, metadata: { resourceVersion: '12' } } })
    expect(bytes.toString()).toBe(`${JSON.stringify(event)}\n`)
  })

  it('marks the end of the initial events by an annotation', () => {
    const { event } = initialEndDelivery(kind, 12)
    expect(event.object.metadata).toEqual({
      resourceVersion: '12',
      annotations: { 'k8s.io/initial-events-end': 'true' },
    })
  })
})
