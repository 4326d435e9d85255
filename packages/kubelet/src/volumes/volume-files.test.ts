import { type ConfigMap, configMaps, type Secret, secrets, type Volume } from '@coracle/api'
import { createFakeClient, type FakeClient } from '@coracle/client/testing'
import { virtualEnvironment } from '@coracle/environment'
import { beforeEach, describe, expect, it } from 'vitest'
import { apiSources } from '../env/api-sources.ts'
import { testContainer, testPod } from '../testing/pods.ts'
import type { PodTokens } from './pod-tokens.ts'
import { VolumeSourceError, volumeFiles } from './volume-files.ts'

let client: FakeClient

beforeEach(async () => {
  client = createFakeClient(virtualEnvironment())
  const metadata = { namespace: 'default', name: 'there' }
  const map: ConfigMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { a: '1' }, binaryData: { b: 'AP8=' } }
  const secret: Secret = { apiVersion: 'v1', kind: 'Secret', metadata, data: { c: 'eA==' } }
  await client.create(configMaps, map)
  await client.create(secrets, secret)
})

type Source = Omit<Volume, 'name'>

const annotated = { labels: { tier: 'front', app: 'web' }, annotations: { note: 'a "b"\nc' } }

async function filesOf(volume: Source) {
  const pod = testPod({ containers: [testContainer({ name: 'web', resources: { limits: { memory: '1Gi' } } })] })
  const sources = {
    pod: { ...pod, metadata: { ...pod.metadata, ...annotated } },
    allocatable: { cpu: '2' },
    objects: apiSources(client),
  }
  const files = await volumeFiles({ name: 'v', ...volume }, sources)
  return files.map(({ path, data, mode }) => [path, Buffer.from(data).toString('latin1'), mode.toString(8)])
}

const items = (...keys: readonly string[]) => keys.map((key) => ({ key, path: `${key}/file` }))

describe('the files of a volume', () => {
  it.each<readonly [string, Source, readonly (readonly string[])[]]>([
    [
      'of a ConfigMap',
      { configMap: { name: 'there' } },
      [
        ['a', '1', '644'],
        ['b', '\x00\xff', '644'],
      ],
    ],
    ['of keys of one', { configMap: { name: 'there', items: items('a') } }, [['a/file', '1', '644']]],
    ['of a Secret', { secret: { secretName: 'there', defaultMode: 0o400 } }, [['c', 'x', '400']]],
    [
      'with a mode of its own',
      { secret: { secretName: 'there', defaultMode: 0o400, items: [{ key: 'c', path: 'c', mode: 0o440 }] } },
      [['c', 'x', '440']],
    ],
    ['of what may be missing and is', { configMap: { name: 'gone', optional: true } }, []],
    [
      'of a key that may be missing and is, whatever its name',
      { configMap: { name: 'there', items: items('constructor'), optional: true } },
      [],
    ],
    ['of a key that may be missing and is', { secret: { secretName: 'there', items: items('x'), optional: true } }, []],
    [
      'of the pod',
      {
        downwardAPI: {
          items: [
            { path: 'labels', fieldRef: { fieldPath: 'metadata.labels' } },
            { path: 'annotations', fieldRef: { fieldPath: 'metadata.annotations' } },
            { path: 'name', fieldRef: { fieldPath: 'metadata.name' }, mode: 0o600 },
            { path: 'memory', resourceFieldRef: { containerName: 'web', resource: 'limits.memory', divisor: '1Mi' } },
            { path: 'cpu', resourceFieldRef: { containerName: 'web', resource: 'limits.cpu' } },
          ],
        },
      },
      [
        ['labels', 'app="web"\ntier="front"', '644'],
        ['annotations', 'note="a \\"b\\"\\nc"', '644'],
        ['name', 'web', '600'],
        ['memory', '1024', '644'],
        ['cpu', '2', '644'],
      ],
    ],
    [
      'of several sources, of which the last one stays',
      {
        projected: {
          defaultMode: 0o640,
          sources: [
            { configMap: { name: 'there', items: [{ key: 'a', path: 'c' }] } },
            { secret: { name: 'there' } },
            { downwardAPI: { items: [{ path: 'uid', fieldRef: { fieldPath: 'metadata.name' } }] } },
          ],
        },
      },
      [
        ['c', 'x', '640'],
        ['uid', 'web', '640'],
      ],
    ],
    ['of nothing', { emptyDir: {} }, []],
  ])('are those %s', async (_, volume, expected) => {
    expect(await filesOf(volume)).toEqual(expected)
  })

  it.each<readonly [string, Source, string]>([
    ['a ConfigMap', { configMap: { name: 'gone' } }, 'configmap "gone" not found'],
    [
      'a key of one',
      { configMap: { name: 'there', items: items('a', 'x') } },
      'configmap references non-existent config key: x',
    ],
    ['a Secret', { secret: { secretName: 'gone' } }, 'secret "gone" not found'],
    ['a key of one', { secret: { secretName: 'there', items: items('a') } }, 'references non-existent secret key: a'],
    [
      'several',
      { projected: { sources: [{ secret: { name: 'gone' } }, { configMap: { name: 'gone' } }] } },
      '[secret "gone" not found, configmap "gone" not found]',
    ],
    [
      'a bundle of certificates',
      { projected: { sources: [{ clusterTrustBundle: { path: 't' } }] } },
      'sources of kind clusterTrustBundle are not projected here',
    ],
    [
      'a container',
      { downwardAPI: { items: [{ path: 'a', resourceFieldRef: { containerName: 'x', resource: 'limits.cpu' } }] } },
      'container x not found',
    ],
  ])('are not there for want of %s', async (_, volume, message) => {
    const files = filesOf(volume)
    await expect(files).rejects.toThrow(VolumeSourceError)
    await expect(files).rejects.toThrow(message)
  })

  it('are those of an object that is only assumed, which has every key and lists none', async () => {
    const data = new Proxy({}, { get: () => '' })
    const assumed: Secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'gone' }, data }
    const objects = { configMap: async () => undefined, secret: async () => assumed }
    const volume: Volume = { name: 'v', secret: { secretName: 'gone', items: items('any') } }
    const files = await volumeFiles(volume, { pod: testPod(), allocatable: {}, objects })
    expect(files).toMatchObject([{ path: 'any/file' }])
  })
})

describe('the file of a token', () => {
  const volume: Volume = {
    name: 'v',
    projected: { sources: [{ serviceAccountToken: { path: 'token', audience: 'vault', expirationSeconds: 600 } }] },
  }
  const filesFor = (spec: Parameters<typeof testPod>[0], tokens?: Pick<PodTokens, 'token'>) =>
    volumeFiles(volume, {
      pod: testPod(spec),
      allocatable: {},
      objects: apiSources(client),
      ...(tokens === undefined ? {} : { tokens }),
    })
  const issuing: Pick<PodTokens, 'token'> = {
    token: async (_, { audience, expirationSeconds }) => `for ${audience}, ${expirationSeconds}s`,
  }
  const user = (runAsUser: number | undefined) => testContainer({ securityContext: { runAsUser } })

  it.each<readonly [string, Parameters<typeof testPod>[0], string]>([
    ['all, where nothing is said of users', {}, '644'],
    ['its owner, where there is a group of files', { securityContext: { fsGroup: 1000 } }, '600'],
    ['its owner, where all run as one user', { containers: [user(1), user(1)] }, '600'],
    ['all, where some run as others', { containers: [user(1), user(2)] }, '644'],
    ['all, where of some it is not said', { containers: [user(1), user(undefined)] }, '644'],
  ])('is readable by %s', async (_, spec, expected) => {
    const [file] = await filesFor(spec, issuing)
    expect([file?.path, Buffer.from(file?.data ?? []).toString(), file?.mode.toString(8)]).toEqual([
      'token',
      'for vault, 600s',
      expected,
    ])
  })

  it('is not there for want of a token, in the words of whoever gives none', async () => {
    const refusing = { token: () => Promise.reject(new Error('serviceaccounts "robot" not found')) }
    await expect(filesFor({}, refusing)).rejects.toThrow('failed to fetch token: serviceaccounts "robot" not found')
  })

  it('is not made where nobody reads it', async () => {
    expect(await filesFor({})).toEqual([])
  })
})
