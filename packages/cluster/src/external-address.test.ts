import { isIPv4 } from 'node:net'
import { expect, it } from 'vitest'
import { externalAddress } from './external-address.ts'

it.each([
  ['192.0.2.7', '192.0.2.7'],
  ['2001:db8::7', '2001:db8::7'],
  ['127.0.0.1', undefined],
  ['127.0.0.2', undefined],
  ['::1', undefined],
  ['localhost', undefined],
  ['cluster.example.com', undefined],
])('what listens on %s is reached from elsewhere at %s', (host, address) => {
  expect(externalAddress(host)).toBe(address)
})

it.each(['0.0.0.0', '::', '0'])(
  'what listens on all addresses (%s) is reached at one that others reach, if there is one',
  (host) => {
    const address = externalAddress(host)
    expect(address === undefined || (!address.startsWith('127.') && address !== '::1')).toBe(true)
    expect(address === undefined || isIPv4(address) || host === '::').toBe(true)
  },
)
