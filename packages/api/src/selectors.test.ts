import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { FieldPath } from './field-path.ts'
import type { KubernetesObject } from './meta.ts'
import {
  everything,
  fieldMatcher,
  fieldSelector,
  formatLabels,
  formatSelector,
  type LabelRequirement,
  labelMatcher,
  nothing,
  parseFieldSelector,
  parseLabelSelector,
  selectorFromLabelSelector,
  selectorFromMap,
} from './selectors.ts'

describe('parseLabelSelector', () => {
  it.each([
    ['', { any: 'thing' }, true],
    ['app=web', { app: 'web' }, true],
    ['app=web', { app: 'db' }, false],
    ['app=web', {}, false],
    ['app==web', { app: 'web' }, true],
    ['app=', { app: '' }, true],
    ['app', { app: '' }, true],
    ['app', {}, false],
    ['!app', {}, true],
    ['!app', { app: 'web' }, false],
    ['app!=web', {}, true],
    ['app!=web', { app: 'web' }, false],
    ['tier in (front,back)', { tier: 'back' }, true],
    ['tier in (front,back)', {}, false],
    ['tier notin (front,back)', {}, true],
    ['tier notin (front,back)', { tier: 'front' }, false],
    ['x in (a,,b)', { x: '' }, true],
    ['x in ()', { x: '' }, true],
    ['in in (in,notin)', { in: 'notin' }, true],
    ['n > 5', { n: '10' }, true],
    ['n > 5', { n: '5' }, false],
    ['n > 5', {}, false],
    ['n > 5', { n: 'x' }, false],
    ['n > 5', { n: '' }, false],
    ['n<5', { n: '4' }, true],
    ['n<5', { n: '5' }, false],
    ['n<5', { n: '-10' }, true],
    ['n<5', { n: '+4' }, true],
    ['n<5', { n: '0x1' }, false],
    ['n<5', { n: 'x' }, false],
    // int64 holds no more.
    ['n>0', { n: '9223372036854775807' }, true],
    ['n>0', { n: '9223372036854775808' }, false],
    ['n<0', { n: '-9223372036854775808' }, true],
    ['n<0', { n: '-9223372036854775809' }, false],
    ['n>0', { n: '00000000000000000000001' }, true],
    ['a\t=\r\nb', { a: 'b' }, true],
    ['a!=b,a!=c', { a: 'c' }, false],
    ['a!=b,a!=c', { a: 'd' }, true],
    ['a!=b,!c', { a: 'd', c: '' }, false],
    [' app = web , tier ', { app: 'web', tier: 'x' }, true],
    ['app=web,tier', { app: 'web' }, false],
    ['constructor', {}, false],
  ] as const)('%j against %j: %s', (text, labels, selected) => {
    expect(parseLabelSelector(text).matches(labels)).toBe(selected)
  })

  it.each([
    ['app=web,', "found '', expected: identifier after ','"],
    [',app', "found ',', expected: !, identifier, or 'end of string'"],
    ['app web', "unable to parse requirement: found 'web', expected: in, notin, =, ==, !=, gt, lt"],
    ['app=web tier', "found 'tier', expected: ',' or 'end of string'"],
    ['!app=web', "found '=', expected: ',' or 'end of string'"],
    ['app!', "unable to parse requirement: found '!', expected: in, notin, =, ==, !=, gt, lt"],
    ['!,app', "unable to parse requirement: found ',', expected: identifier"],
    ['!', "unable to parse requirement: found '', expected: identifier"],
    ['app=(', "unable to parse requirement: found '(', expected: identifier"],
    ['app=web,)', "found ')', expected: identifier after ','"],
    ['app in front', "unable to parse requirement: found 'front' expected: '('"],
    ['app in (front', "unable to parse requirement: found '', expected: ',' or ')'"],
    ['app in (front back)', "unable to parse requirement: found 'back', expected: ',' or ')'"],
    ['app in (', "unable to parse requirement: found '', expected: ',', ')' or identifier"],
    ['app in (!front)', "unable to parse requirement: found '!', expected: ',', ')' or identifier"],
    ['app in (front,', "unable to parse requirement: found '', expected: ',', or identifier"],
    ['app in (,!back)', "unable to parse requirement: found '!', expected: ',', or identifier"],
    [
      'a@b=c',
      "unable to parse requirement: <nil>: Invalid value: \"a@b\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
    ],
    [
      'app=-x',
      "unable to parse requirement: values[0][app]: Invalid value: \"-x\": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
    ],
    [
      'n>x',
      "unable to parse requirement: values[0]: Invalid value: \"x\": for 'Gt', 'Lt' operators, the value must be an integer",
    ],
    [
      'n>',
      "unable to parse requirement: values[0]: Invalid value: \"\": for 'Gt', 'Lt' operators, the value must be an integer",
    ],
    [
      'n<9223372036854775808',
      "unable to parse requirement: values[0]: Invalid value: \"9223372036854775808\": for 'Gt', 'Lt' operators, the value must be an integer",
    ],
  ])('refuses %j', (text, message) => {
    expect(() => parseLabelSelector(text)).toThrow(expect.objectContaining({ code: 400, message }))
  })

  it('says all that is wrong with the values of a requirement', () => {
    const said = (text: string) => {
      try {
        parseLabelSelector(text)
        return undefined
      } catch (error) {
        return (error as Error).message.replaceAll(/a valid label must be [^)]*\)\?[^)]*\)\?'\)/g, '…')
      }
    }
    expect(said('app in (-a,b,c-)')).toBe(
      'unable to parse requirement: [values[0][app]: Invalid value: "-a": …, values[2][app]: Invalid value: "c-": …]',
    )
    expect(said('n>-')).toBe(
      `unable to parse requirement: [values[0]: Invalid value: "-": for 'Gt', 'Lt' operators, the value must be an integer, values[0][n]: Invalid value: "-": …]`,
    )
  })

  it('says the beginning of very much that is wrong', () => {
    const text = `app in (${Array.from({ length: 100_000 }, (_, index) => `-${index}`).join(',')})`
    try {
      parseLabelSelector(text)
      throw new Error('the selector was read')
    } catch (error) {
      const { message } = error as Error
      expect(message).toContain(', values[99][app]: Invalid value: ')
      expect(message).not.toContain('values[100]')
    }
  })

  it('says where the text stands that it refuses', () => {
    const path = FieldPath.of('spec', 'selector')
    expect(() => parseLabelSelector('a@=b', path)).toThrow(
      /^unable to parse requirement: spec\.selector: Invalid value: "a@": /,
    )
    expect(() => parseLabelSelector('a=-b', path)).toThrow(
      /^unable to parse requirement: spec\.selector\.values\[0\]\[a\]: Invalid value: "-b": /,
    )
  })

  it('takes a mebibyte and no more', () => {
    const text = `app${' '.repeat(2 ** 20 - 3)}`
    expect(parseLabelSelector(text).toString()).toBe('app')
    expect(() => parseLabelSelector(`${text} `)).toThrow('selector is longer than 1048576 characters')
  })

  it('exposes what it requires, in the order of the keys, for indexes', () => {
    expect(parseLabelSelector('tier in (b,a,b),app=web').requirements).toEqual([
      { key: 'app', operator: '=', values: ['web'] },
      { key: 'tier', operator: 'in', values: ['a', 'b'] },
    ])
  })

  it('reads what it writes', () => {
    fc.assert(
      fc.property(fc.array(requirement, { maxLength: 5 }), labels, (requirements, on) => {
        const selector = labelMatcher(requirements)
        const again = parseLabelSelector(selector.toString())
        expect(again.toString()).toBe(selector.toString())
        expect(again.matches(on)).toBe(selector.matches(on))
      }),
    )
  })

  it('selects what each of its requirements selects', () => {
    fc.assert(
      fc.property(fc.array(requirement, { maxLength: 6 }), labels, (requirements, on) => {
        const alone = requirements.every((each) => labelMatcher([each]).matches(on))
        expect(labelMatcher(requirements).matches(on)).toBe(alone)
      }),
    )
  })

  it.each([
    ['3', false],
    ['4', true],
    ['6', true],
    ['7', false],
    ['x', false],
    ['5', false],
  ])('compares a number with the narrowest bounds: %s', (n, matches) => {
    expect(parseLabelSelector('n>1,n>3,n>2,n<9,n<7,n<8,n!=5').matches({ n })).toBe(matches)
  })

  it('looks once at a label of which it has very many requirements', () => {
    let looks = 0
    const on = {
      get app() {
        looks += 1
        return 'web'
      },
    }
    const required = ['app', 'app in (web,x)', 'app!=y', ...Array.from({ length: 1000 }, (_, index) => `app!=${index}`)]
    expect(parseLabelSelector(required.join(',')).matches(on)).toBe(true)
    expect(looks).toBe(1)
    const excluded = Array.from({ length: 1000 }, (_, index) => `app notin (${index})`).join(',')
    expect(parseLabelSelector(excluded).matches(on)).toBe(true)
    expect(looks).toBe(2)
  })

  it('selects a map of labels exactly where all of them are', () => {
    fc.assert(
      fc.property(labels, labels, (wanted, on) => {
        const all = Object.entries(wanted).every(([key, value]) => on[key] === value)
        expect(selectorFromMap(wanted).matches(on)).toBe(all)
      }),
    )
  })
})

describe('selectorFromLabelSelector', () => {
  it('selects nothing where there is none and everything where it is empty', () => {
    expect(selectorFromLabelSelector(undefined)).toBe(nothing)
    expect(selectorFromLabelSelector({})).toBe(everything)
    expect(nothing.matches({})).toBe(false)
  })

  it('joins labels and expressions', () => {
    const selector = selectorFromLabelSelector({
      matchLabels: { app: 'web' },
      matchExpressions: [
        { key: 'tier', operator: 'NotIn', values: ['back'] },
        { key: 'zone', operator: 'Exists' },
        { key: 'old', operator: 'DoesNotExist' },
      ],
    })
    expect(selector.toString()).toBe('app=web,!old,tier notin (back),zone')
    expect(selector.matches({ app: 'web', zone: 'a' })).toBe(true)
    expect(selector.matches({ app: 'web', zone: 'a', tier: 'back' })).toBe(false)
  })

  it('refuses operators it does not know', () => {
    expect(() => selectorFromLabelSelector({ matchExpressions: [{ key: 'a', operator: 'Near' }] })).toThrow(
      '"Near" is not a valid label selector operator',
    )
  })
})

describe('formatting', () => {
  it('shows labels in the order of their keys', () => {
    expect(formatLabels({ b: '2', a: '1' })).toBe('a=1,b=2')
    expect(formatLabels({ 'example.com': '1', 'example.com/role': '2' })).toBe('example.com/role=2,example.com=1')
    expect(formatLabels(undefined)).toBe('<none>')
    expect(formatSelector({ matchLabels: { a: '1' } })).toBe('a=1')
    expect(formatSelector(undefined)).toBe('<none>')
  })
})

describe('field selectors', () => {
  const object = (name: string, phase: string): KubernetesObject & { phase: string } => ({
    apiVersion: 'v1',
    kind: 'Thing',
    metadata: { name, namespace: 'ns' },
    phase,
  })
  const fields = { 'status.phase': (each: KubernetesObject & { phase: string }) => each.phase }

  it.each([
    ['', true],
    ['metadata.name=a', true],
    ['metadata.name==a,metadata.namespace=ns', true],
    ['metadata.name!=a', false],
    ['status.phase=Running', true],
    ['status.phase!=Failed,status.phase!=Succeeded', true],
    ['status.phase=', false],
    [',metadata.name=a,', true],
  ])('%j selects it: %s', (text, selected) => {
    expect(fieldMatcher(parseFieldSelector(text), fields)(object('a', 'Running'))).toBe(selected)
  })

  it.each([
    ['metadata.name', "invalid selector: 'metadata.name'; can't understand 'metadata.name'"],
    ['a=b=c', 'invalid field selector: unescaped character in value: 61'],
    ['a=b\\c', 'invalid field selector: invalid escape sequence: \\c'],
    ['a=b\\', 'invalid field selector: invalid escape sequence: \\'],
    ['a=1,b', "invalid selector: 'a=1,b'; can't understand 'b'"],
  ])('refuses %j', (text, message) => {
    expect(() => parseFieldSelector(text)).toThrow(expect.objectContaining({ code: 400, message }))
  })

  it.each([
    [
      'b=1,a!=2',
      [
        { field: 'a', operator: '!=', value: '2' },
        { field: 'b', operator: '=', value: '1' },
      ],
    ],
    ['a!bc!=1', [{ field: 'a!bc', operator: '!=', value: '1' }]],
    ['!!a==1', [{ field: '!!a', operator: '=', value: '1' }]],
    ['=1', [{ field: '', operator: '=', value: '1' }]],
    ['a=b\nc', [{ field: 'a', operator: '=', value: 'b\nc' }]],
  ])('%j is split at its first operator, and its terms are in order', (text, terms) => {
    expect(parseFieldSelector(text).terms).toEqual(terms)
  })

  it('refuses fields the kind cannot be selected by', () => {
    expect(() => fieldMatcher(parseFieldSelector('spec.x=1'), fields)).toThrow('field label not supported: spec.x')
    expect(() => fieldMatcher(parseFieldSelector('spec.x=1'), {})).toThrow(
      '"spec.x" is not a known field selector: only "metadata.name", "metadata.namespace"',
    )
  })

  it('reads what it writes, escapes and all', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.constantFrom('=', '!=') as fc.Arbitrary<'=' | '!='>, fc.string()), { maxLength: 4 }),
        (pairs) => {
          const terms = pairs.map(([operator, value]) => ({ field: 'f', operator, value }))
          const again = parseFieldSelector(fieldSelector(terms).toString()).terms
          const sorted = (list: typeof terms) => list.map((term) => JSON.stringify(term)).sort()
          expect(sorted([...again])).toEqual(sorted(terms))
        },
      ),
    )
  })
})

const key = fc.constantFrom('app', 'tier', 'example.com/zone', 'in')
const value = fc.constantFrom('', 'web', 'db', '3', 'notin')
const labels = fc.dictionary(key, value)
const requirement: fc.Arbitrary<LabelRequirement> = fc.oneof(
  fc.record({
    key,
    operator: fc.constantFrom('in', 'notin') as fc.Arbitrary<'in' | 'notin'>,
    values: fc.uniqueArray(value, { minLength: 1 }),
  }),
  fc.record({
    key,
    operator: fc.constantFrom('=', '==', '!=') as fc.Arbitrary<'=' | '==' | '!='>,
    values: fc.tuple(value),
  }),
  fc.record({ key, operator: fc.constantFrom('exists', '!') as fc.Arbitrary<'exists' | '!'>, values: fc.constant([]) }),
)
