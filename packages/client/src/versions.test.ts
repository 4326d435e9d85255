import { describe, expect, it } from 'vitest'
import { compareVersions, isComparableVersion, newerVersion } from './versions.ts'

describe('resource versions', () => {
  it.each([
    ['9', '10', -1],
    ['10', '9', 1],
    ['42', '42', 0],
    ['18446744073709551614', '18446744073709551615', -1],
  ])('orders %s and %s as numbers', (a, b, sign) => {
    expect(Math.sign(compareVersions(a, b))).toBe(sign)
  })

  it('knows which versions can be compared', () => {
    expect(['0', '17', '007', '', 'abc', '-1'].filter(isComparableVersion)).toEqual(['0', '17'])
  })

  it('takes an absent version for the oldest', () => {
    expect(newerVersion(undefined, '3')).toBe('3')
    expect(newerVersion('4', undefined)).toBe('4')
    expect(newerVersion('4', '12')).toBe('12')
  })
})
