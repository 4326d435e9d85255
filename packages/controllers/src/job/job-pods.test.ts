import type { Pod } from '@coracle/api'
import { expect, it } from 'vitest'
import { secondsAgo, startMs } from '../testing/objects.ts'
import { endedAt } from './job-pods.ts'

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
  conditions: [{ type: 'Ready', status, lastTransitionTime: secondsAgo(seconds) }],
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
