import {
  type EndpointSlice,
  type KubernetesObject,
  type Pod,
  type PodDisruptionBudget,
  selectorFromLabelSelector,
} from '@coracle/api'
import { hasEnded, isReady } from '../view.ts'
import { nameText, type ObjectName, objectNameOf } from './object-name.ts'
import { ObjectsNow } from './objects-now.ts'
import { isUnderWay } from './progress.ts'
import { promiseOf, workloadKinds } from './promises.ts'
import type { RecordedChange } from './recording.ts'

/** How many were ready from some moment on. */
export interface Sample {
  readonly atMs: number
  readonly ready: number
  /** How many there should be; undefined for Services. */
  readonly desired?: number
}

/** How available something was while a change was played: a workload, a Service or a disruption budget. */
export interface Availability {
  readonly object: ObjectName
  readonly samples: readonly Sample[]
  /** The fewest that were ready at one time, and since when. */
  readonly lowest: number
  readonly lowestAtMs: number
  /** How many it promised to have then; 0 where it promises none. */
  readonly promised: number
  /** What the promise is: `maxUnavailable 25%`, `minAvailable 2`, `a Service keeps an endpoint`. */
  readonly by: string
  /** When it had fewer than it promises for the first time, with what it had and should have had; undefined where it never did. */
  readonly broken?: { readonly atMs: number; readonly ready: number; readonly promised: number }
}

/**
 * How available workloads, Services and budgets were, from the state before a change and everything that came of it. Judged at the
 * end of each moment: what happens at the same time happens in some order. Only those are told of that changed. Pure.
 *
 * What is promised is that no more than the update strategy or the budget allows is taken from what was there before: nobody promises
 * that what did not work before works while it is changed. What the update strategy says is about changes of the workload itself; to
 * those who take pods for other reasons a budget speaks, and where one covers the pods of a workload that is not changed it alone
 * counts. A Service that has endpoints is taken to promise one.
 */
export function availabilityOf(
  before: readonly KubernetesObject[],
  changes: readonly RecordedChange[],
  startMs: number,
): readonly Availability[] {
  const objects = new ObjectsNow(before)
  const tracker = new Tracker(objects, before)
  for (const object of before) tracker.see(object, undefined)
  tracker.sample(startMs)
  for (let index = 0; index < changes.length; index++) {
    const change = changes[index] as RecordedChange
    objects.apply(change)
    tracker.see(change.object ?? change.old, change)
    if (changes[index + 1]?.atMs !== change.atMs) tracker.sample(change.atMs)
  }
  return tracker.results()
}

interface Subject {
  readonly object: ObjectName
  readonly samples: Sample[]
  /** How many were ready, and how few were asked for, since the beginning. */
  initial: number
  leastDesired: number
  lowest: Sample & { readonly promised: number }
  by: string
  broken: Availability['broken']
}

/** Counts what is ready, by what it is ready for. */
class Tracker {
  readonly #objects: ObjectsNow
  readonly #subjects = new Map<string, Subject>()
  /** Ready pods by the uid of their workload, and the workload by the uid of the pod. */
  readonly #ready = new Map<string, Set<string>>()
  readonly #workloadOf = new Map<string, string>()
  /** Ready endpoints of slices, by the names of slices. */
  readonly #endpoints = new Map<string, { readonly service: string; readonly ready: readonly string[] }>()
  readonly #slices = new Map<string, Set<string>>()
  readonly #budgets = new Map<string, Budget>()
  /** What may have changed in this moment, by name. */
  readonly #touched = new Map<string, ObjectName>()

  /** The generations that workloads at rest had before the change, by uid. */
  readonly #restful: ReadonlyMap<string, number | undefined>

  constructor(objects: ObjectsNow, before: readonly KubernetesObject[]) {
    this.#objects = objects
    const resting = before.filter((object) => workloadKinds.has(object.kind ?? '') && !isUnderWay(object))
    this.#restful = new Map(resting.map(({ metadata }) => [metadata.uid ?? '', metadata.generation]))
  }

  /** Takes in an object as it is, or is no more. */
  see(object: KubernetesObject | undefined, change: RecordedChange | undefined): void {
    if (object === undefined) return
    const isGone = change !== undefined && change.object === undefined
    const { kind = '' } = object
    if (kind === 'Pod') this.#seePod(object as Pod, isGone, change?.old as Pod | undefined)
    else if (kind === 'EndpointSlice') this.#seeSlice(object as EndpointSlice, isGone)
    else if (kind === 'PodDisruptionBudget') this.#seeBudget(object as PodDisruptionBudget, isGone)
    else if (kind === 'Service' || workloadKinds.has(kind)) this.#touch(objectNameOf(object))
  }

  /** Notes how all that has changed stands at the end of a moment. */
  sample(atMs: number): void {
    for (const [key, name] of this.#touched) {
      const state = this.#stateOf(name)
      if (state !== undefined) this.#note(key, name, atMs, state)
      else if (this.#subjects.has(key)) this.#note(key, name, atMs, { ready: 0, desired: 0, mayBeMissing: 0, by: '' })
    }
    this.#touched.clear()
  }

  results(): readonly Availability[] {
    return [...this.#subjects.values()]
      .filter(({ samples }) => samples.length > 1)
      .map(({ object, samples, lowest, by, broken }) => ({
        object,
        samples,
        lowest: lowest.ready,
        lowestAtMs: lowest.atMs,
        promised: lowest.promised,
        by,
        ...(broken === undefined ? {} : { broken }),
      }))
      .sort((a, b) => (nameText(a.object) < nameText(b.object) ? -1 : 1))
  }

  #touch(name: ObjectName): void {
    this.#touched.set(nameText(name), name)
  }

  #seePod(pod: Pod, isGone: boolean, old: Pod | undefined): void {
    const { uid = '', namespace } = pod.metadata
    const before = this.#workloadOf.get(uid)
    if (old !== undefined && old.metadata.uid !== uid) this.#seePod(old, true, undefined)
    if (before !== undefined) this.#ready.get(before)?.delete(uid)
    const workload = this.#objects.workloadOf(pod)
    const workloadUid = workload.metadata.uid ?? ''
    this.#workloadOf.set(uid, workloadUid)
    if (!isGone && counts(pod)) {
      const siblings = this.#ready.get(workloadUid) ?? new Set()
      this.#ready.set(workloadUid, siblings.add(uid))
    }
    for (const touched of new Set([before, workloadUid])) {
      const found = this.#objects.byUid(touched ?? '')
      if (found !== undefined && workloadKinds.has(found.kind ?? '')) this.#touch(objectNameOf(found))
    }
    for (const budget of this.#budgets.values()) {
      if (budget.object.metadata.namespace !== namespace) continue
      const isHealthy = !isGone && counts(pod) && budget.guards(pod)
      if (isHealthy === budget.healthy.has(uid)) continue
      if (isHealthy) budget.healthy.add(uid)
      else budget.healthy.delete(uid)
      this.#touch(objectNameOf(budget.object))
    }
  }

  #seeSlice(slice: EndpointSlice, isGone: boolean): void {
    const { namespace = '', name = '', labels = {} } = slice.metadata
    const key = `${namespace}/${name}`
    const service = `${namespace}/${labels['kubernetes.io/service-name'] ?? ''}`
    const ready = (slice.endpoints ?? [])
      .filter(({ conditions }) => conditions?.ready !== false)
      .map(({ targetRef, addresses }) => targetRef?.name ?? addresses[0] ?? '')
    const slices = this.#slices.get(service) ?? new Set()
    this.#slices.set(service, slices)
    if (isGone) slices.delete(key)
    else slices.add(key)
    if (isGone) this.#endpoints.delete(key)
    else this.#endpoints.set(key, { service, ready })
    const serviceName = labels['kubernetes.io/service-name']
    if (serviceName !== undefined) this.#touch({ kind: 'Service', namespace, name: serviceName })
  }

  #seeBudget(budget: PodDisruptionBudget, isGone: boolean): void {
    const name = objectNameOf(budget)
    const known = this.#budgets.get(nameText(name))
    this.#touch(name)
    if (isGone) this.#budgets.delete(nameText(name))
    else if (known !== undefined && JSON.stringify(known.object.spec) === JSON.stringify(budget.spec))
      known.object = budget
    else {
      const selector = selectorFromLabelSelector(budget.spec?.selector)
      const guards = ({ metadata }: Pick<Pod, 'metadata'>) => selector.matches(metadata.labels)
      const pods = this.#objects.ofKind('Pod') as unknown as readonly Pod[]
      const own = pods.filter(
        (pod) => pod.metadata.namespace === budget.metadata.namespace && counts(pod) && guards(pod),
      )
      const healthy = new Set(own.map(({ metadata }) => metadata.uid ?? ''))
      this.#budgets.set(nameText(name), { object: budget, guards, healthy })
    }
  }

  /** How something stands now; undefined where it is gone, or somebody else's business. */
  #stateOf({ kind, namespace, name }: ObjectName): State | undefined {
    const object = this.#objects.find(kind, namespace, name)
    if (object === undefined) return undefined
    if (kind === 'Service')
      return { ready: this.#readyEndpoints(`${namespace}/${name}`), by: 'a Service keeps an endpoint' }
    if (kind === 'PodDisruptionBudget') {
      const { spec, status } = object as PodDisruptionBudget
      const ready =
        this.#budgets.get(nameText({ kind, name, ...(namespace === undefined ? {} : { namespace }) }))?.healthy.size ??
        0
      const [field, value] =
        spec?.maxUnavailable === undefined
          ? ['minAvailable', spec?.minAvailable]
          : ['maxUnavailable', spec.maxUnavailable]
      return { ready, desired: status?.desiredHealthy ?? 0, mayBeMissing: 0, by: `${field} ${value}` }
    }
    if (this.#objects.workloadOf(object) !== object) return undefined
    const promise = promiseOf(object)
    if (promise === undefined) return undefined
    const ready = this.#ready.get(object.metadata.uid ?? '')?.size ?? 0
    const isGoing = object.metadata.deletionTimestamp !== undefined
    if (isGoing) return { ready, ...promise, desired: 0 }
    const covering = this.#isAsBefore(object) ? this.#budgetOver(object) : undefined
    if (covering === undefined) return { ready, ...promise }
    return { ready, desired: promise.desired, mayBeMissing: promise.desired, by: `as budget ${covering} says` }
  }

  /** Whether nobody has changed a workload, nor was it on its way to be something else. */
  #isAsBefore({ metadata: { uid = '', generation } }: KubernetesObject): boolean {
    return this.#restful.has(uid) && this.#restful.get(uid) === generation
  }

  /** The name of a budget that covers the pods of a workload. */
  #budgetOver(workload: KubernetesObject): string | undefined {
    const { spec } = workload as { readonly spec?: { readonly template?: Pick<Pod, 'metadata'> } }
    const labels = spec?.template?.metadata?.labels
    if (labels === undefined) return undefined
    const { namespace } = workload.metadata
    const found = [...this.#budgets.values()].find(
      ({ object: { metadata }, guards }) => metadata.namespace === namespace && guards({ metadata: { labels } }),
    )
    return found?.object.metadata.name
  }

  #readyEndpoints(service: string): number {
    const names = [...(this.#slices.get(service) ?? [])].flatMap((slice) => this.#endpoints.get(slice)?.ready ?? [])
    return new Set(names).size
  }

  #note(key: string, object: ObjectName, atMs: number, state: State): void {
    const { ready, desired, by } = state
    const sample: Sample = desired === undefined ? { atMs, ready } : { atMs, ready, desired }
    const known = this.#subjects.get(key)
    const subject: Subject = known ?? {
      object,
      samples: [],
      initial: ready,
      leastDesired: desired ?? Number.POSITIVE_INFINITY,
      lowest: { ...sample, promised: 0 },
      by,
      broken: undefined,
    }
    this.#subjects.set(key, subject)
    subject.leastDesired = Math.min(subject.leastDesired, desired ?? Number.POSITIVE_INFINITY)
    const promised = promisedOf(subject, state)
    if (by !== '') subject.by = by
    const last = subject.samples.at(-1)
    if (last?.ready !== ready || last.desired !== desired) subject.samples.push(sample)
    if (known === undefined || ready < subject.lowest.ready) subject.lowest = { ...sample, promised }
    if (ready < promised) subject.broken ??= { atMs, ready, promised }
  }
}

interface State {
  readonly ready: number
  /** Undefined for Services. */
  readonly desired?: number
  readonly mayBeMissing?: number
  readonly by: string
}

interface Budget {
  object: PodDisruptionBudget
  readonly guards: (pod: Pick<Pod, 'metadata'>) => boolean
  readonly healthy: Set<string>
}

function promisedOf({ object, initial, leastDesired }: Subject, { desired, mayBeMissing = 0, by }: State): number {
  if (by === '') return 0
  if (desired === undefined) return Math.min(initial, 1)
  // A budget's number is of those that have to be there already.
  if (object.kind === 'PodDisruptionBudget') return Math.min(initial, desired)
  return Math.max(0, Math.min(initial, leastDesired) - mayBeMissing)
}

/** Whether a pod serves: it is ready, and here to stay. */
const counts = (pod: Pod): boolean => pod.metadata.deletionTimestamp === undefined && !hasEnded(pod) && isReady(pod)
