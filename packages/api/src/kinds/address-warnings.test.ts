import { expect, it } from 'vitest'
import { FieldPath } from '../field-path.ts'
import { cidrWarnings, ipWarnings } from './address-warnings.ts'

const path = FieldPath.of('a')

it.each([
  ['10.0.0.1', []],
  ['fd00::1', []],
  ['FD00:0::1', ['a: IPv6 address "FD00:0::1" should be in RFC 5952 canonical format ("fd00::1")']],
  ['::ffff:10.0.0.1', ['a: non-standard IP address "::ffff:10.0.0.1" is invalid: use "10.0.0.1"']],
])('an address %s', (ip, warnings) => {
  expect(ipWarnings(ip, path)).toEqual(warnings)
})

it.each([
  ['10.0.0.0/8', []],
  [
    '10.0.0.1/8',
    ['a: CIDR value "10.0.0.1/8" is ambiguous in this context (should be "10.0.0.0/8" or "10.0.0.1/32"?)'],
  ],
  ['FD00::/8', ['a: IPv6 CIDR value "FD00::/8" should be in RFC 5952 canonical format ("fd00::/8")']],
])('a range %s', (cidr, warnings) => {
  expect(cidrWarnings(cidr, path)).toEqual(warnings)
})
