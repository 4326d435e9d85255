import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type CelOptions, compileCel } from './program.ts'
import { type CelType, listOf, types } from './types.ts'
import { CelList, CelMap, type CelValue } from './values.ts'

const costMax = 1_000_000

function programOf(source: string, variables: Readonly<Record<string, CelType>> = {}, options: CelOptions = {}) {
  const compiled = compileCel(source, new Map(Object.entries(variables)), options)
  if ('problem' in compiled) throw new Error(compiled.problem)
  return compiled.program
}

const result = (source: string): CelValue | string => {
  const outcome = programOf(source).run(new Map(), costMax)
  return 'value' in outcome ? outcome.value : `error: ${outcome.error}`
}

describe('a name that all objects of JavaScript know', () => {
  it.each(['constructor', 'toString', '__proto__', 'hasOwnProperty'])('is one like any other: %s', (name) => {
    expect(result(`{'${name}': 1}.${name}`)).toBe(1n)
    expect(result(`{}.${name}`)).toBe(`error: no such key: ${name}`)
    expect(result(`[1].map(${name}, ${name} + 1)[0]`)).toBe(2n)
    expect(() => programOf(name)).toThrow(`undeclared reference to '${name}'`)
    expect(() => programOf(`[1].${name}(x, true)`)).toThrow(`undeclared reference to '${name}'`)
  })
})

describe('what is wrong with an expression is said with its place', () => {
  it.each([
    [
      '1 +',
      "ERROR: <input>:1:4: Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}\n | 1 +\n | ...^",
    ],
    ['true &&\n  foo', "ERROR: <input>:2:3: undeclared reference to 'foo' (in container '')\n |   foo\n | ..^"],
    [
      "1 + 'a'",
      "ERROR: <input>:1:3: found no matching overload for '_+_' applied to '(int, string)'\n | 1 + 'a'\n | ..^",
    ],
    [
      '1.all(x, true)',
      "ERROR: <input>:1:1: expression of type 'int' cannot be range of a comprehension (must be list, map, or dynamic)\n | 1.all(x, true)\n | ^",
    ],
    ["'a'.foo", "ERROR: <input>:1:4: type 'string' does not support field selection\n | 'a'.foo\n | ...^"],
    [
      "'a'.size(1)",
      "ERROR: <input>:1:9: found no matching overload for 'size' applied to 'string.(int)'\n | 'a'.size(1)\n | ........^",
    ],
    ['true || 1', "ERROR: <input>:1:9: expected type 'bool' but found 'int'\n | true || 1\n | ........^"],
    ["'a' && true", "ERROR: <input>:1:1: expected type 'bool' but found 'string'\n | 'a' && true\n | ^"],
    [
      'null == 1',
      "ERROR: <input>:1:6: found no matching overload for '_==_' applied to '(null, int)'\n | null == 1\n | .....^",
    ],
    [
      "{'a': 1} == null",
      "ERROR: <input>:1:10: found no matching overload for '_==_' applied to '(map(string, int), null)'\n | {'a': 1} == null\n | .........^",
    ],
    [
      "'abc'.reverse()",
      "ERROR: <input>:1:14: found no matching overload for 'reverse' applied to 'string.()'\n | 'abc'.reverse()\n | .............^",
    ],
    [
      '[1].flatten()',
      "ERROR: <input>:1:12: found no matching overload for 'flatten' applied to 'list(int).()'\n | [1].flatten()\n | ...........^",
    ],
    [
      '{}.sortBy(k, k)',
      'ERROR: <input>:1:1: sortBy can only be applied to a list, identifier, comprehension, call or select expression',
    ],
    ['has(1)', 'ERROR: <input>:1:5: invalid argument to has() macro\n | has(1)\n | ....^'],
    ["has({'a': 1}.?a)", "ERROR: <input>:1:13: invalid argument to has() macro\n | has({'a': 1}.?a)\n | ............^"],
    [
      '1 in [[]]',
      "ERROR: <input>:1:3: found no matching overload for '@in' applied to '(int, list(list(dyn)))'\n | 1 in [[]]\n | ..^",
    ],
    [
      "[1]['a']",
      "ERROR: <input>:1:4: found no matching overload for '_[_]' applied to '(list(int), string)'\n | [1]['a']\n | ...^",
    ],
    [
      'timestamp(9999999999999)',
      'ERROR: <input>:1:11: invalid timestamp argument\n | timestamp(9999999999999)\n | ..........^',
    ],
    ['9223372036854775808', 'ERROR: <input>:1:1: invalid int literal\n | 9223372036854775808\n | ^'],
    ['if', 'ERROR: <input>:1:1: reserved identifier: if\n | if\n | ^'],
    [`${'('.repeat(300)}1${')'.repeat(300)}`, 'expression recursion limit exceeded: 250'],
  ])('%s', (source, problem) => {
    const compiled = compileCel(source, new Map())
    expect('problem' in compiled ? compiled.problem : '').toContain(problem)
  })

  it.each<[string, readonly string[]]>([
    [
      'math.abs(x)',
      [
        "1:1: undeclared reference to 'math'",
        "1:9: undeclared reference to 'abs'",
        "1:10: undeclared reference to 'x'",
      ],
    ],
    ['x.y.z + 1 > y', ["1:1: undeclared reference to 'x'", "1:13: undeclared reference to 'y'"]],
    ["1 && 'a'", ["1:1: expected type 'bool' but found 'int'", "1:6: expected type 'bool' but found 'string'"]],
    ["1.foo + 'a'.bar", ["1:2: type 'int' does not support", "1:12: type 'string' does not support"]],
    ['[1].exists_one(v, 1)', ["1:15: found no matching overload for '_?_:_' applied to '(int, int, int)'"]],
    [
      '[1].filter(v, 1) + 1',
      ["1:11: found no matching overload for '_?_:_' applied to", "1:18: found no matching overload for '_+_'"],
    ],
    ['1.all(v, v > 1) && v', ['1:1: expression of type', "1:20: undeclared reference to 'v'"]],
    [
      "[?1, ?optional.of(2)].size() == 'a'",
      ["1:3: expected type 'optional_type(int)' but found 'int'", '1:30: found no'],
    ],
    ["duration('bad') < duration('1x')", ['1:10: invalid duration argument', '1:28: invalid duration argument']],
    ["timestamp('2024-01-01') < timestamp('2024-01-01T00:00:00Z')", ['1:11: invalid timestamp argument']],
    ["'a'.matches('[') || matches('[', 'a')", ['1:13: invalid matches argument', '1:29: invalid matches argument']],
    ["duration('bad') + x", ["1:19: undeclared reference to 'x'"]],
  ])('all that is wrong is told in the order of its places: %s', (source, problems) => {
    const compiled = compileCel(source, new Map())
    const told = 'problem' in compiled ? compiled.problem.split(/^ERROR: <input>:/m).slice(1) : []
    expect(told).toEqual(problems.map((problem) => expect.stringContaining(problem)))
  })

  it.each<[string, readonly string[]]>([
    [
      "'%.2f'.format([true])",
      ['1:16: error during formatting: fixed-point clause can only be used on doubles, was given bool'],
    ],
    [
      "'%d %s'.format(['a', [optional.none()]])",
      ['1:17: error during formatting: decimal clause can only be used on integers, was given string'],
    ],
    [
      "'%s'.format([[1, optional.none()]])",
      [
        '1:31: error during formatting: string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps, was given optional_type',
      ],
    ],
    [
      "'a'.format([1]) + '%X%%'.format([])",
      ['1:11: too many arguments supplied to string.format (expected 0, got 1)', '1:32: index 0 out of range'],
    ],
    ["'%y'.format([1])", ['1:12: could not parse formatting clause: unrecognized formatting clause "y"']],
    ["'%s'.format(['%d'.format(['a'])])", ['1:27: error during formatting: decimal clause']],
  ])('what a format does not take is told: %s', (source, problems) => {
    const compiled = compileCel(source, new Map())
    const told = 'problem' in compiled ? compiled.problem.split(/^ERROR: <input>:/m).slice(1) : []
    expect(told).toEqual(problems.map((problem) => expect.stringContaining(problem)))
  })

  it.each([
    ["int('x') == 1", "type conversion error from 'string' to 'int'"],
    ["uint('x') == 1u || true", "type conversion error from 'string' to 'uint'"],
    ["double('x') == 1.0 && false", "type conversion error from 'string' to 'double'"],
    ["bool('x')", "type conversion error from 'string' to 'bool'"],
    ['uint(-1) == 1u', 'unsigned integer overflow'],
    ['int(1e30) == 1', 'integer overflow'],
    ["string(b'\\xff') == ''", 'invalid UTF-8 in bytes, cannot convert to string'],
    ["false ? [{'a': int(string('x'))}].size() == 1 : true", "type conversion error from 'string' to 'int'"],
    ["[].exists(x, int('x') == x)", "type conversion error from 'string' to 'int'"],
    ["duration(string('x')) == duration('1s')", "type conversion error from 'string' to 'google.protobuf.Duration'"],
    ["string(null) == 'a'", 'no such overload: string(null_type)'],
    ["matches('a', '[')", 'error parsing regexp: missing closing ]: `[`'],
    ["'a'.matches(string('['))", 'error parsing regexp: missing closing ]: `[`'],
    ["'a'.find('(') == ''", 'error parsing regexp: missing closing ): `(`'],
    ["'a'.findAll('(', 2) == []", 'error parsing regexp: missing closing ): `(`'],
  ])('what constants cannot be is told before anything runs: %s', (source, problem) => {
    expect(compileCel(source, new Map())).toEqual({ stage: 'instantiation', problem })
  })

  it.each(["int('x' + 'y') == 1", "int(true ? 'x' : 'y') == 1", "int(dyn('x').a) == 1", "'a'.find('(' + 'a') == ''"])(
    'what is no constant is only told when it runs: %s',
    (source) => {
      expect(compileCel(source, new Map())).toHaveProperty('program')
    },
  )

  it('a type that is not wanted is told before what constants cannot be, and after what does not fit', () => {
    const typeProblem = ({ kind }: CelType) => (kind === 'bool' ? undefined : `${kind} is not wanted`)
    expect(compileCel("int('x')", new Map(), { typeProblem })).toEqual({ stage: 'type', problem: 'int is not wanted' })
    expect(compileCel("int('x') == 1", new Map(), { typeProblem })).toHaveProperty('stage', 'instantiation')
    expect(compileCel("int('x') == 'a'", new Map(), { typeProblem })).toHaveProperty('stage', 'compilation')
  })

  it.each(["[1, 'a'].size() == 2", "{'a': 1, 'b': 'c'}.size() == 2"])(
    'lists and maps of several types are refused, unless they are allowed: %s',
    (source) => {
      expect(compileCel(source, new Map())).toHaveProperty('stage', 'compilation')
      expect(compileCel(source, new Map(), { literals: 'mixed' })).toHaveProperty('program')
    },
  )

  it('no more than a hundred problems are told', () => {
    const compiled = compileCel(Array.from({ length: 103 }, (_, index) => `x${index}`).join(' || '), new Map())
    expect('problem' in compiled ? compiled.problem : '').toMatch(/'x99' [^x]*\n.*\n.*\n3 more errors were truncated$/s)
  })

  it('the mark is under the place, whatever stands before it', () => {
    const compiled = compileCel("'é€\t' + é", new Map())
    const second = compileCel("'é€\tx'.matches('[')", new Map())
    expect('problem' in compiled ? compiled.problem : '').toContain('\n | .．．')
    expect('problem' in second ? second.problem : '').toBe(
      "ERROR: <input>:1:16: invalid matches argument\n | 'é€ x'.matches('[')\n | .．．............^",
    )
  })

  it.each([
    ['string(type(1))', "'string' applied to '(type(int))'"],
    ["double(type(type('a')))", "'double' applied to '(type(type(string)))'"],
    ['double(list)', "'double' applied to '(type(list(dyn)))'"],
    ["duration('1s') == 1", "'_==_' applied to '(duration, int)'"],
    ["timestamp('2024-01-01T00:00:00Z') == 1", "'_==_' applied to '(timestamp, int)'"],
  ])('types are shown with what they are types of: %s', (source, problem) => {
    const compiled = compileCel(source, new Map())
    expect('problem' in compiled ? compiled.problem : '').toContain(problem)
  })

  it.each(["duration('1s') != null", 'optional.none() != null', "null == dyn('a')", 'null == null'])(
    'null is compared with what may be null: %s',
    (source) => {
      expect(compileCel(source, new Map())).not.toHaveProperty('problem')
    },
  )

  it('whatever the text is', () => {
    const pieces = fc.constantFrom(
      'self',
      '.',
      '(',
      ')',
      '[',
      ']',
      '{',
      '}',
      '?',
      ':',
      ',',
      '+',
      '-',
      '!',
      '&&',
      '||',
      'in',
      '1',
      '1.5',
      "'a'",
      'b"x"',
      ' ',
      'all',
      'x',
      'has',
      'true',
      '\\',
      '"',
    )
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 12 }), (parts) => {
        const compiled = compileCel(parts.join(''), new Map([['self', types.dyn]]))
        if ('program' in compiled) compiled.program.run(new Map([['self', 'a']]), costMax)
      }),
      { numRuns: 1000 },
    )
  })
})

describe('libraries', () => {
  it.each<[string, CelValue | string]>([
    ['[3, 4].all(i, v, v == i + 3)', true],
    ["{'a': 1, 'b': 2}.exists(k, v, k == 'b' && v == 2)", true],
    ['[1, 2, 1].existsOne(i, v, v == 1)', false],
    ['[5, 6].exists_one(i, v, i == 1)', true],
    ["['a', 'b'].transformList(i, v, v + string(i)) == ['a0', 'b1']", true],
    ['[1, 2, 3].transformList(i, v, i > 0, v * 2) == [4, 6]', true],
    ["{'a': 1}.transformList(k, v, k) == ['a']", true],
    ["{'a': 1, 'b': 2}.transformMap(k, v, v + 1) == {'a': 2, 'b': 3}", true],
    ["['x', 'y'].transformMap(i, v, i == 1, v) == {1: 'y'}", true],
    ["{'a': 'x', 'b': 'y'}.transformMapEntry(k, v, {v: k}) == {'x': 'a', 'y': 'b'}", true],
    ["['a', 'b'].transformMapEntry(i, v, i == 0, {v: i}) == {'a': 0}", true],
    ["['x', 'x'].transformMapEntry(i, v, {v: i})", 'error: insert failed: key x already exists'],
    ["quantity('1Gi') == quantity('1024Mi')", true],
    ["quantity('1500m').asApproximateFloat()", 1.5],
    ["quantity('2k').asInteger()", 2000n],
    ["quantity('1.5').asInteger()", 'error: cannot convert value to integer'],
    ["quantity('1').add(quantity('500m')).compareTo(quantity('1500m'))", 0n],
    ["sign(quantity('3').sub(1))", 1n],
    ["isQuantity('x')", false],
    ["url('https://user@host:80/a%20b?c=1&c=2').getHost()", 'host:80'],
    ["url('https://host:80/a%20b?c=1').getEscapedPath()", '/a%20b'],
    ["url('https://[::1]:80/').getHostname()", '::1'],
    ["url('https://h/?a=1&a=2').getQuery()['a'].size()", 2n],
    ["isURL('not a url')", false],
    ["ip('10.0.0.1').family()", 4n],
    ["ip('fe80::1').isLinkLocalUnicast()", true],
    ["ip('8.8.8.8').isGlobalUnicast() && ip('127.0.0.1').isLoopback()", true],
    ["ip.isCanonical('2001:DB8::1')", false],
    ["isIP('1.2.3.4.5') || isIP('::ffff:1.2.3.4')", false],
    ["cidr('10.0.0.0/8').containsCIDR('10.1.0.0/16')", true],
    ["cidr('10.0.0.0/16').containsCIDR('10.0.0.0/8')", false],
    ["string(cidr('10.1.2.3/8').masked())", '10.0.0.0/8'],
    ["string(cidr('2001:db8::1/32').masked())", '2001:db8::/32'],
    ["cidr('::/0').prefixLength()", 0n],
    ["has(dyn(null).a) || has(dyn(1).a) || has(dyn('x').a) || has(dyn(true).a)", false],
    ['has(dyn([1]).a)', "error: unsupported index type 'string' in list"],
    ['dyn(null).a', 'error: no such key: a'],
    ["dyn('x').a.b", 'error: no such key: a'],
    ["dyn(1)['a']", 'error: no such key: a'],
    ['dyn([1]).a', "error: unsupported index type 'string' in list"],
    ["dyn([1])[dyn('a')]", "error: unsupported index type 'string' in list"],
    ['[1][dyn(0.5)]', 'error: unsupported index value 0.5 in list'],
    ["semver('1.2.3-rc.1').isLessThan(semver('1.2.3'))", true],
    ["semver('1.10.0').compareTo(semver('1.9.0'))", 1n],
    ["isSemver('v1.0') || !isSemver('v1.0', true)", false],
    ["format.dns1123Label().validate('A').hasValue()", true],
    ["format.named('uuid').value().validate('123e4567-e89b-12d3-a456-426614174000').hasValue()", false],
    ["format.named('none').hasValue()", false],
    ["format.byte().validate('').value() == ['invalid base64'] && !format.byte().validate('aGk=').hasValue()", true],
    ["[dyn(1)] == [dyn('a')] || dyn([1]) == dyn('a') || dyn({'a': 1}) == dyn(1)", false],
    ["'abc 123 45'.find('[0-9]+')", '123'],
    ["'a1b22'.findAll('[0-9]+') == ['1', '22'] && 'a1b22'.findAll('[0-9]+', 1) == ['1']", true],
    ["'aaa'.matches('(' + 'a')", 'error: error parsing regexp: missing closing ): `(a`'],
    ["'aaa'.find('(' + 'a')", 'error: Illegal regex: error parsing regexp: missing closing ): `(a`'],
    ["'aaa'.findAll('(' + 'a', 1)", 'error: Illegal regex: error parsing regexp: missing closing ): `(a`'],
    ['[1, 2, 3].isSorted() && [3, 1].max() == 3 && [3, 1].min() == 1', true],
    ["['a', 'b', 'a'].indexOf('a') == 0 && ['a', 'b', 'a'].lastIndexOf('a') == 2", true],
    ['[1.5, 2.5].sum()', 4],
    ['sets.contains([1, 2], [2]) && sets.equivalent([1, 1], [1]) && !sets.intersects([1], [2])', true],
    ['[1, 2, 2].distinct() == [1, 2]', true],
    ['lists.range(3) == [0, 1, 2] && lists.range(-1) == []', true],
    ['lists.range(10000000).size()', 'error: operation cancelled: actual cost limit exceeded'],
    ['[5, 1, 3].sort() == [1, 3, 5] && [].sort() == []', true],
    ["['b', 'a'].sort() == ['a', 'b']", true],
    ["[dyn(1), dyn('a')].sort()", 'error: list elements must have the same type'],
    ['[-3, 1, -5].sortBy(e, -(e * e)) == [-5, -3, 1]', true],
    ["{'b': 1, 'a': 2}.map(k, k).sortBy(k, k) == ['a', 'b']", true],
    ['lists.range(3).sortBy(e, -e).map(e, e + 1) == [3, 2, 1]', true],
    ['[1, 2, 3].reverse() == [3, 2, 1] && [1, 2, 3].slice(1, 3) == [2, 3]', true],
    ['[1, 2].slice(1, 3)', 'error: cannot slice(1, 3), list is length 2'],
    ['[[1, 2], [3]].flatten() == [1, 2, 3] && [[[1], [2]]].flatten(2) == [1, 2]', true],
    ['[1].flatten(-1)', 'error: level must be non-negative'],
    ['[1, 2].first().value() == 1 && [1, 2].last().value() == 2', true],
    ['[].first().hasValue() || [].last().hasValue()', false],
    ['optional.unwrap([optional.of(1), optional.none()]) == [1]', true],
    ['[optional.none(), optional.of(2)].unwrapOpt() == [2]', true],
    ['[].min()', 'error: min called on empty list'],
  ])('%s', (source, expected) => {
    expect(result(source)).toEqual(expected)
  })
})

describe('a name', () => {
  it.each([
    ['[2].all(self, self == 2)', true],
    ['[2].all(self, .self == 1)', true],
    ['[2].all(self, [3].all(self, self == 3) && self == 2)', true],
    ["optional.of({'a': 1}).a.orValue(0) == 1", true],
    ["optional.of({'b': 1}).a.hasValue()", false],
    ["{'a': 1}.?b.orValue(5) == 5 && {'b': 1}.?b.orValue(5) == 1", true],
  ])('%s', (source, value) => {
    expect(programOf(source, { self: types.int }).run(new Map([['self', 1n]]), costMax)).toMatchObject({ value })
  })
})

describe('cost', () => {
  const numbers: CelType = { kind: 'list', element: types.int, maxSize: 20 }
  const texts: CelType = { kind: 'list', element: { kind: 'string', maxSize: 30 }, maxSize: 20 }

  it('of an expression is counted, and ends it where it is too much', () => {
    const program = programOf('self.all(a, self.all(b, a + b > 0))', { self: numbers })
    const variables = new Map([['self', CelList.of(Array.from({ length: 20 }, () => 1n))]])
    const { cost } = program.run(variables, costMax)
    expect(cost).toBeGreaterThan(400)
    expect(program.run(variables, cost)).toEqual({ value: true, cost })
    expect(program.run(variables, cost - 1)).toMatchObject({ exceeded: true })
  })

  // The numbers of cel-go where it optimizes: a look at a variable or a member is 1, a list 10, a map 30; has() costs nothing by itself.
  it.each([
    ["'text'", 0],
    ['self', 1],
    ['self + self', 3],
    ['[self, 2, 3]', 11],
    ['[[self]]', 21],
    ["{'a': self}", 31],
    // What is looked into is looked at, as a variable is.
    ["{'a': self}.a", 33],
    ["{'a': {'b': self}}.a.b", 64],
    ["has({'a': self}.a)", 32],
    ['[self][0]', 13],
    ['[self][self - 1]', 15],
    ['optional.of(self).orValue(2)', 2],
  ])('of %s is %i', (source, cost) => {
    expect(programOf(source, { self: types.int }).run(new Map([['self', 1n]]), costMax).cost).toBe(cost)
  })

  // What is constant has its value before anything is run.
  it.each([
    ['[1, 2, 3]', 0],
    ['[[1]]', 0],
    ["{'a': 1}", 0],
    ["{'a': 1}.a", 2],
    ["has({'a': 1}.a)", 1],
    ["bytes('x') == b'x'", 1],
    ["duration('1s') + duration('2s')", 1],
    ["int(string(dyn('1')))", 0],
    ['type(1)', 0],
    // One of several values is found at once, and in nothing nothing is looked for.
    ['self in [1, 2, 3, 4, 5, 6, 7, 8]', 1],
    ["'a' in ['a', 'b']", 0],
    ['self in []', 0],
    ['[self in []]', 0],
    ['1 / 0 in []', 0],
    // Values that are no primitive ones are compared one by one, as are those of lists of which the type is not known.
    ["b'a' in [b'b', b'c']", 2],
    ['self in dyn([1])', 2],
    ["int('1') + self", 2],
  ])('of %s, in which there are constants, is %i', (source, cost) => {
    expect(programOf(source, { self: types.int }).run(new Map([['self', 1n]]), costMax).cost).toBe(cost)
  })

  // A variable costs nothing where it is a branch or an index, and an optional step only where it finds something.
  it.each([
    ['map.a', 2],
    ['map[key]', 2],
    ['map[map.b]', 3],
    ['list[list[0]]', 3],
    ['yes ? map : map', 1],
    ['yes ? map.a : key', 2],
    ['(yes ? map : map).a', 2],
    ['yes ? has(map.a) : yes', 2],
    ['map.?a', 2],
    ['map.?z', 1],
    ['map[?key].orValue(1)', 2],
    ["map[?'z'].orValue(1)", 1],
    ['list[?9].or(optional.of(1))', 2],
    ['list[?0].or(optional.of(1))', 2],
    ['map.?a.optMap(x, 1)', 4],
    ['list.all(x, true)', 5],
    ['list.exists(x, x == 0)', 8],
    ['list.map(x, x == 0, x)', 17],
  ])('of %s, which looks something up, is %i', (source, cost) => {
    const program = programOf(source, { map: types.dyn, list: listOf(types.int), key: types.string, yes: types.bool })
    const variables = new Map<string, CelValue>([
      [
        'map',
        new CelMap([
          ['a', 1n],
          ['b', 'a'],
        ]),
      ],
      ['list', CelList.of([0n])],
      ['key', 'a'],
      ['yes', true],
    ])
    expect(program.run(variables, costMax)).toMatchObject({ cost })
  })

  it('is never more than estimated', () => {
    const sources = [
      'self.all(x, x > 0) || self.exists(x, x == 3)',
      'self.map(x, x * 2).filter(x, x > 3).size() > self.size()',
      'self.exists_one(x, x == 1) ? self.sum() > 3 : self.isSorted()',
      'self.all(x, self.exists(y, x != y))',
      'cel.bind(big, self.filter(x, x > 5), big.size() > 0 && big[0] > 3)',
      "names.exists(n, n.contains('a') && n.startsWith('b')) || names.join(',').size() > 5",
      "names.all(n, n.matches('^[a-z]+$')) || names.map(n, n + n).exists(n, n == 'aa')",
      "names.map(n, n.upperAscii()).all(n, n in names) && {'a': names}.a == names",
    ]
    const data = fc.record({
      self: fc.array(fc.integer({ min: -5, max: 9 }), { maxLength: 20 }),
      names: fc.array(fc.string({ maxLength: 30 }), { maxLength: 20 }),
    })
    const sizes: Readonly<Record<string, number>> = { self: 20, names: 20, 'names.@items': 30 }
    const sizeAt = (path: readonly string[]) => ({ min: 0, max: sizes[path.join('.')] ?? 0 })
    for (const source of sources) {
      const program = programOf(source, { self: numbers, names: texts }, { extension: 'bindings' })
      const estimated = program.estimateCost(sizeAt).max
      fc.assert(
        fc.property(data, ({ self, names }) => {
          const variables = new Map<string, CelValue>([
            ['self', CelList.of(self.map(BigInt))],
            ['names', CelList.of(names)],
          ])
          expect(program.run(variables, costMax).cost).toBeLessThanOrEqual(estimated)
        }),
        { numRuns: 50 },
      )
    }
  })
})

/** The first line of what is said of an expression. */
const problem = (source: string, options: CelOptions = {}): string => {
  const compiled = compileCel(source, new Map([['self', types.dyn]]), options)
  return 'problem' in compiled ? (compiled.problem.split('\n')[0] ?? '') : 'none'
}

// What cel-go 0.26 says in the environment of Kubernetes 1.36.
describe('macros', () => {
  it.each([
    ['has(self.a.b[0])', '1:13: invalid argument to has() macro'],
    ['[1].filter(self.a, true)', '1:16: argument is not an identifier'],
    ['[1].map(self.a, true)', '1:13: argument is not an identifier'],
    ['[1].sortBy(self.a, true)', '1:16: argument is not an identifier'],
    ['[1].all(2, 3)', '1:9: argument must be a simple name'],
    ['[1].all(i, i, i < i)', '1:12: duplicate variable name: i'],
    ['[1].all(self.a, i, true)', '1:13: argument must be a simple name'],
    ['[1].exists(i, self.a, true)', '1:19: argument must be a simple name'],
    ['{}.transformMapEntry(i, i.j, {})', '1:26: argument must be a simple name'],
    ['[1].all(__result__, true)', '1:9: iteration variable overwrites accumulator variable'],
    ['[1].all(i, __result__, true)', '1:12: iteration variable overwrites accumulator variable'],
    ['self.optMap(y.z, y)', '1:14: optMap() variable name must be a simple identifier'],
    ['self.optFlatMap(y.z, y)', '1:18: optFlatMap() variable name must be a simple identifier'],
  ])('say where an argument is wrong: %s', (source, expected) => {
    expect(problem(source)).toBe(`ERROR: <input>:${expected}`)
  })

  it('has existsOne with two variables only', () => {
    expect(problem('[1].existsOne(i, v, v > 0)')).toBe('none')
    expect(problem('[1].existsOne(v, v > 0)')).toMatch("1:14: undeclared reference to 'existsOne' (in container '')")
  })

  it('binds variables only where that is allowed', () => {
    expect(problem('cel.bind(x, 1, x + x == 2)')).toMatch("1:1: undeclared reference to 'cel' (in container '')")
    expect(problem('cel.bind(x, 1, x + x == 2)', { extension: 'bindings' })).toBe('none')
  })
})

describe('names', () => {
  it.each([
    ['.x.y', "1:2: undeclared reference to '.x' (in container '')"],
    ['int{}', "1:4: 'int' is not a message type"],
    ['self.`a-b`', "1:6: unsupported syntax: '`'"],
    ['self.in', "1:6: Syntax error: no viable alternative at input '.in'"],
    ['self.true', "1:6: Syntax error: mismatched input 'true' expecting IDENTIFIER"],
    ['self.?true', "1:7: Syntax error: mismatched input 'true' expecting {IDENTIFIER, ESC_IDENTIFIER}"],
    ["jsonpatch.escapeKey('a') == ''", "1:1: undeclared reference to 'jsonpatch' (in container '')"],
    ["isImage('a')", "1:8: undeclared reference to 'isImage' (in container '')"],
  ])('%s is none that is known, or may be used', (source, expected) => {
    expect(problem(source)).toBe(`ERROR: <input>:${expected}`)
  })

  it('are also those of types', () => {
    const sources = [
      "type(timestamp('2020-01-01T00:00:00Z')) == google.protobuf.Timestamp",
      "type(duration('1s')) == google.protobuf.Duration",
      "type(ip('1.1.1.1')) == net.IP && type(cidr('1.1.1.1/8')) == net.CIDR",
    ]
    for (const source of sources) expect(result(source)).toBe(true)
  })

  it('has() tells of an unknown field where it stands itself', () => {
    const self: CelType = { kind: 'object', name: 'object', fields: new Map() }
    expect(() => programOf('has(self.a)', { self })).toThrow("ERROR: <input>:1:4: undefined field 'a'")
  })
})

describe('literals', () => {
  it.each([
    ['timestamp(-62135596801)', '1:11: invalid timestamp argument'],
    ["'\\udead'", '1:1: invalid unicode code point'],
    ["b'\\u00e9'", '1:1: unable to unescape string'],
  ])('%s is told of where it begins', (source, expected) => {
    expect(problem(source)).toBe(`ERROR: <input>:${expected}`)
  })

  it('end their lines in one way', () => {
    expect(result("'''a\r\nb\rc'''")).toBe('a\nb\nc')
  })

  it('of lists and maps are of what is known of any element', () => {
    expect(problem("[[], [1]].all(l, l[0] == 'a')")).toMatch(
      /found no matching overload for '_==_' applied to '\(int, string\)'/,
    )
    expect(problem("{'a': [], 'b': [1]}.b[0] == 'a'")).toMatch(/applied to '\(int, string\)'/)
  })

  it('of maps may have a key twice: the last one counts', () => {
    expect(result('{true: 1, false: 2, true: 3}[true]')).toBe(3n)
  })
})

describe('optional values', () => {
  it.each([
    ["{'a': dyn(1)}.?a.?b.orValue(3)", 3n],
    ["{'a': dyn(null)}.?a.b.hasValue()", false],
    ["{'a': optional.of(10)}.?a.value().value()", 10n],
    ['[optional.of(1)][?0].value().value()', 1n],
    ["optional.ofNonZeroValue(timestamp('0001-01-01T00:00:00Z')).hasValue()", false],
    ['optional.ofNonZeroValue(timestamp(0)).hasValue()', true],
  ])('%s', (source, expected) => {
    expect(result(source)).toBe(expected)
  })
})

it('spans of time that are too long overflow as numbers do', () => {
  const spans = "timestamp('9999-12-31T23:59:59Z') - timestamp('0001-01-01T00:00:00Z') > duration('1s')"
  expect(result(spans)).toBe('error: integer overflow')
})
