import type { Container, PodSpec, Volume } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { testContainer, testPod } from '../testing/pods.ts'
import { planStorageEviction } from './plan-storage-eviction.ts'
import { limitsStorage } from './storage-limits.ts'

const limit = (bytes: string, name = 'web'): Container =>
  testContainer({ name, resources: { limits: { 'ephemeral-storage': bytes } } })
const volume = (emptyDir: Volume['emptyDir']): Volume => ({ name: 'v', emptyDir })
const bounded = { volumes: [volume({ sizeLimit: '1Ki' })] }

/** What a pod uses: of its volume `v`, and of each container its logs and what it writes beside volumes. */
interface Used {
  readonly v?: number
  readonly web?: readonly [number, number]
  readonly two?: readonly [number, number]
  readonly hasImageDisk?: boolean
}

const planned = (spec: Partial<PodSpec>, { v, hasImageDisk = false, ...containers }: Used) =>
  planStorageEviction(testPod(spec), {
    volumes: new Map(v === undefined ? [] : [['v', v]]),
    containers: new Map(
      Object.entries(containers).map(([name, [logBytes, layerBytes]]) => [name, { logBytes, layerBytes }]),
    ),
    hasImageDisk,
  })?.message

const ofVolume = 'Usage of EmptyDir volume "v" exceeds the limit "1Ki". '
const ofPod = (bytes: string) => `Pod ephemeral local storage usage exceeds the total limit of containers ${bytes}. `
const ofContainer = 'Container web exceeded its local ephemeral storage limit "1Ki". '

describe('a pod goes for what it stores', () => {
  it.each<[string, Partial<PodSpec>, Used, string | undefined]>([
    ['not while its volume is full', bounded, { v: 1024 }, undefined],
    ['when its volume holds more than it may', bounded, { v: 1025 }, ofVolume],
    [
      'also where that is one in memory',
      { volumes: [volume({ sizeLimit: '1Ki', medium: 'Memory' })] },
      { v: 1025 },
      ofVolume,
    ],
    ['not for a limit of nothing', { volumes: [volume({ sizeLimit: '0' })] }, { v: 1025 }, undefined],
    ['not for a volume without a limit', { volumes: [volume({})] }, { v: 1e12 }, undefined],
    ['not for what could not be measured', bounded, {}, undefined],
    ['not while all it stores is within its limit', { containers: [limit('1Ki')] }, { web: [512, 512] }, undefined],
    ['when logs and layers are more', { containers: [limit('1Ki')] }, { web: [512, 513] }, ofPod('1Ki')],
    [
      'when volumes on disk are',
      { ...{ volumes: [volume({})] }, containers: [limit('1Ki')] },
      { v: 1025 },
      ofPod('1Ki'),
    ],
    [
      'not for those in memory, which are memory',
      { volumes: [volume({ medium: 'Memory' })], containers: [limit('1Ki')] },
      { v: 1025 },
      undefined,
    ],
    [
      'when it is more than the limits of all containers in sum',
      { containers: [limit('1Ki'), limit('1Ki', 'two')] },
      { web: [1024, 0], two: [1025, 0] },
      ofPod('2Ki'),
    ],
    [
      'when one container is beyond its own',
      { containers: [limit('1Ki'), limit('1Mi', 'two')] },
      { web: [1000, 25], two: [0, 0] },
      ofContainer,
    ],
    [
      'not for what a container writes beside volumes where that is on a disk of its own',
      { containers: [limit('1Ki'), limit('1Mi', 'two')] },
      { web: [1000, 25], hasImageDisk: true },
      undefined,
    ],
  ])('%s', (_, spec, used, problem) => {
    expect(planned(spec, used)).toBe(problem)
  })
})

it.each<[string, Partial<PodSpec>, boolean]>([
  ['nothing', {}, false],
  ['a volume without a limit', { volumes: [volume({})] }, false],
  ['a volume with one', bounded, true],
  ['a container with one', { containers: [limit('1Gi')] }, true],
  ['an init container with one', { initContainers: [limit('1Gi', 'init')] }, true],
  ['the pod with one', { resources: { limits: { 'ephemeral-storage': '1Gi' } } }, true],
])('measures pods only that limit what they store: %s', (_, spec, isMeasured) => {
  expect(limitsStorage(testPod(spec))).toBe(isMeasured)
})
