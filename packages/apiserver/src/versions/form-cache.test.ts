import { expect, it } from 'vitest'
import { StoredObject } from '../watch-cache/stored-object.ts'
import { FormCache } from './form-cache.ts'

const stored = (length: number): StoredObject =>
  new StoredObject({ apiVersion: 'v1', kind: 'A', metadata: {} }, 1, Buffer.alloc(length), Buffer.from('{'))

const form = {}

/** The form of an object, which takes as much as the object. */
const formOf = (cache: FormCache, object: StoredObject, of: object = form) =>
  cache.get(
    object,
    of,
    () => ({ bytes: object.byteLength }),
    ({ bytes }) => bytes,
  )

it('makes a form once while it is kept', () => {
  const cache = new FormCache(100)
  const object = stored(10)
  const first = formOf(cache, object)
  expect(formOf(cache, object)).toBe(first)
  expect(formOf(cache, object, {})).not.toBe(first)
})

it('keeps what was used last, up to its limit', () => {
  const cache = new FormCache(100)
  const [a, b, c] = [stored(40), stored(40), stored(40)]
  const [formOfA, formOfB] = [a, b].map((each) => formOf(cache, each))
  formOf(cache, a)
  formOf(cache, c)
  expect(formOf(cache, a)).toBe(formOfA)
  expect(formOf(cache, b)).not.toBe(formOfB)
})

it('keeps nothing that is larger than its limit', () => {
  const cache = new FormCache(100)
  const [small, large] = [stored(10), stored(101)]
  const formOfSmall = formOf(cache, small)
  const formOfLarge = formOf(cache, large)
  expect(formOf(cache, large)).not.toBe(formOfLarge)
  expect(formOf(cache, small)).toBe(formOfSmall)
})

it('makes a form anew that was forgotten', () => {
  const cache = new FormCache(100)
  const object = stored(10)
  const first = formOf(cache, object)
  cache.forget(object, form)
  const second = formOf(cache, object)
  expect(second).not.toBe(first)
  formOf(cache, stored(90))
  expect(formOf(cache, object)).toBe(second)
})
