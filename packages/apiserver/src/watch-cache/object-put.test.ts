import { configMaps, type KubernetesObject } from '@coracle/api'
import type { Put } from '@coracle/store'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { configMap, startTestCore } from '../testing/test-core.ts'
import { createObjectCodec } from './object-codec.ts'
import { lazyLengthMax, lazyPut } from './object-put.ts'
import { StoredObject } from './stored-object.ts'

const key = { namespace: 'default', name: 'a' }
const codec = createObjectCodec({ group: '', version: 'v1', kind: 'ConfigMap' })
const put = (object: KubernetesObject, old?: StoredObject) => lazyPut(codec, 'k', object, [], old)
const isLazy = ({ lazy }: Put): boolean => lazy === true

describe('an object for a store that keeps it as it comes', () => {
  it('is encoded when its bytes are read, once', () => {
    const encode = vi.spyOn(codec, 'encode')
    onTestFinished(() => encode.mockRestore())
    const made = put(configMap('a', { key: 'value' }))
    expect(encode).not.toHaveBeenCalled()
    expect(String(made.value)).toContain('"key":"value"')
    expect(made.value).toBe(made.value)
    expect(encode).toHaveBeenCalledTimes(1)
  })

  it('is taken to be at least as long as it is, with what stays of the one it replaces', () => {
    const first = configMap('a', { long: 'x'.repeat(lazyLengthMax / 2) })
    const made = put(first)
    expect(made.byteLength).toBeGreaterThanOrEqual(JSON.stringify(first).length)
    const old = new StoredObject(first, 1, undefined, codec.head, { byteLength: made.byteLength, owners: [] })
    const small = put({ ...first, data: { ...first.data, key: 'value' } } as KubernetesObject, old)
    expect(isLazy(small)).toBe(true)
    expect(small.byteLength).toBeLessThan(made.byteLength + 100)
    const large = put(
      { ...first, data: { ...first.data, more: 'x'.repeat(lazyLengthMax / 2) } } as KubernetesObject,
      old,
    )
    expect(isLazy(large)).toBe(false)
    expect(large.byteLength).toBe(large.value.length)
  })

  it('is never encoded where it is only read in process', async () => {
    const { client, registry } = await startTestCore()
    const stringify = vi.spyOn(JSON, 'stringify')
    onTestFinished(() => stringify.mockRestore())
    const encoded = () =>
      stringify.mock.calls.filter(([value]) => (value as KubernetesObject | undefined)?.kind === 'ConfigMap')
    const created = await client.create(configMaps, configMap('a'))
    await client.update(configMaps, { ...created, data: { key: 'value' } })
    await client.patch(configMaps, key, { type: 'merge', body: { data: { key: 'other' } } })
    await client.delete(configMaps, key)
    await client.create(configMaps, configMap('a', { key: 'value' }))
    expect(encoded()).toHaveLength(0)
    const { bytes } = await registry(configMaps).get('default', 'a')
    expect(JSON.parse(String(bytes))).toMatchObject({ kind: 'ConfigMap', metadata: { name: 'a', managedFields: [{}] } })
  })
})
