import { formatTime, type KubernetesObject, parseTime, type TokenRequest } from '@coracle/api'
import type { Client } from '@coracle/client'
import { type VirtualEnvironment, virtualEnvironment } from '@coracle/environment'
import { beforeEach, describe, expect, it } from 'vitest'
import { testPod } from '../testing/pods.ts'
import { PodTokens } from './pod-tokens.ts'

const pod = testPod({ serviceAccountName: 'robot' })

let environment: VirtualEnvironment
let asked: { readonly path: string; readonly spec: TokenRequest['spec'] }[]
let isUp: boolean
let tokens: PodTokens

beforeEach(() => {
  environment = virtualEnvironment()
  asked = []
  isUp = true
  const createSubresource = async (
    _: unknown,
    { namespace, name }: { readonly namespace?: string; readonly name: string },
    subresource: string,
    request: KubernetesObject,
  ) => {
    if (!isUp) throw new Error('connection refused')
    const { spec } = request as TokenRequest
    asked.push({ path: `${namespace}/${name}/${subresource}`, spec })
    const expirationTimestamp = formatTime(environment.clock.now() + (spec.expirationSeconds ?? 0) * 1000)
    return { ...request, status: { token: `token ${asked.length}`, expirationTimestamp } }
  }
  tokens = new PodTokens({ createSubresource } as unknown as Client, environment)
})

const hour = { expirationSeconds: 3600 }

describe('the token of a pod', () => {
  it('is one of its account, bound to it, and asked for once', async () => {
    expect(await tokens.token(pod, { ...hour, audience: 'vault' })).toBe('token 1')
    expect(await tokens.token(pod, { ...hour, audience: 'vault' })).toBe('token 1')
    const { name, uid } = pod.metadata
    expect(asked).toEqual([
      {
        path: 'default/robot/token',
        spec: {
          audiences: ['vault'],
          expirationSeconds: 3600,
          boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name, uid },
        },
      },
    ])
  })

  it('is another for others, for another time, and of another pod', async () => {
    await tokens.token(pod, hour)
    await tokens.token(pod, { ...hour, audience: 'vault' })
    await tokens.token(pod, { expirationSeconds: 600 })
    await tokens.token({ ...pod, metadata: { ...pod.metadata, uid: 'other' } }, hour)
    expect(asked).toHaveLength(4)
    expect(asked[0]?.spec.audiences).toEqual([])
  })

  it.each([
    ['four fifths of its life', 3600, '47m59s', '1s'],
    ['a day, where it lives longer', 7 * 86_400, '23h59m59s', '1s'],
  ])('is renewed after %s', async (_, expirationSeconds, before, rest) => {
    await tokens.token(pod, { expirationSeconds })
    await environment.clock.advance(before)
    expect(await tokens.token(pod, { expirationSeconds })).toBe('token 1')
    await environment.clock.advance(rest)
    expect(await tokens.token(pod, { expirationSeconds })).toBe('token 2')
  })

  it('is the old one while there is no other to be had, and none when that has ended', async () => {
    await tokens.token(pod, hour)
    isUp = false
    await environment.clock.advance('50m')
    expect(await tokens.token(pod, hour)).toBe('token 1')
    await environment.clock.advance('10m')
    await expect(tokens.token(pod, hour)).rejects.toThrow('connection refused')
    isUp = true
    expect(await tokens.token(pod, hour)).toBe('token 2')
  })

  it('is asked for anew where it is of the future: a clock was set back', async () => {
    await tokens.token(pod, hour)
    environment.clock.now = () => parseTime('2025-12-31T23:59:59Z')
    expect(await tokens.token(pod, hour)).toBe('token 2')
  })

  it('is forgotten with the pod', async () => {
    await tokens.token(pod, hour)
    tokens.forget(pod.metadata.uid ?? '')
    expect(await tokens.token(pod, hour)).toBe('token 2')
  })
})
