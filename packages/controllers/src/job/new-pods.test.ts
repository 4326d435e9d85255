/** What pods of Jobs are like when they are made, and what is said of it. */
import { type Container, type Job, type JobSpec, type Pod, pods as podResource } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { job, jobPod } from '../testing/jobs.ts'
import { failureCountAnnotation, ignoredFailureCountAnnotation, indexAnnotation } from './job-pods.ts'
import { createPod, deletePod, podOf, podOfIndex } from './new-pods.ts'

const indexed = (spec: Partial<JobSpec> = {}): Job => job({ completionMode: 'Indexed', completions: 5, ...spec })
const never = { failures: 0, ignored: 0 }

describe('a pod of a Job', () => {
  it('is made, and the Job says so', () => {
    const pod = podOf(job())
    expect(createPod(pod, 'one is missing')).toEqual({
      type: 'create',
      resource: podResource,
      object: pod,
      because: 'one is missing',
      events: {
        succeeded: { reason: 'SuccessfulCreate', message: 'Created pod: {name}' },
        failed: { reason: 'FailedCreate', message: 'Error creating: {error}' },
      },
    })
  })

  it('is deleted, and no other of its name, and the Job says so', () => {
    expect(deletePod(jobPod('a'), 'it is one too many')).toEqual({
      type: 'delete',
      resource: podResource,
      key: { namespace: 'default', name: 'a' },
      uid: 'a',
      because: 'it is one too many',
      events: {
        succeeded: { reason: 'SuccessfulDelete', message: 'Deleted pod: {name}' },
        failed: { reason: 'FailedDelete', message: 'Error deleting: {error}' },
      },
    })
  })
})

describe('a pod of an index', () => {
  it.each<readonly [string, Partial<JobSpec>, Parameters<typeof podOfIndex>[2], object]>([
    ['only its index', {}, { failures: 2, ignored: 1 }, {}],
    ['that none has failed before it', { backoffLimitPerIndex: 3 }, never, { [failureCountAnnotation]: '0' }],
    [
      'how many have failed before it, and how many of these are ignored',
      { backoffLimitPerIndex: 3 },
      { failures: 2, ignored: 1 },
      { [failureCountAnnotation]: '2', [ignoredFailureCountAnnotation]: '1' },
    ],
  ])('says %s', (_, spec, counts, wanted) => {
    const { annotations } = podOfIndex(indexed(spec), 4, counts).metadata
    expect(annotations).toEqual({ [indexAnnotation]: '4', ...wanted })
  })

  /** The containers of a pod of index 4, whose template has these. */
  function containersOf(spec: Partial<Pod['spec']>): Pick<Pod['spec'], 'containers' | 'initContainers'> {
    const { template } = job().spec
    const of = indexed({ template: { ...template, spec: { ...template.spec, ...spec } } })
    const { containers, initContainers } = podOfIndex(of, 4, never).spec
    return { containers, initContainers }
  }
  const container = (name: string, env?: Container['env']): Container => ({ name, image: 'busybox', env }) as Container
  const told = {
    name: 'JOB_COMPLETION_INDEX',
    valueFrom: { fieldRef: { fieldPath: "metadata.labels['batch.kubernetes.io/job-completion-index']" } },
  }

  it('tells all of its containers their index, behind what else they are told', () => {
    const color = { name: 'COLOR', value: 'red' }
    expect(containersOf({ containers: [container('main', [color])], initContainers: [container('init')] })).toEqual({
      containers: [container('main', [color, told])],
      initContainers: [container('init', [told])],
    })
  })

  it('leaves alone what the template says about it itself', () => {
    const own = [
      { name: 'COLOR', value: 'red' },
      { name: 'JOB_COMPLETION_INDEX', value: '7' },
    ]
    expect(containersOf({ containers: [container('main', own)] }).containers).toEqual([container('main', own)])
  })
})
