import { describe, expect, it } from 'vitest'
import { InvalidTransactionError, TransactionTooLargeError } from './errors.ts'
import { keyBytesMax, operationsMax, valueBytesMax } from './limits.ts'
import type { Entry, Operation } from './store.ts'
import {
  changesOf,
  checkKey,
  checkPrefix,
  checkTransaction,
  entryAfter,
  findConflict,
  lookupOnce,
} from './transaction.ts'

const noValue = new Uint8Array(0)
const put = (key: string, value = noValue): Operation => ({ type: 'put', key, value })
const remove = (key: string): Operation => ({ type: 'delete', key })
const entry = (key: string, modRevision: number, createRevision = 1): Entry => ({
  key,
  value: Buffer.from(`${key}@${modRevision}`),
  modRevision,
  createRevision,
})
const many = (count: number) => Array.from({ length: count }, (_, index) => `k${index}`)

describe('a transaction', () => {
  it('has so many operations and so many conditions', () => {
    const tooMany = `a transaction has at most ${operationsMax} operations and as many conditions`
    const conditions = (count: number) => many(count).map((key) => ({ key, modRevision: 0 }))
    const operations = (count: number) => many(count).map((key) => put(key))
    checkTransaction({ conditions: conditions(operationsMax), operations: operations(operationsMax) })
    const refused = new InvalidTransactionError(tooMany)
    expect(() => checkTransaction({ conditions: [], operations: operations(operationsMax + 1) })).toThrow(refused)
    expect(() => checkTransaction({ conditions: conditions(operationsMax + 1), operations: [] })).toThrow(refused)
  })

  it.each<[string, readonly string[], readonly Operation[], string]>([
    ['a condition on no key', [''], [], 'a key must not be empty'],
    ['an operation on no key', [], [put('a'), remove('')], 'a key must not be empty'],
    ['a key twice, next to each other', [], [put('a'), remove('a')], 'the key "a" appears in more than one operation'],
    ['a key twice', [], [put('a'), put('b'), put('a')], 'the key "a" appears in more than one operation'],
    ['half a character', ['a\udc00'], [], 'the key "a\\udc00" has half a surrogate pair'],
  ])('may not have %s', (_, keys, operations, message) => {
    const conditions = keys.map((key) => ({ key, modRevision: 0 }))
    expect(() => checkTransaction({ conditions, operations })).toThrow(new InvalidTransactionError(message))
  })

  it('may check a key twice, and write what it checks', () => {
    const conditions = ['a', 'a', 'b'].map((key) => ({ key, modRevision: 0 }))
    checkTransaction({ conditions, operations: [put('a'), remove('b')] })
    checkTransaction({ conditions: [], operations: [] })
  })

  it('writes values of up to so many bytes', () => {
    checkTransaction({ conditions: [], operations: [put('a', new Uint8Array(valueBytesMax))] })
    const operations = [put('a', new Uint8Array(valueBytesMax + 1))]
    expect(() => checkTransaction({ conditions: [], operations })).toThrow(
      new TransactionTooLargeError('the value of "a" has 8388609 bytes, more than 8388608'),
    )
  })
})

describe('a key', () => {
  it.each(['a', 'é', '€', '\u{1f600}'])('made of %s has at most so many bytes', (character) => {
    const fitting = Math.floor(keyBytesMax / Buffer.byteLength(character))
    checkKey(character.repeat(fitting))
    expect(() => checkKey(character.repeat(fitting + 1))).toThrow(InvalidTransactionError)
  })

  it('is shown whole in an error where it is short, else its beginning', () => {
    expect(() => checkKey(`${'x'.repeat(119)}\ud800`)).toThrow(`"${'x'.repeat(119)}\\ud800" has half`)
    expect(() => checkKey(`${'x'.repeat(120)}\ud800`)).toThrow(`"${'x'.repeat(120)}…" has half`)
    expect(() => checkKey('x'.repeat(keyBytesMax + 1))).toThrow(
      new InvalidTransactionError(`the key "${'x'.repeat(120)}…" is longer than 1978 bytes`),
    )
  })

  it('may begin with any prefix but half a character', () => {
    checkPrefix('')
    checkPrefix('a/\u{1f600}')
    expect(() => checkPrefix('a\ud83d')).toThrow(
      new InvalidTransactionError('the prefix "a\\ud83d" has half a surrogate pair'),
    )
  })
})

describe('conditions', () => {
  const entries = new Map([entry('a', 3), entry('b', 5)].map((each) => [each.key, each]))
  const conflictOf = (...conditions: (readonly [string, number])[]) =>
    findConflict(
      conditions.map(([key, modRevision]) => ({ key, modRevision })),
      (key) => entries.get(key),
    )

  it('hold where every key was last written at their revision', () => {
    expect(conflictOf()).toBeUndefined()
    expect(conflictOf(['a', 3], ['b', 5], ['none', 0])).toBeUndefined()
  })

  it('that do not hold are answered with what there is for each', () => {
    expect(conflictOf(['a', 3], ['b', 4], ['none', 0])).toEqual([entries.get('a'), entries.get('b'), undefined])
    expect(conflictOf(['none', 3])).toEqual([undefined])
    expect(conflictOf(['a', 0])).toEqual([entries.get('a')])
  })
})

describe('the changes of a transaction', () => {
  const entries = new Map([entry('a', 3), entry('b', 5, 2)].map((each) => [each.key, each]))
  const changes = (operations: readonly Operation[], carriedTo = 0) =>
    changesOf({ operations }, 9, (key) => entries.get(key), carriedTo)

  it('tell what each key was before', () => {
    const value = Buffer.from('new')
    expect(changes([put('b', value), remove('a'), put('c', value)])).toStrictEqual([
      { type: 'put', key: 'b', value, revision: 9, createRevision: 2, previousRevision: 5 },
      { type: 'delete', key: 'a', value: Buffer.from('a@3'), revision: 9, createRevision: 1, previousRevision: 3 },
      { type: 'put', key: 'c', value, revision: 9, createRevision: 9, previousRevision: 0 },
    ])
  })

  it('are none where a key is deleted that is not there', () => {
    expect(changes([remove('none')])).toEqual([])
  })

  it('carry the value before where it was written up to a revision', () => {
    const carried = (carriedTo: number) =>
      changes([put('a'), put('b'), put('c'), remove('a')], carriedTo).map(({ previousValue }) =>
        previousValue === undefined ? undefined : String(previousValue),
      )
    expect(carried(2)).toEqual([undefined, undefined, undefined, undefined])
    expect(carried(3)).toEqual(['a@3', undefined, undefined, undefined])
    expect(carried(5)).toEqual(['a@3', 'b@5', undefined, undefined])
  })

  it('leave an entry, unless they delete it', () => {
    const [changed, deleted] = changes([put('b', Buffer.from('new')), remove('a')])
    expect(changed && entryAfter(changed)).toEqual({
      key: 'b',
      value: Buffer.from('new'),
      modRevision: 9,
      createRevision: 2,
    })
    expect(deleted && entryAfter(deleted)).toBeUndefined()
  })
})

it('a key is looked up once, also where there is nothing', () => {
  const asked: string[] = []
  const lookup = lookupOnce((key) => {
    asked.push(key)
    return key === 'a' ? entry('a', 1) : undefined
  })
  expect([lookup('a'), lookup('a'), lookup('b'), lookup('b')]).toEqual([
    entry('a', 1),
    entry('a', 1),
    undefined,
    undefined,
  ])
  expect(asked).toEqual(['a', 'b'])
})
