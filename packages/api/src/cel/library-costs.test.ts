import { describe, expect, it } from 'vitest'
import { authorizerTypeName } from './library/authorizer.ts'
import { compileCel } from './program.ts'

/** Costs as Kubernetes estimates them: the facts of its k8s.io/apiserver/pkg/cel/library/cost_test.go. */
type Case = readonly [expression: string, min: number, max: number]

const numbers = '[1, 2, 3, 4, 5]'
const unsigned = '[uint(1), uint(2), uint(3), uint(4), uint(5)]'
const truths = '[false, true, false, true, false]'
const texts = "['012345678901', '012345678901', '012345678901', '012345678901', '012345678901']"
const bytes = `[${Array.from({ length: 5 }, () => "bytes('012345678901')").join(', ')}]`
const durations = "[duration('1s'), duration('2s'), duration('3s'), duration('4s'), duration('5s')]"
const text = "'01234567890123456789012345678901234567890123456789'"
const url = "url('https:://kubernetes.io/')"
const v4 = "ip('192.168.0.1')"
const v6 = "ip('2001:db8:3333:4444:5555:6666:7777:8888')"
const v4Block = "cidr('192.168.0.0/16')"
const v6Block = "cidr('2001:db8::/32')"
const prose = "'ABCDEFGHIJ abcdefghij'"
const words = "'abc 123 def 123'"
const resource =
  "authorizer.group('apps').resource('deployments').subresource('status').namespace('test').name('backend')"

const selector = 'spec.nodeName=example-node-name.fully.qualified.domain.name.example.com'

/** The same cost for each of some expressions. */
const each = (expressions: readonly string[], min: number, max: number): readonly Case[] =>
  expressions.map((expression) => [expression, min, max])

const lists: readonly Case[] = [
  ...each([`${numbers}.sum()`, '[1.0, 2.0, 3.0, 4.0, 5.0].sum()'], 15, 15),
  ...each([`${unsigned}.sum()`, `${durations}.sum()`], 20, 20),
  ...['isSorted', 'max', 'min'].flatMap((name): readonly Case[] => [
    ...each([`${numbers}.${name}()`, `${truths}.${name}()`], 15, 15),
    [`${durations}.${name}()`, 20, 20],
    [`${texts}.${name}()`, 15, 25],
    [`${bytes}.${name}()`, 25, 35],
  ]),
  ...['indexOf', 'lastIndexOf'].flatMap((name): readonly Case[] => [
    [`${numbers}.${name}(3)`, 15, 15],
    [`${unsigned}.${name}(uint(3))`, 21, 21],
    [`${texts}.${name}('x')`, 15, 25],
    [`${bytes}.${name}(bytes('x'))`, 26, 36],
    [`${text}.${name}('123')`, 5, 5],
  ]),
  ['sets.contains([], [])', 21, 21],
  ['sets.contains([1, 1], [1])', 23, 23],
  ['sets.contains([[1], [2, 3]], [[2, 3.0]])', 53, 53],
  ['sets.equivalent([1, 2, 3], [3u, 2.0, 1])', 39, 39],
  ['sets.equivalent([[1.0], [2, 3]], [[1], [2, 3.0]])', 69, 69],
  ['sets.intersects([1, 2], [2u, 2, 2.0])', 27, 27],
  ['!sets.intersects([1], [])', 22, 22],
]

/** As version 3 of cel-go's list library has them: facts of its ext/lists_test.go. */
const listLibrary: readonly Case[] = [
  ['lists.range(4) == [0, 1, 2, 3]', 26, 26],
  ['lists.range(4 / 2) == [0, 1]', Infinity, Infinity],
  ['[[1, 2], 3].flatten(1) == [1, 2, 3]', 44, 44],
  ['[[1, 2], 3].flatten(2) == [1, 2, 3]', 46, 46],
  ['[[1, 2], 3].flatten(3) == [1, 2, 3]', 48, 48],
  ['[1, 2, 3].distinct() == [1, 2, 3]', 50, 50],
  ['[1, 1, 1].distinct() == [1]', 50, 50],
  ['[3, 2, 1].sort()', 39, 39],
  ["['b', 'a'].sort()", 30, 30],
  ["[{'x': 4}, {'x': 3}].sortBy(m, m['x']) == [{'x': 3}, {'x': 4}]", 211, 211],
  ['[3, 2, 1].reverse()', 24, 24],
  ['[1, 2, 3].slice(1, 3)', 23, 23],
]

const strings: readonly Case[] = [
  ...each([`${prose}.lowerAscii()`, `${prose}.upperAscii()`, `strings.quote(${prose})`], 3, 3),
  [`${prose}.lowerAscii() == 'abcdefghij ABCDEFGHIJ'.lowerAscii()`, 7, 9],
  [`strings.quote(${prose}) == strings.quote(${prose})`, 7, 11],
  ...each(
    ["('123', '456')", "('', 'x')", "('123', '')", "('123', '456', 1)"].map((args) => `${words}.replace${args}`),
    3,
    3,
  ),
  ...each([`${words}.split(' ')`, `${words}.split(' ', 1)`], 3, 3),
  ...each([`${words}.substring(5)`, `${words}.substring(5, 8)`, "'  abc 123 def 123  '.trim()"], 2, 2),
  ["['aa', 'bb', 'cc', 'd', 'e', 'f', 'g', 'h', 'i', 'j'].join(' ')", 11, 23],
  ["['aa', 'bb', 'cc', 'd', 'e', 'f', 'g', 'h', 'i', 'j'].join()", 10, 22],
  ...each([`${words}.find('123')`, `${words}.findAll('123')`, `${words}.findAll('123', 1)`], 2, 2),
]

const values: readonly Case[] = [
  ...each([`${url}.getScheme()`, `${url}.getHost()`, `${url}.getPort()`, `${url}.getQuery()`], 4, 4),
  [`${url} == url('https:://kubernetes.io/')`, 7, 9],
  [`${url} == url('http://x.b')`, 5, 5],
  [v4, 2, 2],
  [v6, 4, 4],
  ...each([`${v4}.family()`, `${v4}.isLoopback()`, `${v4}.isGlobalUnicast()`], 3, 3),
  [`${v6}.isLinkLocalMulticast()`, 5, 5],
  [`${v6} == ${v4}`, 7, 7],
  ["ip.isCanonical('192.168.0.1')", 3, 3],
  ["ip.isCanonical('2001:db8:3333:4444:5555:6666:7777:8888')", 8, 8],
  ...each([v4Block, v6Block], 2, 2),
  ...each([`${v4Block}.ip()`, `${v4Block}.prefixLength()`, `${v4Block}.masked()`], 3, 3),
  [`${v4Block} == ${v6Block}`, 5, 5],
  [`${v4Block}.containsCIDR(cidr('192.168.0.0/16'))`, 7, 11],
  [`${v4Block}.containsCIDR('192.168.0.0/16')`, 7, 11],
  [`${v4Block}.containsIP(ip('192.0.0.1'))`, 4, 7],
  [`${v4Block}.containsIP('192.169.0.1')`, 5, 8],
  [`${v6Block}.containsCIDR('2001:db8::/126')`, 7, 11],
  [`${v6Block}.containsIP(${v6})`, 7, 10],
  [`${v6Block}.containsIP('2001:db8::1')`, 5, 8],
  ["quantity('200M') == quantity('0.2G') && quantity('0.2G') == quantity('200M')", 3, 6],
  ["quantity('50M').isLessThan(quantity('50Mi'))", 3, 3],
  ["quantity('50k').add(20).sub(quantity('100k')).sub(-50000).asInteger() > 0", 7, 7],
  ["quantity('50.703k').asApproximateFloat() > 0.0", 3, 3],
  ...each(["semver('1.0.0')", "isSemver('1.0.0')"], 1, 1),
  ...each(["semver('1234.56789012345.67890123456789')", "isSemver('1234.56789012345.67890123456789')"], 4, 4),
  ["semver('1.1.0').isGreaterThan(semver('1.0.0'))", 3, 3],
  ["format.named('dns1123Label')", 1, 1],
  ["format.named('dns1123Subdomain').value().validate('my-name')", 34, 34],
  ["format.named('dns1123Label').value().validate('my-name')", 34, 34],
  ["format.named('dns1123Label').value() == format.named('dns1123Label').value()", 5, 11],
]

const authorizations: readonly Case[] = [
  ["authorizer.path('/healthz')", 2, 2],
  [resource, 6, 6],
  ...['fieldSelector', 'labelSelector'].map(
    (name): Case => [`authorizer.group('').resource('pods').${name}('${selector}')`, 1821, 1821],
  ),
  ["authorizer.path('/healthz').check('get').allowed()", 350_003, 350_003],
  [`${resource}.check('create').allowed()`, 350_007, 350_007],
]

const twoVariables: readonly Case[] = [
  ["{'a': 1, 'b': 2}.all(k, v, v > 0)", 37, 41],
  ["{'a': 1, 'b': 2}.exists(k, v, v > 0)", 39, 43],
  ["{'a': 1, 'b': 2}.existsOne(k, v, v > 0)", 38, 40],
  ["{'a': 1, 'b': 2}.transformMap(k, v, v + 1)", 71, 71],
  ["{'a': 1, 'b': 2}.transformMap(k, v, v < 5, v + 1)", 67, 75],
  ["{'a': 1, 'b': 2}.transformMapEntry(k, v, {k: v + 1})", 131, 131],
  ["{'a': 1, 'b': 2}.transformMapEntry(k, v, v < 5, {k: v + 1})", 67, 135],
  ['[1, 2].all(i, v, v > 0)', 17, 21],
  ['[1, 2].exists(i, v, v > 0)', 19, 23],
  ['[1, 2].existsOne(i, v, v > 0)', 18, 20],
  ['[1, 2].transformList(i, v, v + 1)', 49, 49],
  ['[1, 2].transformList(i, v, v < 5, v + 1)', 27, 53],
]

const variables = new Map([['authorizer', { kind: 'opaque' as const, name: authorizerTypeName }]])

// Texts whose size nothing tells have up to 12 characters.
const sizeAt = (path: readonly string[]) => (path.join('.') === '@items' ? { min: 0, max: 12 } : undefined)

describe.each([
  ['lists', lists],
  ['the list library', listLibrary],
  ['strings', strings],
  ['values', values],
  ['authorizations', authorizations],
  ['loops with two variables', twoVariables],
])("estimates of %s are upstream's, and no less than what is spent", (_, cases) => {
  it.each(cases)('%s', (expression, min, max) => {
    const compiled = compileCel(expression, variables, { literals: 'mixed' })
    if ('problem' in compiled) throw new Error(compiled.problem)
    expect(compiled.program.estimateCost(sizeAt)).toEqual({ min, max })
    expect(compiled.program.run(new Map(), 1_000_000).cost).toBeLessThanOrEqual(max)
  })
})
