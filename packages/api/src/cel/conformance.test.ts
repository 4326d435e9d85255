/**
 * The language's own conformance tests (cel-spec), as far as they need no protobuf messages: those are no values of custom
 * resources. What is known to differ is listed, and fails when it no longer does.
 */
import {
  getConformanceSuite,
  type IncrementalTest,
  type IncrementalTestSuite,
} from '@bufbuild/cel-spec/testdata/tests.js'
import { expect, it } from 'vitest'
import { compileCel } from './program.ts'
import { type CelType, listOf, mapOf, types } from './types.ts'
import { CelList, CelMap, type CelValue, equals, TypeValue, Uint } from './values.ts'

/** How many tests of each file must pass. */
const files = [
  ['basic', 39],
  ['bindings_ext', 5],
  ['comparisons', 318],
  ['conversions', 108],
  ['fields', 49],
  ['fp_math', 29],
  ['integer_math', 61],
  ['lists', 39],
  ['logic', 21],
  ['macros', 44],
  ['namespace', 1],
  ['optionals', 56],
  ['parse', 176],
  ['plumbing', 5],
  ['string', 51],
  ['string_ext', 159],
  ['timestamps', 73],
] as const

type SpecValue = NonNullable<Extract<IncrementalTest['original']['resultMatcher'], { case: 'value' }>['value']>
type SpecType = IncrementalTest['original']['typeEnv'][number]

/** A value of a test; undefined where it is a message. */
function specValue({ kind }: SpecValue): CelValue | undefined {
  switch (kind.case) {
    case 'nullValue':
      return null
    case 'uint64Value':
      return new Uint(kind.value)
    case 'typeValue':
      return new TypeValue(kind.value)
    case 'listValue': {
      const values = kind.value.values.map(specValue)
      return values.includes(undefined) ? undefined : CelList.of(values as CelValue[])
    }
    case 'mapValue': {
      const entries = kind.value.entries.map(
        ({ key, value }) => [key && specValue(key), value && specValue(value)] as const,
      )
      const known = entries.filter((entry): entry is readonly [CelValue, CelValue] => !entry.includes(undefined))
      return known.length === entries.length ? new CelMap(known) : undefined
    }
    case 'boolValue':
    case 'int64Value':
    case 'doubleValue':
    case 'stringValue':
    case 'bytesValue':
      return kind.value
    default:
      return undefined
  }
}

/** `left out`: needs messages, or skips the check of types, which is never skipped here. */
type Verdict = 'passed' | 'failed' | 'left out'

const messages = /TestAllTypes|google\.protobuf|NestedEnum|GlobalEnum|\{\s*\}\.\w|cel\.expr/

function judge({ original }: IncrementalTest): Verdict {
  const { expr, resultMatcher: matcher, bindings, typeEnv, container, checkOnly, disableCheck } = original
  if (messages.test(expr) || container !== '' || checkOnly || matcher.case === 'typedResult') return 'left out'
  const variables = new Map<string, CelType>(typeEnv.map((each) => [each.name, typeOfDeclaration(each)]))
  const values = new Map<string, CelValue>()
  for (const [name, { kind }] of Object.entries(bindings)) {
    const value = kind.case === 'value' ? specValue(kind.value) : undefined
    if (value === undefined) return 'left out'
    if (!variables.has(name)) variables.set(name, types.dyn)
    values.set(name, value)
  }
  const compiled = compileCel(expr, variables, { literals: 'mixed', extension: 'bindings' })
  if ('problem' in compiled && disableCheck) return 'left out'
  const outcome = 'problem' in compiled ? { error: compiled.problem } : compiled.program.run(values, 1_000_000)
  if (matcher.case === 'evalError') return 'error' in outcome ? 'passed' : 'failed'
  if (matcher.case !== 'value' && matcher.case !== undefined) return 'left out'
  const expected = matcher.case === undefined ? true : specValue(matcher.value)
  if (expected === undefined) return 'left out'
  return 'value' in outcome && isSame(outcome.value, expected) ? 'passed' : 'failed'
}

/** Not a number is the same as itself here; otherwise types must be the same too. */
function isSame(a: CelValue, b: CelValue): boolean {
  if (typeof a === 'number' && typeof b === 'number') return Object.is(a, b)
  return typeof a === typeof b && equals(a, b)
}

function typeOfDeclaration({ declKind }: SpecType): CelType {
  const declared = declKind.case === 'ident' ? declKind.value.type : undefined
  return declared === undefined ? types.dyn : specType(declared)
}

const primitives: Readonly<Record<number, CelType>> = {
  1: types.bool,
  2: types.int,
  3: types.uint,
  4: types.double,
  5: types.string,
  6: types.bytes,
}

interface SpecTypeKind {
  readonly typeKind: { readonly case?: string | undefined; readonly value?: unknown }
}

function specType({ typeKind }: SpecTypeKind): CelType {
  if (typeKind.case === 'primitive') return primitives[typeKind.value as number] ?? types.dyn
  if (typeKind.case === 'listType') {
    const { elemType } = typeKind.value as { readonly elemType?: SpecTypeKind }
    return listOf(elemType === undefined ? types.dyn : specType(elemType))
  }
  if (typeKind.case === 'mapType') {
    const { keyType, valueType } = typeKind.value as Record<string, SpecTypeKind | undefined>
    return mapOf(
      keyType === undefined ? types.dyn : specType(keyType),
      valueType === undefined ? types.dyn : specType(valueType),
    )
  }
  return types.dyn
}

function allTests(suite: IncrementalTestSuite, name: string): readonly (readonly [string, IncrementalTest])[] {
  return [
    ...suite.tests.map((test) => [`${name}/${test.name}`, test] as const),
    ...suite.suites.flatMap((each) => allTests(each, `${name}/${each.name}`)),
  ]
}

/**
 * What version 4 of the strings library formats otherwise than version 2, which is that of Kubernetes: `library/format.test.ts` has what that
 * writes. And positions behind the end of a text, where cel-go finds nothing: see `library/strings.test.ts`. Kubernetes lets no names be
 * quoted, and in cel-go keys of a map may be repeated, and what has no members has none that an optional could hold.
 */
const otherwiseInKubernetes: ReadonlySet<string> = new Set([
  ...['slash', 'dash', 'dot'].flatMap((name) =>
    ['field_access', 'has_field'].map((test) => `fields/quoted_map_fields/${test}_${name}`),
  ),
  'fields/qualified_identifier_resolution/map_value_repeat_key',
  'fields/qualified_identifier_resolution/map_value_repeat_key_heterogeneous',
  'optionals/optionals/map_null_entry_no_such_key',
  'optionals/optionals/map_present_key_invalid_field',
  'string_ext/value_errors/indexof_out_of_range',
  'string_ext/value_errors/lastindexof_out_of_range',
  ...[
    'scientific notation formatting clause',
    'NaN support for scientific notation',
    'default precision for scientific notation',
    'positive infinity support for scientific notation',
    'negative infinity support for scientific notation',
    'NaN support for decimal',
    'positive infinity support for decimal',
    'negative infinity support for decimal',
    'positive infinity support for fixed-point',
    'negative infinity support for fixed-point',
    'list support for string',
    'map support for string',
    'map support (all key types)',
    'dyntype support for scientific notation',
    'dyntype NaN/infinity support',
    'dyntype support for lists',
    'dyntype support for maps',
    'scientific notation formatting clause in a string variable',
  ].map((name) => `string_ext/format/${name}`),
])

it.each(files)('%s', (file, count) => {
  const suite = getConformanceSuite().suites.find(({ name }) => name === file)
  const judged = allTests(suite ?? { name: file, suites: [], tests: [] }, file).map(([name, test]) => ({
    name: `${name}: ${test.original.expr}`,
    verdict: otherwiseInKubernetes.has(name) ? 'left out' : judge(test),
  }))
  expect(judged.filter(({ verdict }) => verdict === 'failed').map(({ name }) => name)).toEqual([])
  expect(judged.filter(({ verdict }) => verdict === 'passed')).toHaveLength(count)
})
