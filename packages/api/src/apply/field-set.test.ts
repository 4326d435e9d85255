import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  differenceOf,
  type FieldSet,
  FieldSetBuilder,
  intersectionOf,
  nodeBelow,
  pathsOf,
  recursiveDifferenceOf,
  sameFields,
  unionOf,
} from './field-set.ts'
import { fieldSetFrom } from './managed-fields.ts'

/** Paths of few elements, so that sets of them meet. */
const path = fc.array(fc.constantFrom('f:a', 'f:b', 'v:1', 'k:{"n":"x"}'), { minLength: 1, maxLength: 4 })
const paths = fc.array(path, { maxLength: 12 })

const text = (elements: readonly string[]): string => elements.join('/')
const textsOf = (set: FieldSet): readonly string[] => [...pathsOf(set)].map(text).sort()

function setOf(all: readonly (readonly string[])[]): FieldSet {
  const builder = new FieldSetBuilder()
  for (const each of all) each.reduce(nodeBelow, builder.root).member = true
  return builder.build()
}

const model = (all: readonly (readonly string[])[]): readonly string[] => [...new Set(all.map(text))].sort()

describe('field sets', () => {
  it('hold the paths put into them', () => {
    fc.assert(
      fc.property(paths, (all) => {
        expect(textsOf(setOf(all))).toEqual(model(all))
      }),
    )
  })

  it.each<[string, (a: FieldSet, b: FieldSet) => FieldSet, (path: string, a: string[], b: string[]) => boolean]>([
    ['union', unionOf, () => true],
    ['intersection', intersectionOf, (each, a, b) => a.includes(each) && b.includes(each)],
    ['difference', differenceOf, (each, a, b) => a.includes(each) && !b.includes(each)],
    [
      'recursive difference',
      recursiveDifferenceOf,
      (each, a, b) => a.includes(each) && !b.some((above) => each === above || each.startsWith(`${above}/`)),
    ],
  ])('have the %s of what they hold', (_name, operation, isKept) => {
    fc.assert(
      fc.property(paths, paths, (a, b) => {
        const [left, right] = [[...model(a)], [...model(b)]]
        const expected = [...new Set([...left, ...right])].filter((each) => isKept(each, left, right)).sort()
        const result = operation(setOf(a), setOf(b))
        expect(textsOf(result)).toEqual(expected)
        expect(result).toEqual(setOf(expected.map((each) => each.split('/'))))
        expect(Object.keys(result)).toEqual(Object.keys(result).sort())
      }),
    )
  })

  it('are themselves where an operation changes nothing', () => {
    fc.assert(
      fc.property(paths, (all) => {
        const set = setOf(all)
        expect(unionOf(set, setOf([]))).toBe(set)
        expect(differenceOf(set, setOf([['f:other']]))).toBe(set)
        expect(sameFields(set, setOf(all.toReversed()))).toBe(true)
      }),
    )
  })

  it('are the JSON of fieldsV1, in the order of their elements', () => {
    const json = { 'f:b': { '.': {}, 'f:c': {} }, 'f:a': {}, 'f:l': { 'k:{"name":"x"}': { '.': {}, 'f:name': {} } } }
    expect(JSON.stringify(fieldSetFrom(json))).toBe(
      '{"f:a":{},"f:b":{".":{},"f:c":{}},"f:l":{"k:{\\"name\\":\\"x\\"}":{".":{},"f:name":{}}}}',
    )
  })

  it.each<[string, unknown, unknown]>([
    ['keys are in order', { 'k:{"protocol":"TCP","port":80}': {} }, { 'k:{"port":80,"protocol":"TCP"}': {} }],
    ['texts are escaped as little as can be', { 'v:"a\\u003cb"': {} }, { 'v:"a<b"': {} }],
    ['there is no space around', { 'v: "a" ': {}, 'k:{ "name": "x" }': {} }, { 'k:{"name":"x"}': {}, 'v:"a"': {} }],
    ['numbers are as short as can be', { 'v:1.0': {}, 'i:+01': {} }, { 'i:1': {}, 'v:1': {} }],
    ['numbers of 64 bits are exact', { 'v:9007199254740993': {} }, { 'v:9007199254740993': {} }],
    ['null has no keys, and nothing below it', { 'k:null': null }, { 'k:{}': {} }],
    ['what has nothing below it needs no mark', { 'f:a': { '.': {} } }, { 'f:a': {} }],
    ['what a mark holds is nothing', { 'f:a': { '.': { 'f:x': {} }, 'f:b': {} } }, { 'f:a': { '.': {}, 'f:b': {} } }],
    ['the whole is no field', { '.': {}, 'f:a': {} }, { 'f:a': {} }],
    ['elements of later kinds are left out', { 'x:a': { 'f:b': {} }, 'f:a': {} }, { 'f:a': {} }],
    [
      'an element that is written in two ways has what both have',
      { 'k:{"a":1,"b":2}': { 'f:x': {} }, 'k:{"b":2,"a":1}': { 'f:y': {} } },
      { 'k:{"a":1,"b":2}': { 'f:x': {}, 'f:y': {} } },
    ],
  ])('are read as this server writes them: %s', (_why, json, set) => expect(fieldSetFrom(json)).toEqual(set))

  it.each([[{ a: {} }], [{ 'f:a': 1 }], [{ 'k:x': {} }], [{ 'v:{': {} }], [{ 'i:x': {} }], [[]], ['f:a']])(
    'are not read from %j',
    (json) => expect(fieldSetFrom(json)).toBeUndefined(),
  )
})
