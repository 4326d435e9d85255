import type { ObjectMeta } from '@coracle/api'
import { expect, it } from 'vitest'
import {
  allOf,
  annotationsChanged,
  anyOf,
  type Change,
  generationChanged,
  labelsChanged,
  not,
  type Predicate,
  resourceVersionChanged,
} from './predicates.ts'
import { type Widget, widget } from './testing/resources.ts'

const of = (metadata: Partial<ObjectMeta>): Widget => {
  const object = widget('a', 0)
  return { ...object, metadata: { ...object.metadata, ...metadata } }
}
const update = (old: Partial<ObjectMeta>, now: Partial<ObjectMeta>): Change<Widget> => ({
  type: 'update',
  old: of(old),
  object: of(now),
})

const comes: Change<Widget> = { type: 'add', object: of({}) }
const goes: Change<Widget> = { type: 'delete', object: of({}) }
const same = update({ generation: 1, resourceVersion: '1' }, { generation: 1, resourceVersion: '1' })
const specChanges = update({ generation: 1, resourceVersion: '1' }, { generation: 2, resourceVersion: '2' })
const isDeleted = update({ resourceVersion: '1' }, { deletionTimestamp: '2026-01-01T00:00:00Z', resourceVersion: '2' })
const labelled = update({ resourceVersion: '1' }, { labels: { app: 'web' }, resourceVersion: '2' })
const annotated = update(
  { annotations: { a: '1' }, resourceVersion: '1' },
  { annotations: { a: '2' }, resourceVersion: '2' },
)
const changes = { comes, goes, same, specChanges, isDeleted, labelled, annotated }

it.each<readonly [string, Predicate<Widget>, readonly (keyof typeof changes)[]]>([
  ['generationChanged', generationChanged, ['comes', 'goes', 'specChanges', 'isDeleted']],
  ['labelsChanged', labelsChanged, ['comes', 'goes', 'labelled']],
  ['annotationsChanged', annotationsChanged, ['comes', 'goes', 'annotated']],
  [
    'resourceVersionChanged',
    resourceVersionChanged,
    ['comes', 'goes', 'specChanges', 'isDeleted', 'labelled', 'annotated'],
  ],
  ['one of two', anyOf(generationChanged, labelsChanged), ['comes', 'goes', 'specChanges', 'isDeleted', 'labelled']],
  ['all of two', allOf(generationChanged, ({ type }) => type !== 'add'), ['goes', 'specChanges', 'isDeleted']],
  ['the opposite', not(generationChanged), ['same', 'labelled', 'annotated']],
])('%s lets through what it says', (_, predicate, expected) => {
  const through = Object.entries(changes).filter(([, change]) => predicate(change))
  expect(through.map(([name]) => name)).toEqual(expected)
})
