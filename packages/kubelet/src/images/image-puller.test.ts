import type { Secret } from '@coracle/api'
import { realClock } from '@coracle/environment'
import { describe, expect, it } from 'vitest'
import { ImagePullError, type ImageService, type RegistryCredentials } from '../runtimes/runtime.ts'
import { testContainer } from '../testing/pods.ts'
import { ImagePuller, isToBePulled, parallelPullsMax, withTag } from './image-puller.ts'

const never = new AbortController().signal

const service = (pull: ImageService['pull']): ImageService => ({
  list: async () => [],
  status: async (id) => ({ id: `sha256:${id}`, repoTags: [], repoDigests: [], sizeBytes: 7, pinned: false }),
  pull,
  remove: async () => {},
  fileSystem: async () => ({ path: '/', capacityBytes: 0, availableBytes: 0 }),
})

const secretFor = (server: string, username: string): Secret => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: username },
  type: 'kubernetes.io/dockerconfigjson',
  data: {
    '.dockerconfigjson': Buffer.from(JSON.stringify({ auths: { [server]: { username, password: 'p' } } })).toString(
      'base64',
    ),
  },
})

describe('pulling an image', () => {
  it('gives its id and size', async () => {
    const puller = new ImagePuller(
      service(async (name) => name),
      realClock,
    )
    expect(await puller.pull('web:1', [], never)).toMatchObject({ imageRef: 'sha256:web:1', sizeBytes: 7 })
  })

  it('is tried with each of the credentials that fit', async () => {
    const tried: (RegistryCredentials | undefined)[] = []
    const pull: ImageService['pull'] = async (name, credentials) => {
      tried.push(credentials)
      if (credentials?.username !== 'good') throw new ImagePullError(`not for ${credentials?.username}`)
      return name
    }
    const secrets = [secretFor('a.example', 'bad'), secretFor('a.example', 'good'), secretFor('b.example', 'other')]
    await new ImagePuller(service(pull), realClock).pull('a.example/web:1', secrets, never)
    expect(tried.map((each) => each?.username)).toEqual(['bad', 'good'])
    const failing = new ImagePuller(service(pull), realClock).pull('b.example/web:1', secrets, never)
    await expect(failing).rejects.toThrow(new ImagePullError('not for other'))
  })

  it('waits where many are pulled already', async () => {
    const waiting: (() => void)[] = []
    const pull = (name: string) => new Promise<string>((resolve) => waiting.push(() => resolve(name)))
    const puller = new ImagePuller(service(pull), realClock)
    const pulls = Array.from({ length: parallelPullsMax + 2 }, (_, index) => puller.pull(`web:${index}`, [], never))
    await expect.poll(() => waiting.length).toBe(parallelPullsMax)
    waiting[0]?.()
    await expect.poll(() => waiting.length).toBe(parallelPullsMax + 1)
    waiting[1]?.()
    await expect.poll(() => waiting.length).toBe(parallelPullsMax + 2)
    for (const resolve of waiting) resolve()
    expect(await Promise.all(pulls)).toHaveLength(parallelPullsMax + 2)
  })
})

describe('a pull that waits for its turn', () => {
  it('ends at once where nobody needs the image any more, and takes no turn of others', async () => {
    const waiting: (() => void)[] = []
    const pull = (name: string) => new Promise<string>((resolve) => waiting.push(() => resolve(name)))
    const puller = new ImagePuller(service(pull), realClock)
    for (let index = 0; index < parallelPullsMax; index += 1) void puller.pull(`web:${index}`, [], never)
    const ending = new AbortController()
    const given = puller.pull('given:up', [], ending.signal)
    const next = puller.pull('next:1', [], never)
    ending.abort(new Error('the pod is ending'))
    await expect(given).rejects.toThrow('the pod is ending')
    waiting[0]?.()
    await expect.poll(() => waiting.length).toBe(parallelPullsMax + 1)
    for (const resolve of waiting) resolve()
    expect(await next).toMatchObject({ imageRef: 'sha256:next:1' })
  })
})

describe('an image is pulled', () => {
  it.each([
    ['Always', true, true],
    ['Always', false, true],
    ['IfNotPresent', true, false],
    ['IfNotPresent', false, true],
    ['Never', false, false],
  ] as const)('%s, present: %s', (imagePullPolicy, isPresent, expected) => {
    expect(isToBePulled(testContainer({ imagePullPolicy }), isPresent)).toBe(expected)
  })

  it.each([
    ['web', 'web:latest'],
    ['localhost:5000/web', 'localhost:5000/web:latest'],
    ['web:1', 'web:1'],
    ['a/web@sha256:1', 'a/web@sha256:1'],
  ])('as %s: %s', (image, expected) => {
    expect(withTag(image)).toBe(expected)
  })
})
