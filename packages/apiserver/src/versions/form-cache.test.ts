import { expect, it } from 'vitest'
import { StoredObject } from '../watch-cache/stored-object.ts'
import { FormCache } from './form-cache.ts'

const stored = (length: number): StoredObject =>
  new StoredObject({ apiVersion: 'v1', kind: 'A', metadata: {} }, 1, Buffer.alloc(length), Buffer.from('{'))

const form = {}

it('makes a form once while it is kept', () => {
  const cache = new FormCache(100)
  const object = stored(10)
  const first = cache.get(object, form, () => ({}))
  expect(cache.get(object, form, () => ({}))).toBe(first)
  expect(cache.get(object, {}, () => ({}))).not.toBe(first)
})

it('keeps what was used last, up to its limit', () => {
  const cache = new FormCache(100)
  const [a, b, c] = [stored(40), stored(40), stored(40)]
  const [formOfA, formOfB] = [a, b].map((each) => cache.get(each, form, () => ({})))
  cache.get(a, form, () => ({}))
  cache.get(c, form, () => ({}))
  expect(cache.get(a, form, () => ({}))).toBe(formOfA)
  expect(cache.get(b, form, () => ({}))).not.toBe(formOfB)
})

it('keeps nothing that is larger than its limit', () => {
  const cache = new FormCache(100)
  const [small, large] = [stored(10), stored(101)]
  const formOfSmall = cache.get(small, form, () => ({}))
  const formOfLarge = cache.get(large, form, () => ({}))
  expect(cache.get(large, form, () => ({}))).not.toBe(formOfLarge)
  expect(cache.get(small, form, () => ({}))).toBe(formOfSmall)
})

it('makes a form anew that was forgotten', () => {
  const cache = new FormCache(100)
  const object = stored(10)
  const first = cache.get(object, form, () => ({}))
  cache.forget(object, form)
  const second = cache.get(object, form, () => ({}))
  expect(second).not.toBe(first)
  cache.get(stored(90), form, () => ({}))
  expect(cache.get(object, form, () => ({}))).toBe(second)
})
