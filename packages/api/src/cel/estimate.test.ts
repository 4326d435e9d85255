import { expect, it } from 'vitest'
import { estimateCall, type Operand } from './call-estimates.ts'
import { overload } from './functions.ts'
import { compileCel } from './program.ts'
import { exactly, type Range } from './ranges.ts'
import { type CelType, listOf, mapOf, types } from './types.ts'

const message: CelType = { kind: 'object', name: 'Message', fields: new Map([['single_int32', types.int]]) }
const constructible = (name: string) => (name === 'Message' ? { type: message, fieldType: () => types.int } : undefined)
const messages = listOf(message)
const texts = listOf(types.string)
const numbers = listOf(types.int)

type Case = readonly [
  expression: string,
  variables: Readonly<Record<string, CelType>>,
  sizes: Readonly<Record<string, number>>,
  min: number,
  max: number,
]

/** Costs as cel-go's checker estimates them: the facts of its cost_test.go, without a cost for `has()`. */
const languageCases: readonly Case[] = [
  ['"Hello World!"', {}, {}, 0, 0],
  ['input', { input: numbers }, {}, 1, 1],
  ["input['key']", { input: mapOf(types.string, types.string) }, {}, 2, 2],
  ['input.single_int32', { input: message }, {}, 2, 2],
  ['has(input.single_int32)', { input: message }, {}, 1, 1],
  ['has(input.a.b)', { input: mapOf(types.string, mapOf(types.string, message)) }, {}, 2, 2],
  ['[1, 2, 3]', {}, {}, 10, 10],
  ['{"a": 1, "b": 2, "c": 3}', {}, {}, 30, 30],
  ['input.all(x, true)', { input: messages }, { input: 100 }, 2, 302],
  ['input.all(x, x.all(y, true))', { input: listOf(messages) }, { input: 50, 'input.@items': 10 }, 2, 1752],
  ['[1, 2, 3].all(x, true)', {}, {}, 20, 20],
  ["input.matches('[0-9]')", { input: types.string }, { input: 500 }, 3, 103],
  ["'123'.matches('[0-9]')", {}, {}, 2, 2],
  ['true || false', {}, {}, 0, 0],
  ['a || b || c || d', { a: types.bool, b: types.bool, c: types.bool, d: types.bool }, {}, 1, 4],
  ['a && b && c && d', { a: types.bool, b: types.bool, c: types.bool, d: types.bool }, {}, 1, 4],
  ['1 < 2', {}, {}, 1, 1],
  ['1 == 2', {}, {}, 1, 1],
  ['2 in [1, 2, 3]', {}, {}, 13, 13],
  ['1 + 1', {}, {}, 1, 1],
  ['true ? 1 : 2', {}, {}, 0, 0],
  ['size("123")', {}, {}, 1, 1],
  ['string(input)', { input: types.bytes }, { input: 500 }, 1, 51],
  ['string(input) == string(input)', { input: types.bytes }, { input: 500 }, 3, 152],
  ['bytes(input)', { input: types.string }, { input: 500 }, 1, 51],
  ['bytes(input) == bytes(input)', { input: types.string }, { input: 500 }, 3, 302],
  ['string(1)', {}, {}, 1, 1],
  ['input.contains(part)', { input: types.string, part: types.string }, { input: 500, part: 500 }, 2, 2502],
  ["input.matches('\\\\d+a\\\\d+b')", { input: types.string }, { input: 500 }, 3, 103],
  ['input.startsWith(part)', { input: types.string, part: types.string }, { part: 500 }, 2, 52],
  ['input.endsWith(part)', { input: types.string, part: types.string }, { part: 500 }, 2, 52],
  ['input.size()', { input: types.string }, {}, 2, 2],
  ['(x > 2 ? a : b).all(y, true)', { x: types.int, a: messages, b: messages }, { a: 1, b: 1 }, 4, 7],
  ['input.all(k, input[k].single_int32 > 3)', { input: mapOf(types.string, message) }, { input: 10 }, 2, 82],
  [
    'input.all(k, input[k].all(x, true))',
    { input: mapOf(types.string, mapOf(types.string, message)) },
    { input: 5, 'input.@values': 10 },
    2,
    187,
  ],
  ['input.all(k, k.contains(k))', { input: mapOf(types.string, message) }, { input: 5, 'input.@keys': 10 }, 2, 32],
  [
    'input.all(k, input[k].all(k, true) && k.contains(k))',
    { input: mapOf(types.string, mapOf(types.string, message)) },
    { input: 2, 'input.@values': 2, 'input.@keys': 5 },
    2,
    34,
  ],
  ['(a + b).all(x, true)', { a: numbers, b: numbers }, { a: 10, b: 10 }, 4, 64],
  ['"abcdefg".contains(a + b)', { a: types.string, b: types.string }, { a: 10, b: 10 }, 2, 6],
  ['a.size() == b.size()', { a: numbers, b: numbers }, {}, 5, 5],
  ['x > y ? a.size() : b.size()', { x: types.int, y: types.int, a: numbers, b: numbers }, {}, 5, 5],
  ['([x, y] + a + b).size()', { x: types.int, y: types.int, a: numbers, b: numbers }, { a: 10, b: 20 }, 17, 17],
  [
    "[a, b].exists(l, l.exists(v, v.startsWith('hi')))",
    { a: texts, b: texts },
    { a: 10, 'a.@items': 64, b: 20, 'b.@items': 128 },
    21,
    265,
  ],
  [
    'a.endsWith("abcdefghijklmnopqrstuvwxyz") == b.endsWith("abcdefghijklmnopqrstuvwxyz")',
    { a: types.string, b: types.string },
    {},
    9,
    9,
  ],
  ['((5 != 6) == (1 == 2)) == ((3 <= 4) == (9 != 9))', {}, {}, 7, 7],
  ['string(a) == string(b)', { a: types.timestamp, b: types.timestamp }, {}, 5, Infinity],
  ['a == b', { a: types.timestamp, b: types.timestamp }, {}, 3, 3],
  ['[1,2,3,4,5].filter(x, x % 2 == 0)', {}, {}, 41, 101],
  ['[1,2,3,4,5].map(x, x)', {}, {}, 86, 86],
  ['[1,2,3,4,5].map(x, x).filter(x, x % 2 == 0)', {}, {}, 117, 177],
  ['[1,2,3,4,5].map(x, x).exists(x, x == 5) == true', {}, {}, 108, 118],
  ['[1,2,3,4,5].map(x, x).map(x, x)', {}, {}, 162, 162],
  ['[1,2,3,4,5].map(x, x)[4]', {}, {}, 87, 87],
  ['[[1,2],[1,2],[1,2],[1,2],[1,2]][4]', {}, {}, 61, 61],
  ["{'a': [1,2], 'b': [1,2], 'c': [1,2], 'd': [1,2], 'e': [1,2]}.b", {}, {}, 81, 81],
  ['[[1, 1], [2, 2], [3, 3], [4, 4], [5, 5]].all(y, y.all(y, y == 1))', {}, {}, 76, 136],
  ['[1,2,3,4,5].map(x, [x, x]).all(y, y.all(y, y == 1))', {}, {}, 157, 217],
  ['["a", "ab", "abc"].map(x, [x, x]).all(y, y.all(y, y.startsWith("a")))', {}, {}, 103, 139],
  [
    "input.map(x, [x, x]).all(y, y.all(y, y.startsWith('a')))",
    { input: texts },
    { input: 5, 'input.@items': 10 },
    13,
    208,
  ],
  ['[1,2,3,4,5].map(x, x).map(x, x) + [1]', {}, {}, 173, 173],
  ['[1,2,3].all(i, i in [1,2,3].map(j, j + j))', {}, {}, 20, 230],
  ['dyn([1,2,3]).all(i, i in dyn([1,2,3]).map(j, j + j))', {}, {}, 21, 234],
  ["{'hello': 'hi'}['hello'] != {'hello': 'bye'}['hello']", {}, {}, 63, 63],
  ["['hello', 'hi'][0] != ['hello', 'bye'][1]", {}, {}, 23, 23],
  ['type(1)', {}, {}, 1, 1],
  ['type(self.val1)', { self: mapOf(types.string, types.int) }, {}, 3, 3],
  ['type(self.val1) == int', { self: mapOf(types.string, types.int) }, {}, 5, Infinity],
  ['self.val1 == 1.0', { self: mapOf(types.string, types.double) }, {}, 3, 3],
  [
    "self.val1 == timestamp('2011-08-18T00:00:00.000+01:00') + duration('19h3m37s10ms')",
    { self: mapOf(types.string, types.timestamp) },
    {},
    6,
    6,
  ],
  ['self.val1 != self.val2', { self: mapOf(types.string, types.bool) }, {}, 5, 5],
  ['a != b', { a: types.duration, b: types.duration }, {}, 3, 3],
  ['a == 1.0', { a: types.double }, {}, 2, 2],
  ['Message{single_int32: 1}', {}, {}, 40, 40],
  // ext/bindings_test.go
  ["cel.bind(a, 'hell' + 'o' + '!', '%s, %s, %s'.format([a, a, a])) == 'hello!, hello!, hello' + '!'", {}, {}, 30, 32],
  ["cel.bind(a, 'hello!', cel.bind(b, 'goodbye', a + ' and, ' + b)) == 'hello! and, goodbye'", {}, {}, 27, 28],
  ["cel.bind(a, cel.bind(a, 'world', a + '!'), 'hello ' + a) == 'hello ' + 'world' + '!'", {}, {}, 30, 31],
  ['cel.bind(a, x, cel.bind(b, a[0], cel.bind(c, a[1], b + c))) == 10', { x: numbers }, { x: 3 }, 39, 39],
  [
    "cel.bind(a, x, cel.bind(b, a[0], cel.bind(c, a[1], b + c))) == 'threeseven'",
    { x: texts },
    { x: 3, 'x.@items': 10 },
    38,
    40,
  ],
  // ext/lists_test.go
  ['[[1, 2], 3].flatten(1) == [1, 2, 3]', {}, {}, 44, 44],
  ['[[1, 2], 3].flatten(2) == [1, 2, 3]', {}, {}, 46, 46],
  ['[[1], 2, 3].flatten() == [1, 2, 3]', {}, {}, 45, 45],
  ['x.flatten() == [1, 2, 3]', { x: listOf(types.dyn) }, { x: 3 }, 23, 26],
  ['[[1, 2], 3].flatten(x) == [1, 2, 3]', { x: types.int }, { x: 10 }, Infinity, Infinity],
  ['[1, 1, 1].distinct() == [1]', {}, {}, 50, 50],
  ["x.distinct() == ['hello']", { x: texts }, { x: 3 }, 23, 41],
  ['[1, 2, 3, 4, 5].slice(x, y) == [2, 3]', { x: types.int, y: types.int }, {}, 39, 39],
  ['z.slice(1, 3) == [2, 3]', { z: numbers }, { z: 10 }, 25, 25],
  ['z.slice(x, y) == [2, 3]', { x: types.int, y: types.int, z: numbers }, { z: 10 }, 35, 35],
  ['[3, 2, 1].reverse() == [1, 2, 3]', {}, {}, 35, 35],
  ['x.reverse() == [1, 2, 3]', { x: numbers }, { x: 5 }, 23, 28],
]

/** What follows from cel-go's rules, where its tests have no case. */
const rules: readonly Case[] = [
  // The shorter text decides, and an empty one costs nothing.
  ['a < b', { a: types.string, b: types.string }, { a: 500, b: 300 }, 3, 2 + 30],
  ['a >= b', { a: types.bytes, b: types.bytes }, { a: 500, b: 300 }, 3, 2 + 30],
  ['a < b', { a: types.int, b: types.int }, {}, 3, 3],
  ["t == ''", { t: types.string }, { t: 500 }, 1, 1],
  ['a + b', { a: types.bytes, b: types.bytes }, { a: 500, b: 500 }, 2, 2 + 100],
  ["'a' in m", { m: mapOf(types.string, types.int) }, { m: 100 }, 2, 2],
  // A byte is at least a quarter of a character, a character at most four bytes.
  ["string(bytes('12345678')).contains('x')", {}, {}, 1 + 1 + 1, 1 + 4 + 4],
  ["['a', 'b'].join('12345678901234567890')", {}, { '@items': 12 }, 10 + 2, 10 + 5],
  // A value is known by its path: fields, elements, values, and what either branch gives.
  ["self.name.contains('a')", { self: mapOf(types.string, types.string) }, { 'self.name': 100 }, 2, 2 + 10],
  ["l[0].contains('a')", { l: texts }, { l: 5, 'l.@items': 100 }, 2, 2 + 10],
  ["m['a'].contains('a')", { m: mapOf(types.string, types.string) }, { m: 5, 'm.@values': 100 }, 2, 2 + 10],
  ["(x ? a : b).contains('c')", { x: types.bool, a: types.string, b: types.string }, { a: 10, b: 100 }, 2, 2 + 10],
  [
    "(x ? [a] : [b]).all(y, y.contains('c'))",
    { x: types.bool, a: types.string, b: types.string },
    { a: 10, b: 100 },
    1 + 11 + 1 + 3,
    1 + 11 + 1 + 3 + 1 + 10,
  ],
  [
    'm.all(k, v, v.contains(k))',
    { m: mapOf(types.string, types.string) },
    { m: 5, 'm.@keys': 10, 'm.@values': 100 },
    2,
    2 + 5 * (3 + 2 + 10),
  ],
  ["l.all(i, v, v.contains('a'))", { l: texts }, { l: 5, 'l.@items': 100 }, 2, 2 + 5 * (3 + 1 + 10)],
  // Nothing is repeated without end where there is nothing to repeat it for.
  ['[].all(x, a == b)', { a: types.string, b: types.string }, {}, 11, 11],
  ['optional.of(1) == optional.of(2)', {}, {}, 3, 3],
]

/** Costs of Kubernetes' libraries: k8s.io/apiserver/pkg/cel/library/cost.go. */
const kubernetesCases: readonly Case[] = [
  ["t.indexOf('a')", { t: types.string }, { t: 10 }, 1, 2],
  ["t.replace('a', 'b')", { t: types.string }, { t: 10 }, 1, 3],
  ["t.replace('a', 'bcd').contains('e')", { t: types.string }, { t: 10 }, 1, 1 + 2 + 3],
  ["t.replace('', 'b').contains('e')", { t: types.string }, { t: 10 }, 2, 1 + 2 + 3],
  ["t.split(',')", { t: types.string }, { t: 10 }, 1, 3],
  ["t.split(',').all(p, true)", { t: types.string }, { t: 10 }, 2, 2 + 2 + 10 * 3],
  ["t.split(',', 2).all(p, true)", { t: types.string }, { t: 10 }, 2, 2 + 2 + 2 * 3],
  ["l.indexOf('a')", { l: texts }, { l: 3, 'l.@items': 10 }, 1, 1 + 3 * 2],
  ['l.isSorted()', { l: texts }, { l: 3, 'l.@items': 10 }, 1, 1 + 3 * 2],
  ['l.isSorted()', { l: numbers }, { l: 3 }, 1, 1 + 3],
  ["l.join(',')", { l: texts }, { l: 3, 'l.@items': 10 }, 1, 1 + 4],
  ["t.lowerAscii().contains('a')", { t: types.string }, { t: 100 }, 1, 1 + 10 + 10],
  ["t.find('[a-z]+')", { t: types.string }, { t: 19 }, 1 + 2, 1 + 2 * 2],
  ["t.findAll('[a-z]+').all(p, true)", { t: types.string }, { t: 19 }, 4, 2 + 4 + 19 * 3],
  ['sets.contains(l, [1, 2])', { l: numbers }, { l: 10 }, 1 + 10 + 1, 1 + 10 + 1 + 20],
  ['sets.equivalent(l, [1, 2])', { l: numbers }, { l: 10 }, 1 + 10 + 1, 1 + 10 + 1 + 40],
  ['ip.isCanonical(t)', { t: types.string }, { t: 10 }, 1, 1 + 2],
  ['isQuantity(t)', { t: types.string }, { t: 1000 }, 1, 1 + 100],
  ['quantity(t) == quantity(t)', { t: types.string }, { t: 1000 }, 3, 1 + 2 * 101],
  ["cidr('10.0.0.0/8').containsIP(ip('10.0.0.1'))", {}, {}, 3, 6],
  ["cidr('10.0.0.0/8').containsIP(t)", { t: types.string }, { t: 10 }, 3, 1 + 1 + 4 + 1],
  ["cidr('10.0.0.0/8').containsCIDR(t)", { t: types.string }, { t: 10 }, 5, 1 + 1 + 7 + 1],
  ["url(t).getHost() == 'a'", { t: types.string }, { t: 100 }, 3, 1 + 10 + 1 + 1],
  ['format.dns1123Label().validate(t).hasValue()', { t: types.string }, { t: 100 }, 3, 1 + 1 + 320 + 1],
  ['int(t)', { t: types.string }, { t: 10 }, 2, 2],
  ['cel.bind(x, t, x.contains(x))', { t: types.string }, { t: 100 }, 13, 113],
]

it.each([...languageCases, ...rules, ...kubernetesCases])('%s', (expression, variables, sizes, min, max) => {
  const compiled = compileCel(expression, new Map(Object.entries(variables)), {
    constructible,
    literals: 'mixed',
    extension: 'bindings',
  })
  if ('problem' in compiled) throw new Error(compiled.problem)
  const sizeAt = (path: readonly string[]) => {
    const size = sizes[path.join('.')]
    return size === undefined ? undefined : { min: 0, max: size }
  }
  expect(compiled.program.estimateCost(sizeAt)).toEqual({ min, max })
})

// The facts of TestSize in Kubernetes' cost_test.go.
it.each<[string, Range, Range, Range, Range]>([
  ['nothing by a character', exactly(3), exactly(0), exactly(1), exactly(7)],
  ['a character by nothing', exactly(3), exactly(1), exactly(0), { min: 0, max: 3 }],
  ['two characters by four', exactly(4), exactly(2), exactly(4), { min: 4, max: 8 }],
  ['perhaps nothing', exactly(4), { min: 0, max: 1 }, { min: 0, max: 2 }, { min: 0, max: 14 }],
  ['by what is perhaps longer', exactly(4), exactly(1), { min: 1, max: 2 }, { min: 4, max: 8 }],
  ['by what is perhaps shorter', exactly(4), { min: 1, max: 2 }, exactly(1), { min: 2, max: 4 }],
])('the size of a text with parts replaced: %s', (_what, text, old, by, size) => {
  const operand = (of: Range): Operand => ({
    expression: { kind: 'identifier', name: 't', offset: 0 },
    type: types.string,
    size: of,
    elementSize: undefined,
  })
  const replace = overload('string.replace(string, string): string', (each: string) => each)
  expect(estimateCall(replace, operand(text), [operand(old), operand(by)]).size).toEqual(size)
})
