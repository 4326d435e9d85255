import type { JobSpec, Pod } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { job, jobPod } from '../testing/jobs.ts'
import { secondsAgo, startMs } from '../testing/objects.ts'
import {
  countIn,
  endedAt,
  failureCountAnnotation,
  ignoredFailureCountAnnotation,
  indexAnnotation,
  indexOf,
  isFailed,
  trackingFinalizer,
} from './job-pods.ts'

type Parts = { readonly metadata?: object; readonly spec?: object; readonly status?: object }

const podOf = ({ metadata, spec, status }: Parts): Pod =>
  ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p', creationTimestamp: secondsAgo(900), ...metadata },
    spec: { containers: [], ...spec },
    status,
  }) as unknown as Pod

const ended = (seconds: number) => ({ state: { terminated: { exitCode: 1, finishedAt: secondsAgo(seconds) } } })
const running = { state: { running: {} } }
const ready = (status: string, seconds: number) => ({
  conditions: [
    { type: 'ContainersReady', status: 'False', lastTransitionTime: secondsAgo(1) },
    { type: 'Ready', status, lastTransitionTime: secondsAgo(seconds) },
  ],
})
const deleted = (seconds: number, grace: number) => ({
  deletionTimestamp: secondsAgo(seconds),
  deletionGracePeriodSeconds: grace,
})

// The lookups of upstream's getFinishedTime, in their order.
it.each<[string, Parts, number]>([
  ['the last of its containers ended', { status: { containerStatuses: [ended(30), ended(20), ended(40)] } }, 20],
  [
    'the last of its sidecars ended, whatever became of its other init containers',
    {
      spec: { initContainers: [{ name: 'sidecar', restartPolicy: 'Always' }, { name: 'init' }] },
      status: {
        containerStatuses: [ended(30)],
        initContainerStatuses: [
          { name: 'sidecar', ...ended(10) },
          { name: 'init', ...ended(5) },
        ],
      },
    },
    10,
  ],
  [
    'the last of several sidecars ended',
    {
      spec: {
        initContainers: [
          { name: 'proxy', restartPolicy: 'Always' },
          { name: 'logs', restartPolicy: 'Always' },
        ],
      },
      status: {
        containerStatuses: [ended(30)],
        initContainerStatuses: [
          { name: 'proxy', ...ended(20) },
          { name: 'logs', ...ended(10) },
        ],
      },
    },
    10,
  ],
  [
    'it became unready, where a sidecar runs on',
    {
      spec: { initContainers: [{ name: 'sidecar', restartPolicy: 'Always' }] },
      status: {
        containerStatuses: [ended(30)],
        initContainerStatuses: [{ name: 'sidecar', ...running }],
        ...ready('False', 50),
      },
    },
    50,
  ],
  [
    'it became unready, where a container runs on',
    { status: { phase: 'Failed', containerStatuses: [ended(30), running], ...ready('False', 50) } },
    50,
  ],
  [
    'it became unready, though it was deleted since and has not ended',
    { metadata: deleted(0, 10), status: { phase: 'Running', containerStatuses: [running], ...ready('False', 50) } },
    50,
  ],
  [
    'it was asked to go, where it is ready all the same',
    { metadata: deleted(0, 10), status: { phase: 'Running', ...ready('True', 50) } },
    10,
  ],
  ['it was asked to go, where its containers say nothing', { metadata: deleted(20, 10), status: {} }, 30],
  ['it was made, where nothing tells', { status: ready('True', 50) }, 900],
])('a pod has ended when %s', (_, parts, secondsBefore) => {
  expect((startMs - endedAt(podOf(parts))) / 1000).toBe(secondsBefore)
})

it('is told in upstream’s words what a Job writes on its pods', () => {
  expect([trackingFinalizer, indexAnnotation, failureCountAnnotation, ignoredFailureCountAnnotation]).toEqual([
    'batch.kubernetes.io/job-tracking',
    'batch.kubernetes.io/job-completion-index',
    'batch.kubernetes.io/job-index-failure-count',
    'batch.kubernetes.io/job-index-ignored-failure-count',
  ])
})

const saying = (annotation: string, text: string) => podOf({ metadata: { annotations: { [annotation]: text } } })

it.each<readonly [string, number | undefined]>([
  ['0', 0],
  ['19', 19],
  ['20', undefined],
  ['-1', undefined],
  ['+5', 5],
  ['007', 7],
  ['-0', 0],
  ['0000000000012', 12],
  ['++5', undefined],
  [' 5', undefined],
  ['1x', undefined],
  ['x1', undefined],
  ['', undefined],
])('a pod of a Job of 20 indexes that says %j is of index %s', (text, index) => {
  expect(indexOf(saying(indexAnnotation, text), 20)).toBe(index)
})

it('a pod without annotations is of no index, and has not failed before', () => {
  const pod = podOf({ metadata: { annotations: undefined } })
  expect([indexOf(pod, 20), countIn(pod, failureCountAnnotation)]).toEqual([undefined, 0])
})

it.each<readonly [string, number]>([
  ['0', 0],
  ['12', 12],
  ['+12', 12],
  ['2147483647', 2147483647],
  ['2147483648', 0],
  ['-1', 0],
  ['1x', 0],
  ['x1', 0],
])('a count of %j is %i', (text, count) => {
  expect(countIn(saying(failureCountAnnotation, text), failureCountAnnotation)).toBe(count)
})

describe('a pod on its way out', () => {
  const going = (phase: string) => jobPod('a', { phase, isGoing: true })
  it.each<readonly [string, Pod, Partial<JobSpec>, boolean]>([
    ['has failed', going('Running'), {}, true],
    ['has not failed where it has succeeded', going('Succeeded'), {}, false],
    ['has not failed yet where its end is waited for', going('Running'), { podReplacementPolicy: 'Failed' }, false],
    ['has not failed yet where its exit code may tell', going('Running'), { podFailurePolicy: { rules: [] } }, false],
    ['has failed where it has ended so', going('Failed'), { podReplacementPolicy: 'Failed' }, true],
  ])('%s', (_, pod, spec, wanted) => {
    expect(isFailed(pod, job(spec))).toBe(wanted)
  })

  it('has failed also where nobody has looked at it yet', () => {
    const unseen = podOf({ metadata: { deletionTimestamp: secondsAgo(0) }, status: undefined as never })
    expect(isFailed(unseen, job())).toBe(true)
  })
})
