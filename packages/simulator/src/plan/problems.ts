import type { KubernetesObject } from '@coracle/api'
import type { Availability } from './availability.ts'
import { nameText, type ObjectName, objectNameOf } from './object-name.ts'
import { isUnderWay } from './progress.ts'
import type { Rehearsed } from './rehearsal.ts'
import type { TimelineEvent } from './timeline.ts'

export type ProblemType =
  /** The server refuses the change, or who makes it gives up. */
  | 'refused'
  /** Fewer are ready than is promised. */
  | 'unavailable'
  /** No node takes a pod. */
  | 'unschedulable'
  /** A budget does not let a pod go. */
  | 'blocked'
  /** Something is not as it was asked to be when the time is over. */
  | 'unfinished'
  /** Something else that a controller says is wrong. */
  | 'warning'

/** Something that would go wrong. */
export interface Problem {
  /** A pipeline should stop at an error, not at a warning. */
  readonly severity: 'error' | 'warning'
  readonly type: ProblemType
  /** Absent where it is about the change as a whole. */
  readonly object?: ObjectName
  /** When it began, on the clock of the copy. */
  readonly atMs: number
  readonly message: string
}

/** What the change itself came to: why it was refused, where it was. */
export interface ChangeOutcome {
  readonly refusal?: string
}

/** What would go wrong with a change, errors first. What was wrong before is not its fault. Pure. */
export function problemsOf(
  rehearsed: Rehearsed,
  timeline: readonly TimelineEvent[],
  availability: readonly Availability[],
  { refusal }: ChangeOutcome,
): readonly Problem[] {
  const { startMs, endMs, before, after, isDone, isCutShort } = rehearsed
  const problems: Problem[] = []
  if (refusal !== undefined) problems.push({ severity: 'error', type: 'refused', atMs: startMs, message: refusal })
  problems.push(...shortages(availability))
  const known = new Set(before.filter(isUnderWay).map(({ metadata }) => metadata.uid))
  const unfinished = after.filter((object) => isUnderWay(object) && !known.has(object.metadata.uid))
  problems.push(...unscheduled(timeline, unfinished))
  problems.push(...blocked(timeline, isDone))
  problems.push(...unfinishedOnes(unfinished, timeline, endMs))
  if (!isDone)
    problems.push({
      severity: 'error',
      type: 'unfinished',
      atMs: endMs,
      message: 'the command is still at it when the time is over',
    })
  if (isCutShort)
    problems.push({ severity: 'error', type: 'unfinished', atMs: endMs, message: 'more happens than is recorded' })
  problems.push(...warnings(timeline, unfinished))
  return problems.toSorted((a, b) => rankOf(a) - rankOf(b) || a.atMs - b.atMs)
}

const rankOf = ({ severity }: Problem): number => (severity === 'error' ? 0 : 1)

function shortages(availability: readonly Availability[]): readonly Problem[] {
  return availability.flatMap(({ object, broken, by }): readonly Problem[] => {
    if (broken === undefined) return []
    const { atMs, ready, promised } = broken
    const message = `${ready} ready where ${promised} ${promised === 1 ? 'is' : 'are'} promised (${by})`
    return [{ severity: 'error', type: 'unavailable', object, atMs, message }]
  })
}

/** Pods that no node takes to the end, those of a workload together. */
function unscheduled(timeline: readonly TimelineEvent[], unfinished: readonly KubernetesObject[]): readonly Problem[] {
  const left = new Set(
    unfinished.filter((pod) => pod.kind === 'Pod' && !hasNode(pod)).map((pod) => nameText(objectNameOf(pod))),
  )
  const waiting = timeline.filter(({ type, object }) => type === 'unschedulable' && left.has(nameText(object)))
  const byWorkload = Map.groupBy(waiting, ({ workload, object }) => nameText(workload ?? object))
  return [...byWorkload.values()].flatMap((events): readonly Problem[] => {
    const [first] = events
    if (first === undefined) return []
    const count = events.length === 1 ? '1 pod finds' : `${events.length} pods find`
    const message = `${count} no node: ${first.message ?? ''}`
    return [
      { severity: 'error', type: 'unschedulable', object: first.workload ?? first.object, atMs: first.atMs, message },
    ]
  })
}

/** Evictions that budgets refuse, those of a workload together. They only hold things up where they are granted in the end. */
function blocked(timeline: readonly TimelineEvent[], isDone: boolean): readonly Problem[] {
  const refused = timeline.filter(({ type }) => type === 'eviction-refused')
  const byWorkload = Map.groupBy(refused, ({ workload, object }) => nameText(workload ?? object))
  return [...byWorkload.values()].flatMap((events): readonly Problem[] => {
    const [first] = events
    if (first === undefined) return []
    const { workload, object, atMs } = first
    const count = events.length === 1 ? '1 pod is' : `${events.length} pods are`
    const message = `${count} not let go${isDone ? ' at once' : ''}: ${first.message ?? ''}`
    return [{ severity: isDone ? 'warning' : 'error', type: 'blocked', object: workload ?? object, atMs, message }]
  })
}

const hasNode = (pod: KubernetesObject): boolean =>
  (pod as KubernetesObject & { readonly spec?: { readonly nodeName?: string } }).spec?.nodeName !== undefined

/** Workloads that are not as they were asked to be, and what does not go. Pods are their workload's business. */
function unfinishedOnes(
  unfinished: readonly KubernetesObject[],
  timeline: readonly TimelineEvent[],
  endMs: number,
): readonly Problem[] {
  return unfinished.flatMap((object): readonly Problem[] => {
    const isOwned = object.metadata.ownerReferences?.some(({ controller }) => controller === true) === true
    if (isOwned) return []
    const name = objectNameOf(object)
    const own = timeline.filter(({ object: about, workload }) => nameText(workload ?? about) === nameText(name))
    // That it does not get on is what one sees; what a controller complains of is why.
    const reason =
      own.findLast(({ type }) => type === 'warning' || type === 'unschedulable') ??
      own.findLast(({ type }) => type === 'stuck')
    const { finalizers = [] } = object.metadata
    const why =
      object.metadata.deletionTimestamp !== undefined && finalizers.length > 0
        ? `: it is held by ${finalizers.join(', ')}`
        : reason?.message === undefined
          ? ''
          : `: ${reason.message}`
    const what = object.metadata.deletionTimestamp === undefined ? 'is not what it was asked to be' : 'is not gone'
    return [
      {
        severity: 'error',
        type: 'unfinished',
        object: name,
        atMs: endMs,
        message: `${what} when the time is over${why}`,
      },
    ]
  })
}

/** What controllers warn of, of workloads that come right in the end: the others say it themselves. */
function warnings(timeline: readonly TimelineEvent[], unfinished: readonly KubernetesObject[]): readonly Problem[] {
  const failed = new Set(unfinished.map((object) => nameText(objectNameOf(object))))
  return timeline.flatMap(({ type, object, workload, atMs, reason, message }): readonly Problem[] => {
    if (type !== 'warning' || failed.has(nameText(workload ?? object))) return []
    return [{ severity: 'warning', type: 'warning', object, atMs, message: `${reason}: ${message}` }]
  })
}
