import { type ConfigMap, configMaps, type Secret, secrets, type Volume } from '@coracle/api'
import { createFakeClient, type FakeClient } from '@coracle/client/testing'
import { virtualEnvironment } from '@coracle/environment'
import { beforeEach, describe, expect, it } from 'vitest'
import { apiSources } from '../env/api-sources.ts'
import { testPod } from '../testing/pods.ts'
import { VolumesNotReadyError } from './claimed-volumes.ts'
import { findKeyedSources } from './keyed-sources.ts'
import { mountVolumes } from './mount-volumes.ts'

let client: FakeClient

beforeEach(async () => {
  client = createFakeClient(virtualEnvironment())
  const metadata = { namespace: 'default', name: 'there' }
  const map: ConfigMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { a: '1' }, binaryData: { b: 'AA==' } }
  const secret: Secret = { apiVersion: 'v1', kind: 'Secret', metadata, data: { c: 'AA==' } }
  await client.create(configMaps, map)
  await client.create(secrets, secret)
})

const find = (volume: Omit<Volume, 'name'>) =>
  findKeyedSources(testPod({ volumes: [{ name: 'v', ...volume }] }), apiSources(client))

const items = (...keys: readonly string[]) => keys.map((key) => ({ key, path: key }))

describe('what volumes show of other objects', () => {
  it.each<readonly [string, Omit<Volume, 'name'>]>([
    ['a ConfigMap', { configMap: { name: 'there' } }],
    ['its keys', { configMap: { name: 'there', items: items('a', 'b') } }],
    ['a Secret', { secret: { secretName: 'there' } }],
    ['its keys', { secret: { secretName: 'there', items: items('c') } }],
    ['an optional ConfigMap', { configMap: { name: 'gone', optional: true } }],
    ['an optional key', { secret: { secretName: 'there', items: items('x'), optional: true } }],
    [
      'several',
      { projected: { sources: [{ configMap: { name: 'there' } }, { secret: { name: 'gone', optional: true } }] } },
    ],
    ['nothing', { emptyDir: {} }],
  ])('is there: %s', async (_, volume) => {
    await expect(find(volume)).resolves.toBeUndefined()
  })

  it.each<readonly [string, Omit<Volume, 'name'>, string]>([
    ['a ConfigMap', { configMap: { name: 'gone' } }, 'configmap "gone" not found'],
    [
      'a key of one',
      { configMap: { name: 'there', items: items('a', 'x') } },
      'configmap references non-existent config key: x',
    ],
    ['a Secret', { secret: { secretName: 'gone' } }, 'secret "gone" not found'],
    ['a key of one', { secret: { secretName: 'there', items: items('a') } }, 'references non-existent secret key: a'],
    [
      'parts',
      { projected: { sources: [{ secret: { name: 'gone' } }, { configMap: { name: 'gone' } }] } },
      '[secret "gone" not found, configmap "gone" not found]',
    ],
  ])('is waited for: %s', async (_, volume, message) => {
    await expect(find(volume)).rejects.toThrow(VolumesNotReadyError)
    await expect(find(volume)).rejects.toThrow(`MountVolume.SetUp failed for volume "v" : ${message}`)
  })

  it('is there where an object is only assumed, which has every key and lists none', async () => {
    const data = new Proxy({}, { get: () => '' })
    const assumed: Secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'gone' }, data }
    const pod = testPod({ volumes: [{ name: 'v', secret: { secretName: 'gone', items: items('any') } }] })
    const sources = { configMap: async () => undefined, secret: async () => assumed }
    await expect(findKeyedSources(pod, sources)).resolves.toBeUndefined()
  })

  it.each([true, false])('is looked for on every runtime (real: %s)', async (isReal) => {
    const pod = testPod({ volumes: [{ name: 'v', configMap: { name: 'gone' } }] })
    await expect(mountVolumes(pod, client, apiSources(client), isReal)).rejects.toThrow(VolumesNotReadyError)
  })
})
