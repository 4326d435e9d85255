import { deepEqual, isJobFinished, type Job, type Pod } from '@coracle/api'
import {
  type Change,
  controllerOf,
  type Invariant,
  isActive,
  isNew,
  labelOf,
  seenByWriter,
  type View,
} from '../view.ts'

/** What Jobs promise. Made for each run: it remembers which pods have ended. */
export function jobInvariants(): readonly Invariant[] {
  const outcomes = new Outcomes()
  return [
    { name: 'a Job that is over stays so', check: runsAfterEnd },
    { name: 'a Job runs no more pods at a time than it may', check: tooManyAtATime },
    { name: 'an index runs once at a time', check: indexTwice },
    { name: 'an index that is complete is not run again', check: indexAgain },
    { name: 'a Job counts each pod once', check: (change, view) => outcomes.check(change, view) },
    { name: 'a Job waits for those it depends on', check: beforeItsTime },
  ]
}

interface Made {
  readonly pod: Pod
  readonly versions: readonly Job[]
  readonly latest: Job
}

/** A new pod of a Job. */
function podMade(change: Change, view: View): Made | undefined {
  if (change.object?.kind !== 'Pod' || !isNew(change)) return undefined
  const pod = change.object as Pod
  const owner = controllerOf(pod)
  if (owner?.kind !== 'Job') return undefined
  const versions = view.recent<Job>(owner.uid)
  const latest = versions.at(-1)
  return latest === undefined ? undefined : { pod, versions, latest }
}

function runsAfterEnd(change: Change, view: View): string | undefined {
  const { old, object } = change
  if (object?.kind === 'Job') {
    const before = old?.metadata.uid === object.metadata.uid ? (old as Job) : undefined
    if (before === undefined || !isJobFinished(before)) return undefined
    if (!isJobFinished(object as Job)) return `${labelOf(object)} was over and is not`
    return deepEqual(before.status, (object as Job).status)
      ? undefined
      : `${labelOf(object)} was over, and its status has changed`
  }
  const made = podMade(change, view)
  return made !== undefined && seenByWriter(made.versions, view).every(isJobFinished)
    ? `${labelOf(made.pod)} is made for a Job that is over`
    : undefined
}

function tooManyAtATime(change: Change, view: View): string | undefined {
  const made = podMade(change, view)
  if (made === undefined) return undefined
  const most = Math.max(...made.versions.map(({ spec }) => (spec.suspend === true ? 0 : (spec.parallelism ?? 1))))
  const active = view.podsOf(made.latest.metadata.uid ?? '').filter(isActive)
  return active.length > most + view.unansweredPodsOf(made.latest.metadata.uid ?? '')
    ? `${labelOf(made.latest)} runs ${active.length} pods with ${made.pod.metadata.name}, and may run ${most}`
    : undefined
}

const indexOf = ({ metadata }: Pod): string | undefined =>
  metadata.annotations?.['batch.kubernetes.io/job-completion-index']

function indexTwice(change: Change, view: View): string | undefined {
  const made = podMade(change, view)
  const index = made === undefined ? undefined : indexOf(made.pod)
  if (made === undefined || index === undefined) return undefined
  const others = view
    .podsOf(made.latest.metadata.uid ?? '')
    .filter((other) => other !== made.pod && isActive(other) && indexOf(other) === index)
  return others.length > view.unansweredPodsOf(made.latest.metadata.uid ?? '')
    ? `index ${index} gets ${labelOf(made.pod)} beside ${others.map(({ metadata }) => metadata.name).join(', ')}`
    : undefined
}

function indexAgain(change: Change, view: View): string | undefined {
  const made = podMade(change, view)
  const index = made === undefined ? undefined : indexOf(made.pod)
  if (made === undefined || index === undefined) return undefined
  return seenByWriter(made.versions, view).every(({ status }) => includesIndex(status?.completedIndexes, Number(index)))
    ? `${labelOf(made.pod)} runs index ${index}, which is complete`
    : undefined
}

/** Whether a text such as `0,2-4` names an index. */
export function includesIndex(text: string | undefined, index: number): boolean {
  if (text === undefined || text === '') return false
  return text.split(',').some((part) => {
    const [first = '', last = first] = part.split('-')
    return Number(first) <= index && index <= Number(last)
  })
}

/**
 * Which pods of each Job have ever succeeded, and which may count as failed: those of a Job that fails do when they are made to go, and
 * who makes them go may not have heard yet that one has succeeded.
 */
class Outcomes {
  readonly #ended = new Map<string, Set<string>>()
  readonly #succeeded = new Map<string, Set<string>>()
  readonly #failed = new Map<string, Set<string>>()

  check({ old, object }: Change, _view: View): string | undefined {
    const either = object ?? old
    if (either?.kind === 'Pod') {
      this.#note(either as Pod, object === undefined)
      return undefined
    }
    if (object?.kind !== 'Job') return undefined
    const { metadata, status } = object as Job
    const { succeeded = 0, failed = 0 } = status ?? {}
    const sizeOf = (sets: Map<string, Set<string>>) => sets.get(metadata.uid ?? '')?.size ?? 0
    const counted = [
      { what: 'status.succeeded', count: succeeded, ended: sizeOf(this.#succeeded) },
      { what: 'status.failed', count: failed, ended: sizeOf(this.#failed) },
      { what: 'the sum of both', count: succeeded + failed, ended: sizeOf(this.#ended) },
    ]
    const wrong = counted.find(({ count, ended }) => count > ended)
    return wrong === undefined
      ? undefined
      : `${labelOf(object)}: ${wrong.what} is ${wrong.count}, and ${wrong.ended} pods have ended so`
  }

  #note(pod: Pod, isGone: boolean): void {
    const owner = controllerOf(pod)
    if (owner?.kind !== 'Job') return
    const { uid = '', deletionTimestamp } = pod.metadata
    const { phase } = pod.status ?? {}
    const isMadeToGo = deletionTimestamp !== undefined || isGone
    if (phase === 'Succeeded') add(this.#succeeded, owner.uid, uid)
    if (phase === 'Failed' || isMadeToGo) add(this.#failed, owner.uid, uid)
    if (phase === 'Succeeded' || phase === 'Failed' || isMadeToGo) add(this.#ended, owner.uid, uid)
  }
}

function add(sets: Map<string, Set<string>>, key: string, value: string): void {
  const set = sets.get(key) ?? new Set<string>()
  set.add(value)
  sets.set(key, set)
}

function beforeItsTime(change: Change, view: View): string | undefined {
  const made = podMade(change, view)
  const names = made?.latest.metadata.annotations?.['coracle.dev/depends-on']
  if (made === undefined || names === undefined) return undefined
  const open = names
    .split(',')
    .map((name) => view.find('Job', made.latest.metadata.namespace, name.trim()) as Job | undefined)
    .filter((job): job is Job => job !== undefined && !isComplete(job) && !hasStarted(made.latest))
  return open.length > 0
    ? `${labelOf(made.pod)} runs before ${open.map(({ metadata }) => metadata.name).join(', ')} is complete`
    : undefined
}

/** One that was suspended when it had started has no start until its pods are there again. */
const hasStarted = ({ status }: Job): boolean =>
  status?.startTime !== undefined || status?.conditions?.some(({ type }) => type === 'Suspended') === true

const isComplete = ({ status }: Job): boolean =>
  status?.conditions?.some(({ type, status: holds }) => type === 'Complete' && holds === 'True') === true
