import { expect, it } from 'vitest'
import { Description } from './description.ts'
import { describeFields, labelOf } from './fields.ts'

it.each([
  ['apiVersion', 'API Version'],
  ['creationTimestamp', 'Creation Timestamp'],
  ['uid', 'UID'],
  ['diskURI', 'Disk URI'],
  ['podIPs', 'Pod I Ps'],
  ['HTTPProxy', 'HTTPProxy'],
  ['nonResourceURLs', 'Non Resource URLs'],
  ['setHostnameAsFQDN', 'Set Hostname As FQDN'],
  ['osbGuid', 'Osb GUID'],
  ['ABc', 'A Bc'],
  ['apiURL', 'API URL'],
  ['a-b', 'A - B'],
  ['ip4', 'ip4'],
  ['example.com/key', 'example.com/key'],
])('labels %s', (key, label) => {
  expect(labelOf(key)).toBe(label)
})

it('nests objects and lists', () => {
  const text = new Description()
  describeFields(text, 0, { spec: { count: 2, items: ['a', { name: 'b' }] } })
  expect(text.toString()).toBe('Spec:\n  Count:  2\n  Items:\n    a\n    Name:  b\n')
})
