import { deepFreeze, type Job, type JobSpec, type JobStatus, type Pod } from '@coracle/api'
import {
  failureCountAnnotation,
  ignoredFailureCountAnnotation,
  indexAnnotation,
  trackingFinalizer,
} from '../job/job-pods.ts'
import { secondsAgo } from './objects.ts'

/** A Job `sum` that began a minute ago. */
export function job(spec: Partial<JobSpec> = {}, status: JobStatus = { startTime: secondsAgo(60) }): Job {
  const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'busybox' }] } }
  return deepFreeze({
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: 'sum', namespace: 'default', uid: 'u1' },
    spec: { parallelism: 1, completions: 1, backoffLimit: 6, template, ...spec } as JobSpec,
    status,
  })
}

/** What a pod of a Job is to be like. */
export interface PodTraits {
  readonly phase?: string
  readonly index?: number
  readonly isCounted?: boolean
  readonly isGoing?: boolean
  readonly exitCode?: number
  readonly endedSecondsAgo?: number
  readonly failuresBefore?: number
  readonly ignoredBefore?: number
  readonly condition?: string
  readonly restarts?: number
}

/** A pod as a Job makes it, which runs unless said otherwise. */
export function jobPod(name: string, traits: PodTraits = {}): Pod {
  const { phase = 'Running', index, exitCode, endedSecondsAgo = 3600, restarts = 0 } = traits
  const { failuresBefore, ignoredBefore } = traits
  const ended = phase === 'Failed' || phase === 'Succeeded'
  const terminated = { exitCode: exitCode ?? (phase === 'Failed' ? 1 : 0), finishedAt: secondsAgo(endedSecondsAgo) }
  return deepFreeze({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace: 'default',
      uid: name,
      resourceVersion: '1',
      creationTimestamp: secondsAgo(7200),
      annotations: {
        ...(index === undefined ? {} : { [indexAnnotation]: String(index) }),
        ...(failuresBefore === undefined ? {} : { [failureCountAnnotation]: String(failuresBefore) }),
        ...(ignoredBefore === undefined ? {} : { [ignoredFailureCountAnnotation]: String(ignoredBefore) }),
      },
      finalizers: traits.isCounted === true ? [] : [trackingFinalizer],
      ...(traits.isGoing === true ? { deletionTimestamp: secondsAgo(0) } : {}),
    },
    spec: { containers: [] },
    status: {
      phase,
      conditions: traits.condition === undefined ? [] : [{ type: traits.condition, status: 'True' }],
      containerStatuses: [
        {
          name: 'main',
          image: '',
          imageID: '',
          ready: false,
          restartCount: restarts,
          ...(ended ? { state: { terminated } } : {}),
        },
      ],
    },
  } as unknown as Pod)
}
