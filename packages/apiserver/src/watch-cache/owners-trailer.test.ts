import { type ConfigMap, configMaps } from '@coracle/api'
import { expect, it } from 'vitest'
import { createObjectCodec } from './object-codec.ts'
import { hasOwners, readOwners } from './owners-trailer.ts'

const codec = createObjectCodec(configMaps)
const configMap: ConfigMap = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'a' },
  data: { text: ',"/owners":[]}' },
}

it('is in all that servers write, also where nobody owns a field, and in nothing else', () => {
  const value = codec.encode(configMap, [])
  expect([hasOwners(value), readOwners(value)]).toEqual([true, []])
  expect(codec.decode(value, 7).object).toEqual({ ...configMap, metadata: { name: 'a', resourceVersion: '7' } })
  expect(hasOwners(Buffer.from(JSON.stringify(configMap)))).toBe(false)
})
