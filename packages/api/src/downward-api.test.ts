import { describe, expect, it } from 'vitest'
import { containerResourceValue, metadataFieldValue } from './downward-api.ts'

const metadata = {
  name: 'web',
  namespace: 'shop',
  uid: 'u1',
  labels: { 'app.example/name': 'web' },
  annotations: { note: 'hi' },
}

it.each([
  ['metadata.name', 'web'],
  ['metadata.namespace', 'shop'],
  ['metadata.uid', 'u1'],
  ["metadata.labels['app.example/name']", 'web'],
  ["metadata.annotations['note']", 'hi'],
  ["metadata.labels['none']", ''],
  ["metadata.labels['constructor']", ''],
  ['spec.nodeName', undefined],
  ['metadata.labels', undefined],
])('says of %s %j', (path, value) => {
  expect(metadataFieldValue(path, metadata)).toBe(value)
})

describe('the value of a resource', () => {
  const container = { name: 'web', resources: { limits: { cpu: '1500m', memory: '1Gi' }, requests: { cpu: '100m' } } }

  it.each([
    ['limits.cpu', undefined, '2'],
    ['limits.cpu', '1m', '1500'],
    ['limits.memory', '1Mi', '1024'],
    ['requests.cpu', '0', '1'],
    ['requests.cpu', '0m', '1'],
    ['limits.hugepages-2Mi', undefined, '0'],
    ['requests.memory', undefined, '0'],
    ['limits.ephemeral-storage', '1Gi', '10'],
  ])('%s in units of %s is %s', (resource, divisor, value) => {
    const selector = { resource, ...(divisor === undefined ? {} : { divisor }) }
    const allocatable = { 'ephemeral-storage': '10Gi', 'hugepages-2Mi': '4Mi' }
    expect(containerResourceValue(selector, container, allocatable)).toBe(value)
  })

  it('is what the node has where the limit is 0', () => {
    const unlimited = { name: 'web', resources: { limits: { cpu: '0' } } }
    expect(containerResourceValue({ resource: 'limits.cpu' }, unlimited, { cpu: '8' })).toBe('8')
  })

  it('refuses what the downward API does not know', () => {
    expect(() => containerResourceValue({ resource: 'limits.gpu' }, container)).toThrow(
      'unsupported container resource',
    )
  })
})
