import { describe, expect, it } from 'vitest'
import { compileCel } from '../program.ts'
import { types } from '../types.ts'

/** What an expression gives for a text `f`, or why it gives nothing. */
function evaluated(expression: string, f = ''): unknown {
  const compiled = compileCel(expression, new Map([['f', types.string]]))
  if ('problem' in compiled) return compiled.problem
  const result = compiled.program.run(new Map([['f', f]]), 1_000_000)
  return 'value' in result ? result.value : result.error
}

describe('format()', () => {
  // The table of cel-go (ext/formatting_test.go) for the versions before 4, and Kubernetes' own (schema/cel/validation_test.go).
  it.each([
    ['%.3f', '1.2345', '1.234'],
    ['%f', '2.71828', '2.718280'],
    ['%f', '"NaN"', 'NaN'],
    ['%f', '"Infinity"', '∞'],
    ['%f', '"-Infinity"', '-∞'],
    ['%f', 'double("NaN")', 'NaN'],
    ['%.6e', '1052.032911275', '1.052033×10⁰³'],
    ['%e', '3.14', '3.140000×10⁰⁰'],
    ['%e', '-0.00012', '-1.200000×10⁻⁰⁴'],
    ['%e', '9.9999999', '1.000000×10⁰¹'],
    ['%e', '1e300', '1.000000×10³⁰⁰'],
    ['%e', '0.0', '0.000000×10⁰⁰'],
    ['%.15e', '1.5', '  1.500000×10⁰⁰'],
    ['%s', '2.71', '2.71'],
    ['%s', '[2.71]', '[2.710000]'],
    ['%s', '0.000000002', '2e-09'],
    ['%s', '[0.000000002]', '[0.000000]'],
    ['%s', 'double("Inf")', '+Inf'],
    ['%s', '[double("NaN"), double("+Inf"), double("-Inf")]', '["NaN", "+Inf", "-Inf"]'],
    [
      '%s',
      '["abc", 3.14, null, [9, 8, 7, 6], timestamp("2023-02-03T23:31:20Z")]',
      '["abc", 3.140000, null, [9, 8, 7, 6], timestamp("2023-02-03T23:31:20Z")]',
    ],
    [
      '%s',
      '{"key1": b"xyz", "key5": null, "key2": duration("2h"), "key4": true, "key3": 2.71828}',
      '{"key1":b"xyz", "key2":duration("7200s"), "key3":2.718280, "key4":true, "key5":null}',
    ],
    ['%s', '{1: "value1", uint(2): "value2", true: double("NaN")}', '{1:"value1", 2:"value2", true:"NaN"}'],
    ['%s', '["a\\n\\u00e9\\u200b"]', '["a\\né\\u200b"]'],
    ['%f', '1234567.5', '1,234,567.500000'],
    ['%.0f', '-1234.5', '-1,234'],
    ['%.0f', '2.5', '2'],
    ['%.0f', '3.5', '4'],
    ['%.2f', '1.145', '1.15'],
    ['%.2f', '2.675', '2.67'],
    ['%.1f', '1e21', '1,000,000,000,000,000,000,000.0'],
    ['%.2f', '999.999', '1,000.00'],
  ])('%s of %s', (f, value, expected) => {
    expect(evaluated(`f.format([dyn(${value})])`, f)).toBe(expected)
  })

  const parsing = 'could not parse formatting clause: '
  const precision = `${parsing}error while parsing precision: `

  it.each([
    ['%', 'unexpected end of string'],
    ['a%5d', `${parsing}unrecognized formatting clause "5"`],
    ['%E', `${parsing}unrecognized formatting clause "E"`],
    ['%.34', `${precision}could not find end of precision specifier`],
    ['%.d', `${precision}error while converting precision to integer: strconv.Atoi: parsing "": invalid syntax`],
    ['%s%s', 'index 1 out of range'],
    ['%f', 'error during formatting: fixed-point clause can only be used on doubles, was given int'],
    ['%e', 'error during formatting: scientific clause can only be used on doubles, was given int'],
  ])('tells what is wrong with %j, when it is written and when it runs', (f, problem) => {
    expect(evaluated('f.format([dyn(1)])', f)).toBe(problem)
    expect(evaluated(`'${f}'.format([1])`)).toEqual(expect.stringContaining(problem))
  })

  it('shows no values of libraries within lists, and no maps by doubles', () => {
    expect(evaluated("f.format([[dyn(quantity('1'))]])", '%s')).toBe('no formatting function for kubernetes.Quantity')
    expect(evaluated('f.format([{1.5: 1}])', '%s')).toEqual(expect.stringContaining('double'))
  })
})
