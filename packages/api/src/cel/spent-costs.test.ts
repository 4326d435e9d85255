import { expect, it } from 'vitest'
import { compileCel } from './program.ts'
import { types } from './types.ts'
import { CelMap } from './values.ts'

const variables = new Map([['self', types.dyn]])
const values = new Map([['self', new CelMap([])]])
const long = "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaa'"

// What cel-go 0.26 counts in the environment of Kubernetes 1.36, where `self` is an empty map.
it.each<[expression: string, cost: number]>([
  // Texts are walked through, empty ones for nothing.
  ["'tacocat'.indexOf('')", 0],
  ["'tacocat'.charAt(7) == ''", 1],
  ["'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'.indexOf('b')", 3],
  ["['a', 'b', 'c'].join(',') == 'a'", 2],
  ['[].join()', 0],
  ["['aa', 'bb', 'cc', 'd', 'e', 'f', 'g', 'h', 'i', 'j'].join(' ')", 5],
  ['strings.quote("printable unicode😀")', 2],
  [`${long}.startsWith('a')`, 3],
  ["''.contains('a')", 0],
  [`matches(${long}, 'a+')`, 1],
  [`${long}.matches('a+')`, 3],
  [`${long}.lowerAscii()`, 3],
  // Where only the run tells which overload is meant, a call costs what any does.
  [`dyn(${long}) < dyn('b')`, 1],
  [`${long} < 'b'`, 1],
  [`${long} + dyn(${long})`, 6],
  [`dyn(${long}) + dyn(${long})`, 1],
  ['1 in dyn([1, 2, 3])', 1],
  ['dyn([2, 1]).sort()', 1],
  ['[2, 1].sort()', 19],
  // Comparing looks at the smaller one.
  ['[] == [1, 2]', 0],
  [`optional.of(${long}) == optional.of(${long})`, 5],
  ["quantity('1') != quantity('2')", 3],
  ["ip('1.1.1.1') == ip('1.1.1.1')", 3],
  // Sets are compared element by element.
  ['sets.contains([1, 2, 3, 4], [2, 3])', 9],
  ['sets.equivalent([1], [1, 1])', 5],
  ['sets.intersects([2, 1], [1])', 3],
  // Networks count by the bytes that their length covers.
  ["cidr('192.168.0.0/24').containsIP(ip('192.168.0.1'))", 5],
  ["cidr('192.168.0.0/24').containsIP('192.168.0.1')", 5],
  ["cidr('192.168.0.0/24').containsCIDR(cidr('192.168.0.0/25'))", 7],
  ["cidr('2001:db8::/32').containsCIDR('2001:db8::/33')", 7],
  // Formats count by their patterns.
  ["format.dns1123Label().validate('my-label-name')", 17],
  ["format.dns1123Subdomain().validate('apiextensions.k8s.io')", 46],
  ["format.labelValue().validate('my-cool-label-Value')", 21],
  ["format.uri().validate('http://example.com')", 553],
  ["format.uuid().validate('123e4567-e89b-12d3-a456-426614174000')", 73],
  ["format.byte().validate('aGVsbG8=')", 22],
  ["format.date().validate('2021-01-01')", 37],
  ["format.datetime().validate('2021-01-01T00:00:00Z')", 55],
  // Types are known before it runs.
  ['int == type(1)', 1],
  ["{'a': int}.a == int", 3],
  // A call whose arguments have no value is counted, and the second of two arguments is looked at.
  ['self.a.b.c == self.d', 5],
  ['ip(self.a)', 3],
  ["'a'.replace('b', self.c, 1)", 2],
  ['1/0 != 0 || true', 2],
])('%s costs %d', (expression, cost) => {
  const compiled = compileCel(expression, variables)
  if ('problem' in compiled) throw new Error(compiled.problem)
  expect(compiled.program.run(values, 1_000_000).cost).toBe(cost)
})
