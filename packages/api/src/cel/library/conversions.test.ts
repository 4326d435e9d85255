import { describe, expect, it } from 'vitest'
import { processorMs } from '../../testing/processor-time.ts'
import { compileCel } from '../program.ts'
import { types } from '../types.ts'

/** The text of a value that is only known when the expression runs, or why there is none. */
function outcome(source: string): string {
  const compiled = compileCel(`string(${source})`, new Map([['one', types.int]]))
  if ('problem' in compiled) return `${compiled.stage}: ${compiled.problem}`
  const result = compiled.program.run(new Map([['one', 1n]]), 1_000_000)
  return 'value' in result ? String(result.value) : `error: ${result.error}`
}

const notConverted = (type: string, from = 'string'): string => `type conversion error from '${from}' to '${type}'`

it('finds out at once that very many digits are no number', () => {
  const finding = () =>
    expect(outcome(`double('${'1'.repeat(50_000)}x')`)).toBe(`instantiation: ${notConverted('double')}`)
  expect(processorMs(finding)).toBeLessThan(2_000)
})

describe('texts become what cel-go reads in them', () => {
  it.each([
    ["int('+1')", '1'],
    ["int('-9223372036854775808')", '-9223372036854775808'],
    ["int('9223372036854775808')", `instantiation: ${notConverted('int')}`],
    ["int('1.5')", `instantiation: ${notConverted('int')}`],
    ["uint('18446744073709551615')", '18446744073709551615'],
    ["uint('18446744073709551616')", `instantiation: ${notConverted('uint')}`],
    ["uint('+1')", `instantiation: ${notConverted('uint')}`],
    ["uint('-1')", `instantiation: ${notConverted('uint')}`],
    ["double('1.5e300')", '1.5e+300'],
    ["double('1e400')", `instantiation: ${notConverted('double')}`],
    ["double('inf')", '+Inf'],
    ["double('-inf')", '-Inf'],
    ["double('.55')", '0.55'],
    ["double('5.')", '5'],
    ["double('1x')", `instantiation: ${notConverted('double')}`],
    ["double('x1')", `instantiation: ${notConverted('double')}`],
    ["uint('1x')", `instantiation: ${notConverted('uint')}`],
    ["int('x1')", `instantiation: ${notConverted('int')}`],
    ["bool('True')", 'true'],
    ["bool('F')", 'false'],
    ["timestamp(string('x'))", `instantiation: ${notConverted('google.protobuf.Timestamp')}`],
    ["timestamp('2020-01-01T0:00:00,5Z')", '2020-01-01T00:00:00.5Z'],
  ])('%s: %s', (source, text) => {
    expect(outcome(source)).toBe(text)
  })

  it.each(['2020-01-01t00:00:00Z', '2020-01-01T00:00:00z', '2020-01-01 00:00:00Z', '2020-01-01T00:0:00Z'])(
    'no timestamp is %s',
    (text) => {
      expect(outcome(`timestamp('${text}')`)).toContain('invalid timestamp argument')
    },
  )
})

describe('numbers become what cel-go makes of them', () => {
  it.each([
    ['100000.0', '100000'],
    ['999999.5', '999999.5'],
    ['1000000.0', '1e+06'],
    ['-1234567.0', '-1.234567e+06'],
    ['1e20', '1e+20'],
    ['0.0001', '0.0001'],
    ['0.00001', '1e-05'],
    ['0.0', '0'],
    ["double('nan')", 'NaN'],
    ['-0.0', '-0'],
    // Seconds are rounded down, before 1970 as well.
    ["int(timestamp('1969-12-31T23:59:59.5Z'))", '-1'],
    ["int(timestamp('1969-12-31T23:59:58Z'))", '-2'],
    ["int(timestamp('1970-01-01T00:00:01.5Z'))", '1'],
    ['uint(1e20)', 'instantiation: unsigned integer overflow'],
    ["uint(double('inf'))", 'instantiation: unsigned integer overflow'],
    ["int(double('nan'))", 'instantiation: integer overflow'],
    ['int(-9223372036854775808.0)', 'instantiation: integer overflow'],
    ['timestamp(one)', '1970-01-01T00:00:01Z'],
    // It stays in the zone that it was written in.
    ["timestamp('2011-08-18T19:03:37.01+01:00')", '2011-08-18T19:03:37.01+01:00'],
    ["timestamp('2011-08-18T19:03:37-07:30') + duration('1h')", '2011-08-18T20:03:37-07:30'],
    ["duration('1h') + timestamp('2011-08-18T19:03:37-07:30')", '2011-08-18T20:03:37-07:30'],
    ["timestamp('2011-08-18T00:03:37+01:00') - duration('1h')", '2011-08-17T23:03:37+01:00'],
    ["timestamp('2011-08-18T19:03:37-00:00')", '2011-08-18T19:03:37Z'],
    ["timestamp('2011-08-18T19:03:37+01:00') == timestamp('2011-08-18T18:03:37Z')", 'true'],
    ["timestamp('2011-08-18T00:03:37+01:00').getDate()", '17'],
    ["'%s'.format([timestamp('2011-08-18T19:03:37+01:00')])", '2011-08-18T19:03:37+01:00'],
    ['timestamp(one * 253402300800)', 'error: timestamp overflow'],
    ['duration(one)', `error: ${notConverted('google.protobuf.Duration', 'int')}`],
  ])('%s: %s', (source, text) => {
    expect(outcome(source)).toBe(text)
  })

  it('an integer that is written down is no duration, and one of seconds of other centuries no timestamp', () => {
    expect(outcome('duration(5)')).toContain('<input>:1:17: invalid duration argument')
    expect(outcome('timestamp(9999999999999)')).toContain('<input>:1:18: invalid timestamp argument')
    expect(outcome("timestamp('2011-08-18T19:03:37+25:00')")).toContain('<input>:1:18: invalid timestamp argument')
  })
})
