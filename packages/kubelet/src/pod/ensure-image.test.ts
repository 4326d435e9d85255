import { rmSync } from 'node:fs'
import type { Pod, Secret } from '@coracle/api'
import { realEnvironment } from '@coracle/environment'
import { describe, expect, it } from 'vitest'
import { PullRecords } from '../images/pull-records.ts'
import { ImagePullError, type ImageService } from '../runtimes/runtime.ts'
import { testPod } from '../testing/pods.ts'
import { temporaryDirectory } from '../testing/temporary-directory.ts'
import { ensureImage } from './ensure-image.ts'
import { imagePullBackOff } from './image-pull.ts'
import type { PodContext } from './pod-context.ts'

const registry = 'registry.example'
const image = `${registry}/shop/web:1`
const never = new AbortController().signal

const pullSecret = (name: string, password: string): Secret => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name, namespace: 'default', uid: `uid-${name}` },
  type: 'kubernetes.io/dockerconfigjson',
  data: {
    '.dockerconfigjson': Buffer.from(JSON.stringify({ auths: { [registry]: { username: 'me', password } } })).toString(
      'base64',
    ),
  },
})

/** A node with images of a registry that wants a password, or none. */
function startNode({ takesPassword = true } = {}) {
  const recordsDirectory = temporaryDirectory()
  const present = new Set<string>()
  const secrets = new Map<string, Secret>()
  let pulls = 0
  const found = (name: string) =>
    present.has(name) || present.has(name.replace('id of ', ''))
      ? { id: `id of ${name.replace('id of ', '')}`, repoTags: [name], repoDigests: [], sizeBytes: 1, pinned: false }
      : undefined
  const service = (): ImageService => ({
    recordsDirectory,
    list: async () => [],
    status: async (name) => found(name),
    async pull(name, credentials) {
      pulls += 1
      if (takesPassword && credentials?.password !== 'good') throw new ImagePullError('unauthorized')
      present.add(name)
      return name
    },
    remove: async () => {},
    fileSystem: async () => ({ path: '/', capacityBytes: 0, availableBytes: 0 }),
  })
  const context = {
    environment: realEnvironment(),
    sources: { secret: async (_: string, name: string) => secrets.get(name) },
  } as unknown as PodContext
  /** As an agent that has just been started. */
  const agent = () => {
    const images = service()
    return async (pod: Pod, imagePullPolicy: 'Always' | 'IfNotPresent' | 'Never' = 'IfNotPresent') => {
      const result = await ensureImage(context, images, pod, { image, imagePullPolicy }, () => {}, never)
      return 'failure' in result ? result.failure?.reason : 'there'
    }
  }
  const put = (secret: Secret) => void secrets.set(secret.metadata.name ?? '', secret)
  return { agent, ensure: agent(), put, present, recordsDirectory, pulls: () => pulls }
}

const podWith = (...names: readonly string[]) => testPod({ imagePullSecrets: names.map((name) => ({ name })) })

describe('an image that took a secret', () => {
  it('is there for pods with that secret, or one as good, and for no other without asking the registry', async () => {
    const { ensure, put, pulls } = startNode()
    for (const [name, password] of [
      ['own', 'good'],
      ['same', 'good'],
      ['wrong', 'bad'],
    ] as const)
      put(pullSecret(name, password))
    expect(await ensure(podWith('own'))).toBe('there')
    expect(await ensure(podWith('own'))).toBe('there')
    expect(await ensure(podWith('same'))).toBe('there')
    expect(pulls()).toBe(1)
    expect(await ensure(podWith())).toBe('ErrImagePull')
    expect(await ensure(podWith('wrong'))).toBe('ErrImagePull')
    expect(pulls()).toBe(3)
    expect(await ensure(podWith(), 'Never')).toBe('ErrImageNeverPull')
    expect(await ensure(podWith('own'), 'Never')).toBe('there')
    // Its secret has another password by now: it is the same all the same.
    put(pullSecret('own', 'newer'))
    expect(await ensure(podWith('own'))).toBe('there')
    expect(pulls()).toBe(3)
  })

  it('is so for the next node agent, too', async () => {
    const { agent, ensure, put, pulls } = startNode()
    put(pullSecret('own', 'good'))
    await ensure(podWith('own'))
    const next = agent()
    expect(await next(podWith())).toBe('ErrImagePull')
    expect(await next(podWith('own'))).toBe('there')
    expect(pulls()).toBe(2)
  })

  it('is so where the agent was killed before it was written down by whom it was pulled', async () => {
    const { agent, ensure, put, recordsDirectory } = startNode()
    put(pullSecret('own', 'good'))
    await ensure(podWith('own'))
    rmSync(`${recordsDirectory}/pulled`, { recursive: true })
    await new PullRecords(recordsDirectory).begins(image)
    expect(await agent()(podWith())).toBe('ErrImagePull')
  })
})

describe('an image that cannot be had', () => {
  const failing = async (said: string) => {
    const events: string[] = []
    const images = { status: async () => undefined, pull: () => Promise.reject(new ImagePullError(said)) }
    const context = { environment: realEnvironment(), sources: {} } as unknown as PodContext
    const tell = (_: string, reason: string, message: string) => void events.push(`${reason} ${message}`)
    const result = await ensureImage(context, images as unknown as ImageService, testPod(), { image }, tell, never)
    const failure = 'failure' in result ? result.failure : undefined
    return { events, failure, wait: failure && imagePullBackOff({ name: 'web', image }, failure, undefined, 0) }
  }

  it.each([
    ['no such host', 'ErrImagePull', 'no such host'],
    [
      'RegistryUnavailable: no route',
      'RegistryUnavailable',
      `image pull failed for ${image} because the registry is unavailable: no route`,
    ],
    [
      'SignatureValidationFailed',
      'SignatureValidationFailed',
      `image pull failed for ${image} because the signature validation failed`,
    ],
  ])('for %s is told of as %s, and waited for', async (said, reason, message) => {
    const { events, failure, wait } = await failing(said)
    expect(failure).toEqual({ reason, message, missing: image })
    expect(events.slice(1, 3)).toEqual([`Failed Failed to pull image "${image}": ${said}`, `Failed Error: ${reason}`])
    expect(wait).toMatchObject({
      reason: 'ImagePullBackOff',
      message: `Back-off pulling image "${image}": ${reason}: ${message}`,
      retryAtMs: 10_000,
    })
  })
})

describe('an image', () => {
  it('that took no secret is for all', async () => {
    const { ensure, put, pulls } = startNode({ takesPassword: false })
    put(pullSecret('own', 'good'))
    expect(await ensure(podWith())).toBe('there')
    expect(await ensure(podWith('own'))).toBe('there')
    expect(await ensure(podWith(), 'Never')).toBe('there')
    expect(pulls()).toBe(1)
  })

  it('that somebody else has brought to the node is for all', async () => {
    const { ensure, present, pulls } = startNode()
    present.add(image)
    expect(await ensure(podWith())).toBe('there')
    expect(pulls()).toBe(0)
  })
})
