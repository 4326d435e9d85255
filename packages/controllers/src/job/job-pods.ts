/** What a Job's pods say about it. */
import { type ContainerStatus, type Job, type JobSpec, type Pod, parseIndex, parseTime } from '@coracle/api'
import { hasFinalizer } from '@coracle/controller-runtime'
import type { Time } from '@coracle/environment'
import { timeOf } from '../pods/pod-state.ts'

/** Keeps a pod until it is counted. */
export const trackingFinalizer = 'batch.kubernetes.io/job-tracking'
/** The index of a pod, as annotation and label. */
export const indexAnnotation = 'batch.kubernetes.io/job-completion-index'
/** How often an index had failed before this pod, and how often its failures were ignored; with backoffLimitPerIndex. */
export const failureCountAnnotation = 'batch.kubernetes.io/job-index-failure-count'
export const ignoredFailureCountAnnotation = 'batch.kubernetes.io/job-index-ignored-failure-count'

/** Whether a pod is still to be counted. */
export const isTracked = (pod: Pod): boolean => hasFinalizer(pod, trackingFinalizer)

export const isIndexed = ({ completionMode }: JobSpec): boolean => completionMode === 'Indexed'

/** Whether pods are replaced only when they have ended, not when they are on their way out. */
export function replacesFailedOnly({ podReplacementPolicy, podFailurePolicy }: JobSpec): boolean {
  return podReplacementPolicy === 'Failed' || podFailurePolicy !== undefined
}

/** Whether a pod counts as a failure: one on its way out does too, unless its end is waited for. */
export function isFailed(pod: Pod, { spec }: Pick<Job, 'spec'>): boolean {
  if (pod.status?.phase === 'Failed') return true
  if (replacesFailedOnly(spec)) return false
  return pod.metadata.deletionTimestamp !== undefined && pod.status?.phase !== 'Succeeded'
}

export const isSucceeded = (pod: Pod): boolean => pod.status?.phase === 'Succeeded'

/** The index of a pod, where it has one that the Job has. */
export function indexOf({ metadata }: Pod, completions: number): number | undefined {
  const index = parseIndex(metadata.annotations?.[indexAnnotation] ?? '')
  return index !== undefined && index >= 0 && index < completions ? Math.abs(index) : undefined
}

/** Whether the end of a pod counts: where a Job has indexes, only that of a pod that has one of them. */
export const isCountable = (pod: Pod, spec: JobSpec): boolean =>
  !isIndexed(spec) || indexOf(pod, spec.completions ?? 0) !== undefined

/** Larger ones are none. */
const countMax = 2 ** 31 - 1

/** A count in an annotation; 0 where there is none. */
export function countIn({ metadata }: Pod, annotation: string): number {
  const count = parseIndex(metadata.annotations?.[annotation] ?? '') ?? 0
  return count > 0 && count <= countMax ? count : 0
}

/** When a pod ended, as far as it tells. Sidecars end after its other containers. */
export function endedAt(pod: Pod): Time {
  const { deletionTimestamp, deletionGracePeriodSeconds = 0, creationTimestamp } = pod.metadata
  const { containerStatuses = [], initContainerStatuses = [] } = pod.status ?? {}
  const sidecars = (pod.spec.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always')
  const isSidecar = ({ name }: ContainerStatus) => sidecars.some((sidecar) => sidecar.name === name)
  const statuses = [...containerStatuses, ...initContainerStatuses.filter(isSidecar)]
  const ends = statuses.map(({ state }) => timeOf(state?.terminated?.finishedAt))
  const known = ends.filter((ms) => ms !== undefined)
  if (known.length > 0 && known.length === ends.length) return Math.max(...known)
  const ready = pod.status?.conditions?.find(({ type }) => type === 'Ready')
  const unreadySince = ready?.status === 'False' ? timeOf(ready.lastTransitionTime) : undefined
  if (unreadySince !== undefined) return unreadySince
  if (deletionTimestamp !== undefined) return parseTime(deletionTimestamp) - deletionGracePeriodSeconds * 1000
  return timeOf(creationTimestamp) ?? 0
}
