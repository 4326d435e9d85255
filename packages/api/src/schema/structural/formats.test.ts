import { expect, it } from 'vitest'
import { processorMs } from '../../testing/processor-time.ts'
import { formatChecks } from './formats.ts'

it.each<[string, readonly string[], readonly string[]]>([
  ['bsonobjectid', ['507f1f77bcf86cd799439011'], ['507f1f77bcf86cd79943901']],
  ['uri', ['http://a.b/c?d', '/a', 'urn:x'], ['', 'a', 'http://a b']],
  ['email', ['a@b.c', 'A B <a@b.c>'], ['a', 'a@', 'a b@c', 'a@b@c']],
  [
    'hostname',
    ['a.example.com', '1-2.de', 'localhost', 'A-1'],
    ['', 'a..b', '-a', 'a_b', '1.5', 'ab-c', 'a'.repeat(64)],
  ],
  ['ipv4', ['10.0.0.1'], ['::1', '10.0.0', '10.0.0.256']],
  ['ipv6', ['::1', 'fe80::1'], ['10.0.0.1', ':::']],
  ['cidr', ['10.0.0.0/8', 'fd00::/64'], ['10.0.0.0', '10.0.0.0/33', 'x/8', '10.0.0.0/8/1', '10.0.0.0/']],
  ['mac', ['00:1b:44:11:3a:b7', '00-1B-44-11-3A-B7', '001b.4411.3ab7'], ['00:1b:44', '00:1b-44:11:3a:b7']],
  ['uuid', ['123e4567-e89b-12d3-a456-426614174000', '123E4567E89B12D3A456426614174000'], ['123e4567']],
  ['uuid3', ['123e4567-e89b-32d3-a456-426614174000'], ['123e4567-e89b-42d3-a456-426614174000']],
  ['uuid4', ['123e4567-e89b-42d3-a456-426614174000'], ['123e4567-e89b-42d3-c456-426614174000']],
  ['uuid5', ['123e4567-e89b-52d3-a456-426614174000'], ['123e4567-e89b-42d3-a456-426614174000']],
  ['isbn', ['0321751043', '978-0321751041'], ['0321751044']],
  ['isbn10', ['0321751043', '0-8044-2957-X'], ['978-0321751041']],
  ['isbn13', ['978-0321751041'], ['0321751043', '978-0321751042']],
  ['creditcard', ['4111 1111 1111 1111'], ['4111 1111 1111 1112', '1']],
  ['ssn', ['111-11-1111', '111111111'], ['11-111-1111']],
  ['hexcolor', ['#FFF', 'a0b1c2'], ['#FFFF', 'ggg']],
  ['rgbcolor', ['rgb(0, 255,1)'], ['rgb(256,0,0)', 'rgb(1,2)']],
  ['byte', ['aGk=', 'YQ==', 'YWJj', 'YWJjYQ=='], ['', 'a', 'aGk', '####', 'aGk=YWJj']],
  ['password', ['', 'anything'], []],
  ['date', ['2024-02-29'], ['2023-02-29', '2024-13-01', '2024-1-1', '2024-04-31', '1900-02-29']],
  ['duration', ['1h30m', '-1.5s', '0', '3 days', '2w'], ['', '1', 'x', '1 fortnight']],
  [
    'datetime',
    ['2024-01-02T03:04:05Z', '2024-01-02T03:04:05.123+01:00'],
    ['2024-01-02', '2024-01-02T25:00:00Z', '2024-01-32T03:04:05Z'],
  ],
  ['k8sshortname', ['a-b'], ['a.b', 'A']],
  ['k8slongname', ['a.b'], ['a_b']],
])('%s', (format, good, bad) => {
  const holds = formatChecks.get(format)
  expect(good.filter((text) => holds?.(text) !== true)).toEqual([])
  expect(bad.filter((text) => holds?.(text) !== false)).toEqual([])
})

it('finds out at once that very many digits are no duration', () => {
  const finding = () => expect(formatChecks.get('duration')?.('1'.repeat(50_000))).toBe(false)
  expect(processorMs(finding)).toBeLessThan(2_000)
})
