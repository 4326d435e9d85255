import { describe, expect, it } from 'vitest'
import { reachableHosts } from '../src/reachable-hosts.ts'

const address = (family: 'IPv4' | 'IPv6', text: string, internal = false) => ({
  address: text,
  family,
  internal,
  netmask: '',
  mac: '',
  cidr: null,
  scopeid: 0,
})
const interfaces = {
  lo: [address('IPv4', '127.0.0.1', true), address('IPv6', '::1', true)],
  eth0: [address('IPv4', '192.0.2.7'), address('IPv6', '2001:db8::7'), address('IPv6', 'fe80::7')],
  eth1: [address('IPv4', '192.0.2.7'), address('IPv4', '198.51.100.7')],
}
const ipv4 = ['192.0.2.7', '198.51.100.7']

describe('what a server is reached by', () => {
  it.each(['127.0.0.1', '192.0.2.7', 'localhost', '::1', 'fe80::7%eth0'])('is %s when it listens there', (host) => {
    expect(reachableHosts(host, interfaces, 'web-1')).toMatchObject({ local: undefined, all: [host] })
  })

  it.each([
    ['127.0.0.1', '127.0.0.1'],
    ['192.0.2.7', '192.0.2.7'],
    ['localhost', '127.0.0.1'],
    ['fe80::7%eth0', '127.0.0.1'],
    ['0.0.0.0', '192.0.2.7'],
    ['::', '192.0.2.7'],
    ['::1', '::1'],
  ])('where it listens on %s, others are told %s', (host, advertised) => {
    expect(reachableHosts(host, interfaces, 'web-1').advertised).toBe(advertised)
  })

  it.each(['0.0.0.0', '0', '000.0.0.0'])('is any IPv4 address of the machine when it listens on %s', (host) => {
    expect(reachableHosts(host, interfaces, 'web-1')).toMatchObject({ local: '127.0.0.1', all: ['web-1', ...ipv4] })
  })

  it.each(['::', '0:0::0'])('is any address of the machine when it listens on %s, but link-local ones', (host) => {
    const { local, all } = reachableHosts(host, interfaces, 'web-1')
    expect([local, ...all]).toEqual(['[::1]', 'web-1', '192.0.2.7', '2001:db8::7', '198.51.100.7'])
  })

  it.each(['my_laptop', '', 'a..b', '-', '10.0.0.1'])(
    'is not %j, which is no name that a certificate can have',
    (name) => {
      expect(reachableHosts('0.0.0.0', interfaces, name).all).toEqual(ipv4)
    },
  )

  it('is bounded', () => {
    const many = { eth0: Array.from({ length: 300 }, (_, index) => address('IPv4', `10.0.${index}.1`)) }
    expect(reachableHosts('0.0.0.0', many, 'web-1').all).toHaveLength(64)
  })
})
