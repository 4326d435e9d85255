import type { Deployment, Job, KubernetesObject, Node, Pod } from '@coracle/api'
import { isReady } from '../view.ts'
import { type ObjectName, objectNameOf } from './object-name.ts'
import { ObjectsNow } from './objects-now.ts'
import { isUnderWay } from './progress.ts'
import { workloadKinds } from './promises.ts'
import type { RecordedChange, RecordedNote } from './recording.ts'

/** What happens to a pod, a workload, a node, or anything else. */
export type TimelineEventType =
  | 'created'
  | 'changed'
  | 'removed'
  /** A pod has a node. */
  | 'scheduled'
  /** No node takes a pod. */
  | 'unschedulable'
  | 'ready'
  /** A pod that was ready is not any more, and nobody stops it. */
  | 'unready'
  /** A pod is told to go. */
  | 'stopping'
  /** A pod is told to go by somebody who needs its node empty, or its place. */
  | 'evicted'
  /** A budget does not let a pod go. */
  | 'eviction-refused'
  /** A container of a pod has ended and starts again. */
  | 'restarted'
  | 'failed'
  | 'completed'
  /** Another number of replicas is asked for. */
  | 'scaled'
  /** Pods are made of another template from now on. */
  | 'updated'
  /** A workload is as it was asked to be. */
  | 'complete'
  /** A rollout has not moved on for as long as it may take. */
  | 'stuck'
  | 'cordoned'
  | 'uncordoned'
  | 'tainted'
  /** A controller says that something is wrong. */
  | 'warning'

/** Something that happened while a change was played. */
export interface TimelineEvent {
  readonly atMs: number
  readonly type: TimelineEventType
  readonly object: ObjectName
  /** What controls it, directly and at the top. Absent where nothing does. */
  readonly controller?: ObjectName
  readonly workload?: ObjectName
  readonly node?: string
  readonly from?: number
  readonly to?: number
  readonly reason?: string
  readonly message?: string
}

/** What happened, in order, from the state before and what came of the change. Pure. */
export function timelineOf(
  before: readonly KubernetesObject[],
  changes: readonly RecordedChange[],
  notes: readonly RecordedNote[] = [],
): readonly TimelineEvent[] {
  const objects = new ObjectsNow(before)
  const told = new Set<string>()
  const events: TimelineEvent[] = []
  for (const change of changes) {
    objects.apply(change)
    for (const part of partsOf(change)) {
      for (const found of eventsOf(part, objects)) {
        // Who says the same again and again, as a scheduler does, says nothing new.
        const key = `${found.type} ${JSON.stringify(found.object)} ${found.reason}`
        if ((found.type === 'warning' || found.type === 'unschedulable') && told.has(key)) continue
        told.add(key)
        events.push({ atMs: change.atMs, ...found })
      }
    }
  }
  for (const { atMs, type, object, message } of notes) {
    const key = `${type} ${JSON.stringify(objectNameOf(object))}`
    if (told.has(key)) continue
    told.add(key)
    events.push({ atMs, type, ...namesOf(object, objects), message })
  }
  return events.toSorted((a, b) => a.atMs - b.atMs)
}

type Found = Omit<TimelineEvent, 'atMs'>

/** A change; where an object has taken the place of another of its name, the end of one and the beginning of the other. */
function partsOf(change: RecordedChange): readonly RecordedChange[] {
  const { atMs, old, object } = change
  if (old === undefined || object === undefined || old.metadata.uid === object.metadata.uid) return [change]
  return [
    { atMs, old, object: undefined },
    { atMs, old: undefined, object },
  ]
}

/** Kinds that only follow others. */
const derivedKinds: ReadonlySet<string> = new Set([
  'Endpoints',
  'EndpointSlice',
  'ControllerRevision',
  'IPAddress',
  'Lease',
])

function eventsOf({ old, object }: RecordedChange, objects: ObjectsNow): readonly Found[] {
  const subject = object ?? old
  if (subject === undefined || derivedKinds.has(subject.kind ?? '')) return []
  if (subject.kind === 'Event') return object === undefined ? [] : warningOf(object, objects)
  const names = namesOf(subject, objects)
  if (old === undefined) return [{ type: 'created', ...names, ...countOf(subject) }]
  if (object === undefined) return [{ type: 'removed', ...names }]
  const types = [...commonEvents(old, object), ...ownEvents(old, object)]
  return types.map((each) => ({ ...each, ...names }))
}

type Happening = Omit<Found, 'object' | 'controller' | 'workload'>

/** What happens to objects of any kind. */
function commonEvents(old: KubernetesObject, object: KubernetesObject): readonly Happening[] {
  const { kind = '' } = object
  const isWorkload = workloadKinds.has(kind)
  const found: Happening[] = []
  const isToldToGo = old.metadata.deletionTimestamp === undefined && object.metadata.deletionTimestamp !== undefined
  if (isToldToGo && kind !== 'Pod') found.push({ type: 'stopping' })
  if (isWorkload && isUnderWay(old) && !isUnderWay(object)) found.push({ type: 'complete', ...countOf(object) })
  if (!isWorkload && kind !== 'Pod' && kind !== 'Node' && contentOf(old) !== contentOf(object))
    found.push({ type: 'changed' })
  return found
}

function ownEvents(old: KubernetesObject, object: KubernetesObject): readonly Happening[] {
  switch (object.kind) {
    case 'Pod':
      return podEvents(old as Pod, object as Pod)
    case 'Node':
      return nodeEvents(old as Node, object as Node)
    case 'Job':
      return jobEvents(old as Job, object as Job)
    default:
      return workloadKinds.has(object.kind ?? '') ? workloadEvents(old, object) : []
  }
}

function podEvents(old: Pod, pod: Pod): readonly Happening[] {
  const found: Happening[] = []
  const { nodeName } = pod.spec
  if (old.spec.nodeName === undefined && nodeName !== undefined) found.push({ type: 'scheduled', node: nodeName })
  const unschedulable = conditionOf(pod, 'PodScheduled')
  if (unschedulable?.status === 'False' && conditionOf(old, 'PodScheduled')?.status !== 'False')
    found.push({ type: 'unschedulable', ...textsOf(unschedulable) })
  const failure = startFailureOf(pod)
  if (failure !== undefined && startFailureOf(old)?.reason !== failure.reason)
    found.push({ type: 'warning', ...textsOf(failure) })
  const restarts = restartsOf(pod) - restartsOf(old)
  if (restarts > 0) found.push({ type: 'restarted', to: restartsOf(pod) })
  const [was, is] = [isReady(old), isReady(pod)]
  const isGoing = pod.metadata.deletionTimestamp !== undefined
  if (!was && is && !isGoing) found.push({ type: 'ready', ...placeOf(pod) })
  if (isGoing && old.metadata.deletionTimestamp === undefined) {
    const target = conditionOf(pod, 'DisruptionTarget')
    if (target?.status === 'True') found.push({ type: 'evicted', ...placeOf(pod), ...textsOf(target) })
    else found.push({ type: 'stopping', ...placeOf(pod) })
  }
  const { phase, reason, message } = pod.status ?? {}
  if (phase !== old.status?.phase && phase === 'Succeeded' && !isGoing) found.push({ type: 'completed' })
  else if (phase !== old.status?.phase && phase === 'Failed' && !isGoing)
    found.push({ type: 'failed', ...textsOf({ reason, message }) })
  else if (was && !is && !isGoing) found.push({ type: 'unready', ...placeOf(pod) })
  return found
}

function nodeEvents(old: Node, node: Node): readonly Happening[] {
  const [was, is] = [old.spec?.unschedulable === true, node.spec?.unschedulable === true]
  if (was !== is) return [{ type: is ? 'cordoned' : 'uncordoned' }]
  const taintsOf = ({ spec }: Node) => (spec?.taints ?? []).map(({ key, effect }) => `${key}:${effect}`).sort()
  const added = taintsOf(node).filter(
    (taint) => !taintsOf(old).includes(taint) && !taint.startsWith('node.kubernetes.io/unschedulable'),
  )
  return added.length === 0 ? [] : [{ type: 'tainted', message: added.join(', ') }]
}

function jobEvents(old: Job, job: Job): readonly Happening[] {
  const found: Happening[] = []
  for (const [condition, type] of [
    ['Complete', 'completed'],
    ['Failed', 'failed'],
  ] as const) {
    const is = job.status?.conditions?.find((each) => each.type === condition && each.status === 'True')
    const was = old.status?.conditions?.some((each) => each.type === condition && each.status === 'True')
    if (is !== undefined && was !== true) found.push({ type, ...textsOf(is) })
  }
  return found
}

interface Workload extends KubernetesObject {
  readonly spec?: { readonly replicas?: number; readonly template?: unknown }
}

function workloadEvents(old: KubernetesObject, object: KubernetesObject): readonly Happening[] {
  const found: Happening[] = []
  const [before, after] = [(old as Workload).spec, (object as Workload).spec]
  const [from, to] = [before?.replicas, after?.replicas]
  if (from !== undefined && to !== undefined && from !== to) found.push({ type: 'scaled', from, to })
  if (JSON.stringify(before?.template) !== JSON.stringify(after?.template)) found.push({ type: 'updated' })
  if (object.kind === 'Deployment' && isStuck(object as Deployment) && !isStuck(old as Deployment)) {
    found.push({ type: 'stuck', ...textsOf(progressing(object as Deployment) ?? {}) })
  }
  return found
}

const progressing = ({ status }: Deployment) => status?.conditions?.find(({ type }) => type === 'Progressing')
const isStuck = (deployment: Deployment): boolean => progressing(deployment)?.reason === 'ProgressDeadlineExceeded'

interface WrittenEvent extends KubernetesObject {
  readonly type?: string
  readonly reason?: string
  readonly message?: string
  readonly involvedObject?: { readonly kind?: string; readonly namespace?: string; readonly name?: string }
}

/** What the timeline has from the pods themselves. */
const knownReasons: ReadonlySet<string> = new Set(['FailedScheduling', 'BackOff', 'Unhealthy'])

function warningOf(event: KubernetesObject, objects: ObjectsNow): readonly Found[] {
  const { type, reason = '', message = '', involvedObject } = event as WrittenEvent
  if (type !== 'Warning' || knownReasons.has(reason)) return []
  const { kind = '', namespace, name = '' } = involvedObject ?? {}
  const about = objects.find(kind, namespace, name)
  const names =
    about === undefined
      ? { object: namespace === undefined ? { kind, name } : { kind, namespace, name } }
      : namesOf(about, objects)
  return [{ type: 'warning', ...names, reason, message }]
}

function namesOf(
  object: KubernetesObject,
  objects: ObjectsNow,
): Pick<TimelineEvent, 'object' | 'controller' | 'workload'> {
  const uid = object.metadata.ownerReferences?.find(({ controller }) => controller === true)?.uid
  const controller = uid === undefined ? undefined : objects.byUid(uid)
  const workload = objects.workloadOf(object)
  return {
    object: objectNameOf(object),
    ...(controller === undefined ? {} : { controller: objectNameOf(controller) }),
    ...(workload === object ? {} : { workload: objectNameOf(workload) }),
  }
}

function conditionOf({ status }: Pod, wanted: string) {
  return status?.conditions?.find(({ type }) => type === wanted)
}

/** Why a container of a pod cannot be started. */
function startFailureOf({ status }: Pod) {
  const statuses = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])]
  return statuses.map(({ state }) => state?.waiting).find((waiting) => waiting?.reason?.endsWith('Error') === true)
}

const restartsOf = ({ status }: Pod): number =>
  (status?.containerStatuses ?? []).reduce((sum, { restartCount }) => sum + restartCount, 0)

const placeOf = ({ spec: { nodeName } }: Pod): { readonly node?: string } =>
  nodeName === undefined ? {} : { node: nodeName }

function countOf(object: KubernetesObject): { readonly to?: number } {
  const replicas = (object as Workload).spec?.replicas
  return replicas === undefined || !workloadKinds.has(object.kind ?? '') ? {} : { to: replicas }
}

const textsOf = ({
  reason,
  message,
}: {
  readonly reason?: string | undefined
  readonly message?: string | undefined
}) => ({
  ...(reason === undefined ? {} : { reason }),
  ...(message === undefined ? {} : { message }),
})

/** What people write of an object: all but its status, and what the server notes of it. */
function contentOf({ status: _status, metadata, ...rest }: KubernetesObject & { readonly status?: unknown }): string {
  return JSON.stringify([metadata.labels, metadata.annotations, metadata.finalizers, rest])
}
