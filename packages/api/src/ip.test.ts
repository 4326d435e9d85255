import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formatCidr, formatIp, parseCidr, parseIp, rangeContains, rangeContainsRange, sizeOfRange } from './ip.ts'

const address = fc.oneof(
  fc.record({ family: fc.constant(4 as const), value: fc.bigInt(0n, 2n ** 32n - 1n) }),
  fc.record({ family: fc.constant(6 as const), value: fc.bigInt(0n, 2n ** 128n - 1n) }),
)

describe('an address', () => {
  it('is read as it was written', () => {
    const comesBack = fc.property(address, (ip) => {
      expect(parseIp(formatIp(ip))).toEqual(ip)
    })
    fc.assert(comesBack)
  })

  it.each([
    ['10.0.0.1', '10.0.0.1'],
    ['FD00:0:0::1', 'fd00::1'],
    ['::', '::'],
    ['1:2:3:4:5:6:7::', '1:2:3:4:5:6:7:0'],
    ['2001:db8::10.0.0.1', '2001:db8::a00:1'],
  ])('%s is written %s', (text, canonical) => {
    const ip = parseIp(text)
    expect(ip && formatIp(ip)).toBe(canonical)
  })

  it.each(['', '10.0.0', '10.0.0.256', '010.0.0.1', 'fe80::1%eth0', 'x'])('is not %j', (text) => {
    expect(parseIp(text)).toBeUndefined()
  })
})

describe('a range', () => {
  it('has the addresses that begin alike', () => {
    const range = parseCidr('10.96.5.7/12')
    if (range === undefined) throw new Error('is a range')
    expect(formatCidr(range)).toBe('10.96.0.0/12')
    expect(sizeOfRange(range)).toBe(2n ** 20n)
    const contains = (text: string) => rangeContains(range, parseIp(text) ?? { family: 4, value: -1n })
    expect(['10.96.0.0', '10.111.255.255', '10.112.0.0', '10.95.255.255', '::10.96.0.0'].map(contains)).toEqual([
      true,
      true,
      false,
      false,
      false,
    ])
  })

  it.each([
    ['10.96.0.0/16', '10.96.4.0/24', true],
    ['10.96.0.0/16', '10.96.0.0/16', true],
    ['10.96.0.0/16', '10.96.0.0/12', false],
    ['10.96.0.0/16', '10.97.0.0/24', false],
    ['::/0', '10.96.0.0/24', false],
  ])('%s contains %s: %s', (outer, inner, expected) => {
    const [a, b] = [parseCidr(outer), parseCidr(inner)]
    expect(a !== undefined && b !== undefined && rangeContainsRange(a, b)).toBe(expected)
  })

  it.each(['10.0.0.0', '10.0.0.0/33', '10.0.0.0/', '10.0.0.0/08', '10.0.0.0/8/8', '::/129'])('is not %j', (text) => {
    expect(parseCidr(text)).toBeUndefined()
  })
})
