import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  addQuantity,
  canonicalQuantity,
  compareQuantity,
  formatQuantity,
  isQuantity,
  parseQuantity,
  quantityMilli,
  quantityToNumber,
  quantityValue,
  subtractQuantity,
} from './quantity.ts'

describe('canonicalQuantity', () => {
  it.each([
    ['0', '0'],
    ['0.0Gi', '0'],
    ['100m', '100m'],
    ['0.1', '100m'],
    ['1.5', '1500m'],
    ['1000m', '1'],
    ['1000', '1k'],
    ['12345', '12345'],
    ['1024', '1024'],
    ['1024Mi', '1Gi'],
    ['1.5Gi', '1536Mi'],
    ['0.5Ki', '512'],
    ['0.3Mi', '314572800m'],
    ['1Ki', '1Ki'],
    ['1e3', '1e3'],
    ['12e4', '120e3'],
    ['1E', '1E'],
    ['1000E', '1000E'],
    ['1E3', '1e3'],
    ['5e-3', '5e-3'],
    ['+1', '1'],
    ['-1.5', '-1500m'],
    ['.5', '500m'],
    ['1.', '1'],
    ['0.1n', '1n'],
    ['16Ei', '9223372036854775807'],
  ])('writes %s as %s', (text, canonical) => {
    expect(canonicalQuantity(text)).toBe(canonical)
  })

  it('is the same for what is canonical', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const canonical = canonicalQuantity(text)
        expect(canonicalQuantity(canonical)).toBe(canonical)
        expect(compareQuantity(canonical, text)).toBe(0)
      }),
    )
  })
})

describe('parseQuantity', () => {
  it.each(['', 'a', '1.2.3', '1 Gi', '1Gi ', '1_000', '0x10', '..'])('refuses %j', (text) => {
    expect(isQuantity(text)).toBe(false)
    expect(() => parseQuantity(text)).toThrow(
      "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
    )
  })

  it.each(['Gi', '.', '+', '-', 'E', '.Mi'])('takes %j for nothing, as upstream', (text) => {
    expect(canonicalQuantity(text)).toBe('0')
  })

  it.each(['1Zi', '1mm', '1i', '1Kii', '--1', '+-'])('refuses the suffix of %s', (text) => {
    expect(() => parseQuantity(text)).toThrow(/quantities must match|unable to parse quantity's suffix/)
  })

  it('says of long texts, too, that they are none', () => {
    expect(() => parseQuantity('a'.repeat(2000))).toThrow('quantities must match the regular expression')
    expect(() => parseQuantity(`${'1'.repeat(1_000_000)}x`)).toThrow('quantities must match the regular expression')
    expect(canonicalQuantity('0'.repeat(200))).toBe('0')
  })

  it('refuses what would only fill the memory', () => {
    expect(() => parseQuantity('1e1000000000')).toThrow("unable to parse quantity's suffix")
    expect(() => parseQuantity('1'.repeat(2000))).toThrow('unable to parse numeric part of quantity')
  })
})

describe('arithmetic', () => {
  it('is exact where floating point is not', () => {
    expect(formatQuantity(addQuantity('100m', '200m'))).toBe('300m')
    expect(formatQuantity(subtractQuantity('1', '999999999n'))).toBe('1n')
  })

  it('keeps the suffixes of the first amount, or of the second where the first is zero', () => {
    expect(formatQuantity(addQuantity('1Gi', '1G'))).toBe('2073741824')
    expect(formatQuantity(addQuantity('1Gi', '1048576'))).toBe('1025Mi')
    expect(formatQuantity(addQuantity('0', '2Ki'))).toBe('2Ki')
  })

  it('orders by amount, not by text', () => {
    expect(compareQuantity('1Gi', '1G')).toBeGreaterThan(0)
    expect(compareQuantity('999m', '1')).toBeLessThan(0)
    expect(compareQuantity('1', '1000m')).toBe(0)
  })

  it('adds and subtracts back to where it began', () => {
    fc.assert(
      fc.property(anyText, anyText, (a, b) => {
        expect(compareQuantity(subtractQuantity(addQuantity(a, b), b), a)).toBe(0)
        expect(addQuantity(a, b).nanos).toBe(addQuantity(b, a).nanos)
      }),
    )
  })

  it('rounds counts away from zero', () => {
    expect(quantityMilli('1.5')).toBe(1500)
    expect(quantityMilli('1u')).toBe(1)
    expect(quantityValue('1.1')).toBe(2)
    expect(quantityValue('-1.1')).toBe(-2)
    expect(quantityToNumber('1500m')).toBe(1.5)
    expect(quantityToNumber('1Gi')).toBe(1_073_741_824)
  })
})

const suffixes = ['', 'n', 'u', 'm', 'k', 'M', 'G', 'T', 'P', 'E', 'Ki', 'Mi', 'Gi', 'Ti', 'e3', 'e-6', 'E2']
const anyText = fc
  .tuple(
    fc.integer({ min: -100_000, max: 100_000 }),
    fc.option(fc.nat(999), { nil: undefined }),
    fc.constantFrom(...suffixes),
  )
  .map(([whole, fraction, suffix]) => `${whole}${fraction === undefined ? '' : `.${fraction}`}${suffix}`)
