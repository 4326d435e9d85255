import type { KubernetesObject } from '@coracle/api'
import { expect, it } from 'vitest'
import { IndexedStore } from './indexed-store.ts'

interface Filed extends KubernetesObject {
  readonly values: readonly string[]
}

const filed = (values: readonly string[]): Filed => ({
  apiVersion: 'v1',
  kind: 'Filed',
  metadata: { name: 'a' },
  values,
})
const valuesOf = ({ values }: Filed) => values
const range = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => `v${from + index}`)

it.each([5, 16, 17, 300_000])('files an object under other values than before, of %i', (count) => {
  const store = new IndexedStore<Filed>()
  store.addIndex('values', valuesOf)
  const entry = store.add(filed(range(0, count)))
  const changed = filed(range(2, count + 2))
  store.replace(entry as { object: Filed }, changed)
  const found = (value: number) => store.byIndex('values', `v${value}`)
  expect([0, 1, count + 2].map(found)).toEqual([[], [], []])
  for (const value of [2, count - 1, count, count + 1]) expect(found(value)).toEqual([changed])
  store.delete(entry)
  for (const value of [2, count + 1]) expect(found(value)).toEqual([])
})
