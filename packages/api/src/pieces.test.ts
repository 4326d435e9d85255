import { describe, expect, it } from 'vitest'
import type { JsonSchemaProps } from './custom/json-schema-props.ts'
import { readCustomSchema } from './custom/read-custom-schema.ts'
import { FieldPath } from './field-path.ts'
import type { KubernetesObject } from './meta.ts'
import { dear, Pieces, pieceWeightMax } from './pieces.ts'
import { compile } from './schema/compile.ts'

/** What work comes to, and in how many pieces. */
function inPieces<T>(work: () => T): { readonly result: T; readonly count: number } {
  const pieces = new Pieces(work)
  for (let count = 1; ; count += 1) {
    const done = pieces.next()
    if (done !== undefined) return { ...done, count }
  }
}

const names = { group: 'x.io', version: 'v1', kind: 'Thing' }
const times = <T>(count: number, make: (index: number) => T): readonly T[] =>
  Array.from({ length: count }, (_, index) => make(index))
const withSpec = (spec: unknown) => ({ type: 'object', properties: { spec } }) as JsonSchemaProps
const read = (spec: unknown) => readCustomSchema(withSpec(spec), FieldPath.root, names)
const thing = (spec: unknown) =>
  ({ apiVersion: 'x.io/v1', kind: 'Thing', metadata: { name: 'a' }, spec }) as KubernetesObject

describe('work that knows what is dear in it', () => {
  const weighing = (weight: number) => {
    const asked: string[] = []
    const ask = (name: string) =>
      dear(
        'questions',
        () => name,
        undefined,
        () => asked.push(name),
        () => weight,
      )
    return { asked, work: () => ['a', 'b', 'c'].map(ask) }
  }

  it('is done in pieces, each of which ends before the next dear part, and nothing is found out twice', () => {
    const { asked, work } = weighing(pieceWeightMax)
    expect(inPieces(work)).toEqual({ result: [1, 2, 3], count: 3 })
    expect(asked).toEqual(['a', 'b', 'c'])
  })

  it('is done at once where that is little', () => {
    expect(inPieces(weighing(1).work).count).toBe(1)
  })

  it('is done to its end where nothing of it can be remembered', () => {
    let value = 0
    const work = () =>
      times(3, () =>
        dear(
          'questions',
          () => 'a',
          ++value,
          () => value,
          () => pieceWeightMax,
        ),
      )
    expect(inPieces(work).count).toBeLessThan(10)
  })

  it('throws what it throws', () => {
    expect(() =>
      inPieces(() =>
        dear(
          'a',
          () => '',
          0,
          () => {
            throw new RangeError('no')
          },
          () => 0,
        ),
      ),
    ).toThrow('no')
  })
})

describe('custom resources are judged in pieces', () => {
  const numbers = { type: 'array', maxItems: 200, items: { type: 'integer' } }
  const rule = (index: number) => ({
    rule: `self.a.all(x, self.b.all(y, x + y + ${index} > 0))`,
    messageExpression: `"no " + string(self.a.all(x, self.b.all(y, x + y < ${index} + 1000000)))`,
  })
  const hundred = times(100, () => 1)

  it.each([
    ['by dear rules', { a: hundred, b: hundred }, 4],
    ['by rules with dear messages', { a: hundred, b: times(100, () => -9) }, 4],
  ])('%s', (_, spec, least) => {
    const { schema } = read({
      type: 'object',
      'x-kubernetes-validations': times(12, rule),
      properties: { a: numbers, b: numbers },
    })
    const { validate } = compile(schema)
    const { result, count } = inPieces(() => validate(thing(spec)))
    expect(count).toBeGreaterThanOrEqual(least)
    expect(result).toEqual(validate(thing(spec)))
  })

  it('by many patterns of a long text', () => {
    const { schema } = read({
      type: 'object',
      properties: { a: { type: 'string', allOf: times(10, (index) => ({ pattern: `^a*${index}?$` })) } },
    })
    const { validate } = compile(schema)
    const text = thing({ a: 'a'.repeat(pieceWeightMax / 2) })
    expect(inPieces(() => validate(text))).toEqual({ result: [], count: 5 })
  })

  it('and updates as what they change', () => {
    const { schema } = read({
      type: 'object',
      'x-kubernetes-validations': [rule(0), { rule: 'self.a == oldSelf.a' }, rule(1), rule(2), rule(3)],
      properties: { a: numbers, b: numbers },
    })
    const { validate } = compile(schema)
    const [old, value] = [thing({ a: hundred, b: hundred }), thing({ a: [...hundred, 1], b: hundred })]
    const { result, count } = inPieces(() => validate(value, { old }))
    expect(count).toBeGreaterThan(1)
    expect(result).toEqual(validate(value, { old }))
    expect(result).toHaveLength(1)
  })
})

describe('definitions are read in pieces', () => {
  it.each<[what: string, spec: () => unknown]>([
    [
      'with many rules',
      () => ({
        type: 'object',
        properties: { a: { type: 'integer' } },
        'x-kubernetes-validations': times(1_000, (index) => ({ rule: `self.a > ${index} || self.a < ${index} - 1` })),
      }),
    ],
    [
      'with rules that cannot be read',
      () => ({
        type: 'object',
        properties: { a: { type: 'integer' } },
        'x-kubernetes-validations': times(1_000, (index) => ({ rule: `self.b > ${index} || self.a < ${index} - 1` })),
      }),
    ],
    [
      'with large patterns',
      () => ({
        type: 'object',
        properties: Object.fromEntries(
          times(30, (index) => [`k${index}`, { type: 'string', pattern: `(a?){900}${index}` }]),
        ),
      }),
    ],
    [
      'with defaults that have rules',
      () => ({
        type: 'object',
        default: { a: 1 },
        properties: {
          a: {
            type: 'integer',
            default: 0,
            'x-kubernetes-validations': times(600, (index) => ({
              rule: `self > ${index} || self < ${index}`,
              optionalOldSelf: false,
            })),
          },
        },
      }),
    ],
  ])('%s', (_, spec) => {
    const [made, again] = [spec(), spec()]
    const { result, count } = inPieces(() => read(made))
    expect(count).toBeGreaterThan(1)
    expect(result.errors).toEqual(read(again).errors)
  })
})
