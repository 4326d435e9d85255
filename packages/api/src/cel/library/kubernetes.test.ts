import { describe, expect, it } from 'vitest'
import { compileCel } from '../program.ts'
import { CelList, Optional } from '../values.ts'

function evaluated(source: string): unknown {
  const compiled = compileCel(source, new Map())
  if ('problem' in compiled) return compiled.problem.split('\n')[0]
  const outcome = compiled.program.run(new Map(), 1_000_000)
  return 'value' in outcome ? outcome.value : outcome.error
}

// What cel-go says in the environment of Kubernetes 1.36.
describe('quantities', () => {
  it.each([
    ['1', true],
    ['1k', true],
    ['1.5k', true],
    ['1.50k', true],
    ['1Ki', true],
    ['1E', true],
    ['10E', false],
    ['00', true],
    ['123456789012345678', true],
    // Upstream keeps these in another way, or counts them in less than units.
    ['1000m', false],
    ['1.0', false],
    ['0.0', false],
    ['1.5Gi', false],
    ['4Pi', false],
    ['1Ei', false],
    ['1234567890123456789', false],
  ])('%s is an integer: %j', (text, isInteger) => {
    expect(evaluated(`quantity('${text}').isInteger()`)).toBe(isInteger)
  })

  it.each([
    ["quantity('500m').add(quantity('500m')).isInteger()", false],
    ["quantity('0').add(quantity('2k')).isInteger()", true],
    ["quantity('2').add(1).asInteger()", 3n],
    ["quantity('1').sub(quantity('1000m')).isInteger()", false],
    ["quantity('1000m').asInteger()", 'cannot convert value to integer'],
    ["sign(quantity('-5'))", -1n],
    [
      "quantity('1').sign()",
      "ERROR: <input>:1:19: found no matching overload for 'sign' applied to 'kubernetes.Quantity.()'",
    ],
    [
      "string(quantity('1'))",
      "ERROR: <input>:1:7: found no matching overload for 'string' applied to '(kubernetes.Quantity)'",
    ],
    ["isQuantity('Gi') && isQuantity('-')", true],
    ["quantity('--1')", "unable to parse quantity's suffix"],
  ])('%s', (source, expected) => {
    expect(evaluated(source)).toBe(expected)
  })
})

describe('versions', () => {
  it.each([
    ['', 'Version string empty'],
    ['1.2', 'No Major.Minor.Patch elements found'],
    ['v1.2.3', 'Invalid character(s) found in major number "v1"'],
    ['1.02.3', 'Minor number must not contain leading zeroes "02"'],
    ['1.2.', 'strconv.ParseUint: parsing "": invalid syntax'],
    ['1.2.18446744073709551616', 'strconv.ParseUint: parsing "18446744073709551616": value out of range'],
    ['1.2.3-', 'Prerelease is empty'],
    ['1.2.3-a..b', 'Prerelease is empty'],
    ['1.2.3-01', 'Numeric PreRelease version must not contain leading zeroes "01"'],
    ['1.2.3-a b', 'Invalid character(s) found in prerelease "a b"'],
    ['1.2.3+', 'Build meta data is empty'],
    ['1.2.3+a_b', 'Invalid character(s) found in build meta data "a_b"'],
  ])('%j is none', (text, problem) => {
    expect(evaluated(`semver('${text}')`)).toBe(problem)
    expect(evaluated(`isSemver('${text}')`)).toBe(false)
  })

  it.each([
    ['v1.2', 2n],
    ['1.0.-alpha.1', 0n],
    ['v01.02.03-rc.1+5', 2n],
    ['1', 0n],
    ['1-a', 'short version cannot contain PreRelease/Build meta data'],
  ])('%s read leniently has the minor version %s', (text, minor) => {
    expect(evaluated(`semver('${text}', true).minor()`)).toBe(minor)
  })
})

it('tells why a text is no URI as Go does', () => {
  const problem = evaluated("format.uri().validate('a')")
  expect(problem instanceof Optional && problem.value instanceof CelList && problem.value.at(0)).toBe(
    'parse "a": invalid URI for request',
  )
})
