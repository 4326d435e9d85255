import { type EnvVar, type Job, type Pod, type PodSpec, pods as podResource } from '@coracle/api'
import type { Action } from '@coracle/controller-runtime'
import { podFromTemplate } from '../pods/pod-from-template.ts'
import { podKey } from '../pods/pod-key.ts'
import {
  failureCountAnnotation,
  ignoredFailureCountAnnotation,
  indexAnnotation,
  trackingFinalizer,
} from './job-pods.ts'

/** The variable in which the containers of a pod find their index. */
const indexVariable = 'JOB_COMPLETION_INDEX'

/** A pod of a Job that is not there yet. */
export function createPod(pod: Pod, because: string): Action {
  return {
    type: 'create',
    resource: podResource,
    object: pod,
    because,
    events: {
      succeeded: { reason: 'SuccessfulCreate', message: 'Created pod: {name}' },
      failed: { reason: 'FailedCreate', message: 'Error creating: {error}' },
    },
  }
}

export function deletePod(pod: Pod, because: string): Action {
  return {
    type: 'delete',
    resource: podResource,
    key: podKey(pod),
    ...(pod.metadata.uid === undefined ? {} : { uid: pod.metadata.uid }),
    because,
    events: {
      succeeded: { reason: 'SuccessfulDelete', message: 'Deleted pod: {name}' },
      failed: { reason: 'FailedDelete', message: 'Error deleting: {error}' },
    },
  }
}

/** A pod as a Job makes it, with the finalizer that keeps it until it is counted. */
export function podOf(job: Job): Pod {
  const pod = podFromTemplate(job, job.spec.template)
  const finalizers = [...new Set([...(pod.metadata.finalizers ?? []), trackingFinalizer])]
  return { ...pod, metadata: { ...pod.metadata, finalizers } }
}

/** A pod of an index; with the counts of the pod whose place it takes, where indexes fail by themselves. */
export function podOfIndex(
  job: Job,
  index: number,
  counts: { readonly failures: number; readonly ignored: number },
): Pod {
  const pod = podOf(job)
  const { name = '' } = job.metadata
  const isLimited = job.spec.backoffLimitPerIndex !== undefined
  const annotations = {
    ...pod.metadata.annotations,
    [indexAnnotation]: String(index),
    ...(isLimited ? { [failureCountAnnotation]: String(counts.failures) } : {}),
    ...(isLimited && counts.ignored > 0 ? { [ignoredFailureCountAnnotation]: String(counts.ignored) } : {}),
  }
  const labels = { ...pod.metadata.labels, [indexAnnotation]: String(index) }
  return {
    ...pod,
    metadata: { ...pod.metadata, generateName: generateNameOf(name, index), annotations, labels },
    spec: { ...withIndexVariable(pod.spec), hostname: `${name}-${index}` },
  }
}

/** Names are cut off after so many characters before something random is added to them. */
const generateNameMax = 58

/** The index is told also where the name of the Job is too long for that. */
function generateNameOf(name: string, index: number): string {
  const suffix = `-${index}-`
  return `${name.slice(0, generateNameMax - suffix.length)}${suffix}`
}

function withIndexVariable(spec: PodSpec): PodSpec {
  const fieldPath = `metadata.labels['${indexAnnotation}']`
  const variable: EnvVar = { name: indexVariable, valueFrom: { fieldRef: { fieldPath } } }
  const withVariable = <C extends { readonly env?: readonly EnvVar[] | undefined }>(container: C): C =>
    container.env?.some(({ name }) => name === indexVariable)
      ? container
      : { ...container, env: [...(container.env ?? []), variable] }
  const { containers, initContainers } = spec
  return {
    ...spec,
    containers: containers.map(withVariable),
    ...(initContainers === undefined ? {} : { initContainers: initContainers.map(withVariable) }),
  }
}
