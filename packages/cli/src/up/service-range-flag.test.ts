import { describe, expect, it } from 'vitest'
import { serviceRangeOf } from './service-range-flag.ts'

describe('--service-cluster-ip-range', () => {
  it.each([
    [undefined, {}],
    ['10.0.0.0/24', { serviceCidr: '10.0.0.0/24' }],
    ['10.0.0.77/24', { serviceCidr: '10.0.0.0/24' }],
    ['fd00:0::/112', { serviceCidr: 'fd00::/112' }],
    ['10.0.0.0/30', { serviceCidr: '10.0.0.0/30' }],
  ])('reads %j', (serviceClusterIpRange, options) => {
    expect(serviceRangeOf(serviceClusterIpRange === undefined ? {} : { serviceClusterIpRange })).toEqual(options)
  })

  it.each([
    ['10.0.0.0', '"10.0.0.0" is no range of addresses such as 10.96.0.0/12'],
    ['10.0.0.0/16,fd00::/112', '"10.0.0.0/16,fd00::/112" is no range of addresses such as 10.96.0.0/12'],
    ['10.0.0.0/33', '"10.0.0.0/33" is no range of addresses such as 10.96.0.0/12'],
    ['10.0.0.0/31', '10.0.0.0/31 has no room for services: give one such as 10.96.0.0/12'],
    ['fd00::/127', 'fd00::/127 has no room for services: give one such as 10.96.0.0/12'],
  ])('refuses %j', (serviceClusterIpRange, message) => {
    expect(() => serviceRangeOf({ serviceClusterIpRange })).toThrow(`--service-cluster-ip-range: ${message}`)
  })
})
