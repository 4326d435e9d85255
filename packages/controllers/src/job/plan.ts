import {
  deepEqual,
  formatIndexes,
  formatTime,
  hasIndex,
  type IndexInterval,
  isJobFinished,
  type Job,
  type JobCondition,
  type JobStatus,
  type Pod,
  pods as podResource,
  waitingCondition,
} from '@coracle/api'
import { type Action, getCondition, type PatchAction, type Plan, setCondition } from '@coracle/controller-runtime'
import type { Time } from '@coracle/environment'
import { byName } from '../pods/by-name.ts'
import { byActivity } from '../pods/deletion-ranking.ts'
import { podKey } from '../pods/pod-key.ts'
import { isActive, isReady, isTerminating } from '../pods/pod-state.ts'
import { type Account, account } from './accounting.ts'
import { isManagedElsewhere } from './at-work.ts'
import { nextPodAt } from './back-off.ts'
import type { Dependencies } from './dependencies.ts'
import { deadlineOf, type Ending, earlyEnding, interimCondition } from './ending.ts'
import { heldPods, type IndexFailures, indexFailures, nextCounts, retryAt } from './index-failures.ts'
import { indexOf, isIndexed, isTracked, replacesFailedOnly, trackingFinalizer } from './job-pods.ts'
import { createPod, deletePod, podOf, podOfIndex } from './new-pods.ts'

/** Pods made or deleted for a Job at a time, at most (upstream's MaxPodCreateDeletePerSync). */
export const podsPerSyncMax = 500

export interface ObservedJob {
  readonly job: Job
  /** The pods that the Job controls. */
  readonly pods: readonly Pod[]
  readonly dependencies: Dependencies
  /** Whether no more pods can be made, as the namespace is on its way out. */
  readonly isNamespaceGoing: boolean
}

/** What a Job says, and what it lets go once it has said so. */
interface Report {
  readonly status?: JobStatus
  /** Finalizers to take off pods once the status names these as counted. */
  readonly releases: readonly PatchAction[]
}

export interface JobPlan extends Plan<JobStatus>, Report {
  /**
   * What to say instead where an action has failed: pods may not be there yet, and pods that were to go still run. Seldom asked for,
   * and as long as the list of pods.
   */
  readonly otherwise?: () => Report
}

/** What to do about a Job (pkg/controller/job). Pure. */
export function planJob({ job, pods, dependencies, isNamespaceGoing }: ObservedJob, nowMs: Time): JobPlan {
  if (isManagedElsewhere(job)) return nothing
  const isStarted = hasStarted(job)
  if (isJobFinished(job) || (isLeaving(job) && !isStarted)) {
    return { ...nothing, releases: releasesOf(pods.filter(isTracked)) }
  }
  if (!isStarted && dependencies.state === 'failed') return planDependencyFailure(job, dependencies.message, nowMs)
  if (!isStarted && dependencies.state === 'waiting') return planWaiting(job, dependencies.message, nowMs)
  return planStarted(started(job, nowMs), pods, isNamespaceGoing, nowMs)
}

/** Whether nothing follows from the status of a plan: it says how many pods there are and no more, or that the Job is over. */
export function isSettled(job: Job, { actions, releases, status = {} }: JobPlan, pods: readonly Pod[]): boolean {
  if (isJobFinished({ status })) return !pods.some(isTracked)
  return actions.length === 0 && releases.length === 0 && deepEqual(status.conditions, job.status?.conditions)
}

/** Whether a Job has waited for all that it depends on. A suspended one has no start, and may have had pods before. */
const hasStarted = ({ status }: Job): boolean =>
  status?.startTime !== undefined || getCondition(status?.conditions, 'Suspended') !== undefined

const isLeaving = ({ metadata }: Job): boolean => metadata.deletionTimestamp !== undefined

const nothing: JobPlan = { actions: [], releases: [] }

/** A Job that does not start because one failed that it waits for. */
function planDependencyFailure(job: Job, message: string, nowMs: Time): JobPlan {
  const ending: Ending = { type: 'Failed', reason: 'DependencyFailed', message }
  const waited = withoutWaiting(job.status?.conditions, 'DependencyFailed', message, nowMs)
  const interim = withCondition(waited, interimCondition(ending), ending, nowMs)
  const conditions = withCondition(interim, 'Failed', ending, nowMs)
  // What is over has begun: so upstream's validation has it.
  const { startTime = formatTime(nowMs) } = job.status ?? {}
  return { ...nothing, actions: [endingEvent(ending)], status: { ...job.status, conditions, startTime } }
}

function planWaiting(job: Job, message: string, nowMs: Time): JobPlan {
  const before = job.status?.conditions
  const reason = 'JobsNotComplete'
  const conditions = withCondition(before, waitingCondition, { reason, message }, nowMs)
  const isNew = getCondition(before, waitingCondition) === undefined
  const event = { type: 'event', eventType: 'Normal', reason: 'Waiting', message, because: message } as const
  return { ...nothing, actions: isNew ? [event] : [], status: { ...job.status, conditions } }
}

/** The Job with the time of its start, and without having to wait any more. */
function started(job: Job, nowMs: Time): Job {
  const { status = {} } = job
  const conditions = withoutWaiting(status.conditions, 'JobsComplete', 'All Jobs it depends on are complete', nowMs)
  const startTime = status.startTime ?? (job.spec.suspend === true ? undefined : formatTime(nowMs))
  return {
    ...job,
    status: {
      ...status,
      ...(conditions.length === 0 ? {} : { conditions }),
      ...(startTime === undefined ? {} : { startTime }),
    },
  }
}

function withoutWaiting(
  conditions: readonly JobCondition[] | undefined,
  reason: string,
  message: string,
  nowMs: Time,
): readonly JobCondition[] {
  if (getCondition(conditions, waitingCondition) === undefined) return conditions ?? []
  return withCondition(conditions, waitingCondition, { reason, message }, nowMs, 'False')
}

/** A Job on its way out goes on to its end, but neither makes pods nor takes any away for their number, and holds back none. */
function planStarted(job: Job, pods: readonly Pod[], isNamespaceGoing: boolean, nowMs: Time): JobPlan {
  const { spec } = job
  const isLimited = spec.backoffLimitPerIndex !== undefined
  const first = account(job, pods, noPods, 'wait')
  const failures = isLimited ? indexFailures(job, pods, first.succeededIndexes) : noFailures
  const progress = { ...first, failedIndexes: failures.failedIndexes }
  const ending = earlyEnding(job, pods, progress, nowMs)
  // Where nothing can take over from a pod, it need not wait for that, and the namespace not for the pod.
  const holds = isLimited && ending === undefined && !isNamespaceGoing && !isLeaving(job)
  const held = holds ? heldPods(job, pods, failures) : noPods
  const before = isLeaving(job)
    ? account(job, pods, noPods, 'leave')
    : held.size === 0
      ? first
      : account(job, pods, held, 'wait')
  const active = pods.filter(isActive)
  const sync = ending === undefined ? manage(job, pods, active, before, failures, nowMs) : stop(active, ending)
  const removed = sync.removed ?? []
  const end = ending ?? completion(job, before.succeeded, active.length - removed.length)
  const counts = end === undefined ? before : account(job, pods, held, end.type === 'Failed' ? 'fail' : 'leave')
  const suspension = end === undefined && !isLeaving(job) ? suspensionOf(job, nowMs) : { job, events: [] }
  const terminating = pods.filter(isTerminating).length
  const ready = active.filter(isReady).length
  const created = sync.actions.filter(({ type }) => type === 'create').length
  const failedIndexes = isLimited ? { failedIndexes: formatIndexes(failures.failedIndexes) } : {}
  const done = {
    active: active.length + created - removed.length,
    terminating: terminating + removed.length,
    ready: ready - removed.filter(isReady).length,
  }
  const counted: JobStatus = { ...statusOf(suspension.job, counts, done), ...failedIndexes }
  const found = { active: active.length, terminating, ready }
  const isOver = counts.isSettled && active.length === 0 && terminating === 0
  const final = end === undefined ? { status: counted, events: [] } : ended(job, counted, end, isOver, nowMs)
  const deadlineAt = end === undefined ? deadlineOf(suspension.job) : undefined
  const requeueAt = Math.min(deadlineAt ?? Number.POSITIVE_INFINITY, sync.againAt ?? Number.POSITIVE_INFINITY)
  return {
    actions: [...sync.actions, ...suspension.events, ...final.events],
    status: final.status,
    releases: releasesOf(counts.released),
    otherwise: () => {
      const status = { ...statusOf(suspension.job, before, found), ...failedIndexes }
      return { status, releases: releasesOf(before.released) }
    },
    ...(Number.isFinite(requeueAt) ? { requeueAfterMs: Math.max(requeueAt - nowMs, 0) } : {}),
  }
}

/** The status with these counts, and with those of pods that are there. */
function statusOf(
  { spec, status = {} }: Job,
  { counted, succeededIndexes }: Account,
  { active, terminating, ready }: { readonly active: number; readonly terminating: number; readonly ready: number },
): JobStatus {
  return {
    ...withoutCounts(status),
    ...counted,
    ...positive('active', active),
    terminating,
    ready,
    ...(isIndexed(spec) ? textOf('completedIndexes', succeededIndexes) : {}),
  }
}

const noPods: ReadonlySet<Pod> = new Set()
const noFailures: IndexFailures = { failedIndexes: [], last: new Map() }

interface Sync {
  readonly actions: readonly Action[]
  /** Pods that the actions delete. */
  readonly removed?: readonly Pod[]
  /** When to look again, where pods must not be made yet. */
  readonly againAt?: Time
}

/** Deletes all that runs of a Job that is over. */
function stop(active: readonly Pod[], { reason }: Ending): Sync {
  const removed = active.toSorted(byName)
  return { actions: removed.map((pod) => deletePod(pod, `the Job is over: ${reason}`)), removed }
}

/** Makes the pods that are missing, or deletes those that are too many; never both at once. */
function manage(
  job: Job,
  pods: readonly Pod[],
  active: readonly Pod[],
  progress: {
    readonly succeeded: number
    readonly failed: number
    readonly succeededIndexes: readonly IndexInterval[]
  },
  failures: IndexFailures,
  nowMs: Time,
): Sync {
  const { spec } = job
  if (isLeaving(job)) return { actions: [] }
  const wanted = spec.suspend === true ? 0 : wantedActive(job, active.length, progress.succeeded)
  const surplus = podsToRemove(job, active, active.length - wanted).slice(0, podsPerSyncMax)
  if (surplus.length > 0) {
    const because =
      spec.suspend === true ? 'the Job is suspended' : `${active.length} pods are active, ${wanted} are wanted`
    // A pod that the Job itself takes away is no failure: it is not to be counted when it goes.
    const uncounted = releasesOf(surplus.filter(isTracked), because)
    const deletions = surplus.map((pod) => deletePod(pod, because))
    return { actions: [...uncounted, ...deletions], removed: surplus }
  }
  const going = replacesFailedOnly(spec) ? pods.filter(isTerminating).length : 0
  const missing = Math.min(wanted - active.length - going, podsPerSyncMax)
  if (missing <= 0) return { actions: [] }
  const because = `${active.length} of ${wanted} pods are active`
  if (spec.backoffLimitPerIndex === undefined) {
    const againAt = nextPodAt(job, pods, progress)
    if (againAt > nowMs) return { actions: [], againAt }
  }
  if (!isIndexed(spec)) {
    const create = createPod(podOf(job), because)
    return { actions: Array.from({ length: missing }, () => create) }
  }
  const taken = replacesFailedOnly(spec) ? [...active, ...pods.filter(isTerminating)] : active
  return createIndexes(
    job,
    pendingIndexes(job, taken, progress.succeededIndexes, failures, missing),
    failures,
    because,
    nowMs,
  )
}

/** How many pods are to be active (manageJob). */
function wantedActive({ spec }: Job, active: number, succeeded: number): number {
  const { parallelism = 1, completions } = spec
  // One success ends a queue of work: what runs goes on, nothing new comes.
  if (completions === undefined) return succeeded > 0 ? active : parallelism
  return Math.max(Math.min(completions - succeeded, parallelism), 0)
}

/** Pods without an index that the Job has, or with one that another pod has too, go first. */
function podsToRemove(job: Job, active: readonly Pod[], atLeast: number): readonly Pod[] {
  if (!isIndexed(job.spec)) return atLeast > 0 ? byActivity(active).slice(0, atLeast) : []
  const completions = job.spec.completions ?? 0
  const kept = new Map<number, Pod>()
  // The last in this order is missed most.
  const inOrder = byActivity(active)
  for (const pod of inOrder) {
    const index = indexOf(pod, completions)
    if (index !== undefined) kept.set(index, pod)
  }
  const stay = new Set(kept.values())
  const wrong = inOrder.filter((pod) => !stay.has(pod))
  const others = inOrder.filter((pod) => stay.has(pod))
  return [...wrong, ...others.slice(0, Math.max(atLeast - wrong.length, 0))]
}

function pendingIndexes(
  { spec }: Job,
  taken: readonly Pod[],
  succeeded: readonly IndexInterval[],
  { failedIndexes }: IndexFailures,
  count: number,
): readonly number[] {
  const completions = spec.completions ?? 0
  const running = new Set(taken.map((pod) => indexOf(pod, completions)))
  const pending: number[] = []
  for (let index = 0; index < completions && pending.length < count; index += 1) {
    if (!running.has(index) && !hasIndex(succeeded, index) && !hasIndex(failedIndexes, index)) pending.push(index)
  }
  return pending
}

/** Pods of indexes whose time has come; the first time of the others, where all must wait. */
function createIndexes(
  job: Job,
  indexes: readonly number[],
  { last }: IndexFailures,
  because: string,
  nowMs: Time,
): Sync {
  const waits = indexes.map((index) => ({ index, pod: last.get(index) }))
  const at = ({ pod }: { readonly pod: Pod | undefined }): Time => (pod === undefined ? nowMs : retryAt(job, pod))
  const due = waits.filter((each) => at(each) <= nowMs)
  const later = waits.filter((each) => at(each) > nowMs).map(at)
  const actions = due.map(({ index, pod }) => createPod(podOfIndex(job, index, nextCounts(job, pod)), because))
  return { actions, ...(later.length === 0 ? {} : { againAt: Math.min(...later) }) }
}

/** How a Job ends that has done what it was to do. `active` pods go on; none is made any more where enough have succeeded. */
function completion({ spec }: Job, succeeded: number, active: number): Ending | undefined {
  const isDone = spec.completions === undefined ? succeeded > 0 : succeeded >= spec.completions
  if (!isDone || active > 0) return undefined
  return { type: 'Complete', reason: 'CompletionsReached', message: 'Reached expected number of succeeded pods' }
}

/**
 * Whether the Job is suspended, as its conditions are to say. One that is suspended has no start (KEP-5440), and one that is resumed
 * starts anew.
 */
function suspensionOf(job: Job, nowMs: Time): { readonly job: Job; readonly events: readonly Action[] } {
  const { spec, status = {} } = job
  const condition = getCondition(status.conditions, 'Suspended')
  const isSuspended = spec.suspend === true
  if ((condition?.status === 'True') === isSuspended) return { job, events: [] }
  const [reason, message] = isSuspended ? ['JobSuspended', 'Job suspended'] : ['JobResumed', 'Job resumed']
  const conditions = withCondition(
    status.conditions,
    'Suspended',
    { reason, message },
    nowMs,
    isSuspended ? 'True' : 'False',
  )
  const { startTime: _startTime, ...others } = status
  const startTime = isSuspended ? {} : { startTime: formatTime(nowMs) }
  return {
    job: { ...job, status: { ...others, conditions, ...startTime } },
    events: [normalEvent(isSuspended ? 'Suspended' : 'Resumed', message)],
  }
}

/**
 * The status of a Job that is going to end; `isOver`: nothing of it runs, and all is counted. One that ends while it is suspended has no
 * start, and every Job that is over must say one.
 */
function ended(
  { spec }: Job,
  status: JobStatus,
  ending: Ending,
  isOver: boolean,
  nowMs: Time,
): { readonly status: JobStatus; readonly events: readonly Action[] } {
  const interim = withCondition(status.conditions, interimCondition(ending), ending, nowMs)
  if (!isOver) return { status: { ...status, conditions: interim }, events: [] }
  const conditions = withCondition(interim, ending.type, ending, nowMs)
  const completionTime = ending.type === 'Complete' ? { completionTime: formatTime(nowMs) } : {}
  const { startTime = formatTime(nowMs) } = status
  const isTooMany =
    ending.type === 'Complete' && (status.succeeded ?? 0) > (spec.completions ?? Number.POSITIVE_INFINITY)
  return {
    status: { ...status, conditions, startTime, ...completionTime },
    events: [...(isTooMany ? [tooManyEvent] : []), endingEvent(ending)],
  }
}

function endingEvent({ type, reason, message }: Ending): Action {
  if (type === 'Complete') return normalEvent('Completed', 'Job completed')
  return warningEvent(reason, message)
}

const warningEvent = (reason: string, message: string): Action => ({
  type: 'event',
  eventType: 'Warning',
  reason,
  message,
  because: message,
})

const tooManyEvent = warningEvent(
  'TooManySucceededPods',
  'Too many succeeded pods running after completion count reached',
)

const normalEvent = (reason: string, message: string): Action => ({
  type: 'event',
  eventType: 'Normal',
  reason,
  message,
  because: message,
})

function withCondition(
  conditions: readonly JobCondition[] | undefined,
  type: string,
  { reason, message }: { readonly reason: string; readonly message: string },
  nowMs: Time,
  status = 'True',
): readonly JobCondition[] {
  const lastProbeTime = formatTime(nowMs)
  return setCondition<JobCondition>(conditions, { type, status, lastProbeTime, reason, message }, nowMs)
}

/** Takes the finalizer off pods as they are by then: some have been deleted a moment before. */
function releasesOf(pods: readonly Pod[], because = 'the pod is counted'): readonly PatchAction[] {
  return pods.map((pod) => {
    const { uid } = pod.metadata
    const body = { metadata: { uid, '$deleteFromPrimitiveList/finalizers': [trackingFinalizer] } }
    return { type: 'patch', resource: podResource, key: podKey(pod), patch: { type: 'strategic', body }, because }
  })
}

function withoutCounts(status: JobStatus): JobStatus {
  const { active: _active, succeeded: _succeeded, failed: _failed, completedIndexes: _completed, ...rest } = status
  return rest
}

const positive = (name: 'active', value: number): Partial<JobStatus> => (value > 0 ? { [name]: value } : {})

const textOf = (name: 'completedIndexes', intervals: readonly IndexInterval[]): Partial<JobStatus> =>
  intervals.length === 0 ? {} : { [name]: formatIndexes(intervals) }
