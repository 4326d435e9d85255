import { expect, it } from 'vitest'
import { partialObjectMetadata, partialObjectMetadataList, tableOf } from './table.ts'
import { type Widget, widgets } from './testing/sample-kind.ts'

const widget: Widget = {
  apiVersion: 'example.test/v1',
  kind: 'Widget',
  metadata: { name: 'w', resourceVersion: '5' },
  spec: { replicas: 3, parts: [] },
}

it('has the columns of the kind and a row per object', () => {
  expect(tableOf(widgets, [widget], { nowMs: 7, listMeta: { resourceVersion: '9' } })).toEqual({
    kind: 'Table',
    apiVersion: 'meta.k8s.io/v1',
    metadata: { resourceVersion: '9' },
    columnDefinitions: [
      {
        name: 'Name',
        type: 'string',
        format: 'name',
        description: 'Name of the object, unique among its kind in its namespace.',
        priority: 0,
      },
      { name: 'Wanted', type: 'integer', format: '', description: 'How many.', priority: 1 },
      { name: 'Now', type: 'integer', format: '', description: 'The time.', priority: 0 },
    ],
    rows: [{ cells: ['w', 3, 7], object: partialObjectMetadata(widget) }],
  })
})

it('carries as much of the object as is asked for', () => {
  const objectOf = (includeObject: 'None' | 'Object' | 'Metadata'): unknown =>
    tableOf(widgets, [widget], { nowMs: 0, includeObject }).rows[0]?.object
  expect(objectOf('None')).toBeNull()
  expect(objectOf('Object')).toBe(widget)
  expect(objectOf('Metadata')).toEqual({
    kind: 'PartialObjectMetadata',
    apiVersion: 'meta.k8s.io/v1',
    metadata: { name: 'w', resourceVersion: '5' },
  })
})

it('lists metadata alone', () => {
  const list = partialObjectMetadataList([widget], { resourceVersion: '9' })
  expect(list).toMatchObject({
    kind: 'PartialObjectMetadataList',
    apiVersion: 'meta.k8s.io/v1',
    metadata: { resourceVersion: '9' },
  })
  expect(list.items).toEqual([partialObjectMetadata(widget)])
})
