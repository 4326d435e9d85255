import type { KubernetesObject } from '@coracle/api'
import type { Client, ClientCall, Interceptor } from '@coracle/client'
import { ConnectionError } from '@coracle/client'
import {
  droppedWatches,
  Gate,
  lostAnswers,
  lostRequests,
  oneWay,
  slowWatches,
  withFaults,
} from '@coracle/client/faults'
import type { VirtualEnvironment } from '@coracle/environment'
import { type Direction, isFault, type Operation } from './operation.ts'
import { controllerOf } from './view.ts'

/** The way of one component to its server. */
interface Way {
  readonly requests: Gate
  readonly answers: Gate
  delayMs: number
}

const reads: ReadonlySet<ClientCall['verb']> = new Set(['get', 'list', 'watch'])
const nobody: ReadonlySet<string> = new Set()

/** What is known of a write at the server: it took effect, or may have. Absent: it had none. */
type Effect = 'certain' | 'possible'

async function noteEffect<T>(
  call: ClientCall,
  effects: WeakMap<ClientCall, Effect>,
  proceed: () => Promise<T>,
): Promise<T> {
  try {
    const answer = await proceed()
    effects.set(call, 'certain')
    return answer
  } catch (error) {
    if (error instanceof ConnectionError && !error.refused) effects.set(call, 'possible')
    throw error
  }
}

/** A watch that is dropped delivers fewer events than this. */
const droppedAfterMax = 10

/** The network between the components and their servers: good unless it is made bad. It notes what is asked of it. */
export class Network {
  readonly #environment: VirtualEnvironment
  readonly #canFail: boolean
  readonly #latestRevision: () => number
  readonly #ways = new Map<string, Way>()
  readonly #deleters = new Map<string, string>()
  /** The objects whose last deletion was asked to take no time. */
  readonly #forced = new Set<string>()
  readonly #deletions = new Map<string, number>()
  readonly #writers = new Map<number, ReadonlySet<string>>()
  readonly #uncertain = new Set<string>()
  #probability = 0
  /** When the creation of a pod may have taken effect without an answer, by its owner. */
  readonly #unansweredPods = new Map<string, number[]>()
  /** When the creation of an object was last lost without an answer, by its kind and name, until one is answered. */
  readonly #unansweredCreations = new Map<string, number>()

  /**
   * What can be made bad is only what `operations` make bad: a good network costs nothing then. `latestRevision` tells how far the
   * store has come.
   */
  constructor(environment: VirtualEnvironment, operations: readonly Operation[], latestRevision: () => number) {
    this.#environment = environment
    this.#latestRevision = latestRevision
    this.#canFail = operations.some(isFault)
  }

  /** The client of a component of a server, behind what may go wrong on its way. */
  between(server: number, component: string, client: Client): Client {
    // What has become of a call at the server, which whoever made it may not learn.
    const effects = new WeakMap<ClientCall, Effect>()
    const noted: Interceptor = { call: (call, proceed) => this.#note(component, call, effects, proceed) }
    const observed: Interceptor = { call: (call, proceed) => noteEffect(call, effects, proceed) }
    if (!this.#canFail) return withFaults(client, [noted, observed])
    const { clock, random } = this.#environment
    const chance = random.fork(`network of ${server} ${component}`)
    const strikes = () => this.#probability > 0 && chance.next() < this.#probability
    const way = this.#wayOf(server, component)
    return withFaults(client, [
      noted,
      oneWay(way),
      lostRequests(strikes),
      lostAnswers(strikes),
      slowWatches(clock, () => way.delayMs),
      droppedWatches(() => (strikes() ? 1 + Math.floor(chance.next() * droppedAfterMax) : Number.POSITIVE_INFINITY)),
      observed,
    ])
  }

  makeBad(probability: number, forMs: number): void {
    this.#probability = probability
    this.#after(forMs, () => {
      this.#probability = 0
    })
  }

  partition(server: number, component: string, direction: Direction, forMs: number): void {
    const { requests, answers } = this.#wayOf(server, component)
    const gates = direction === 'both' ? [requests, answers] : direction === 'requests' ? [requests] : [answers]
    for (const gate of gates) gate.close()
    this.#after(forMs, () => {
      for (const gate of gates) gate.open()
    })
  }

  delay(server: number, component: string, delayMs: number, forMs: number): void {
    const way = this.#wayOf(server, component)
    way.delayMs = delayMs
    this.#after(forMs, () => {
      way.delayMs = 0
    })
  }

  /** Everything gets through again. */
  heal(): void {
    this.#probability = 0
    for (const way of this.#ways.values()) {
      way.delayMs = 0
      way.requests.open()
      way.answers.open()
    }
  }

  /** How many creations of pods of an owner may have taken effect since then without whoever asked learning of it. */
  unansweredPodsSince(owner: string, atMs: number): number {
    return (this.#unansweredPods.get(owner) ?? []).filter((each) => each >= atMs).length
  }

  /** Whether since then the creation of an object, by a name that was asked for, may have taken effect without whoever asked learning of it. */
  isCreationUnanswered(kind: string, namespace: string, name: string, sinceMs: number): boolean {
    return (this.#unansweredCreations.get(`${kind}/${namespace}/${name}`) ?? Number.NEGATIVE_INFINITY) >= sinceMs
  }

  /** Which component last asked for the deletion of an object. */
  deleterOf(kind: string, namespace: string, name: string): string | undefined {
    return this.#deleters.get(`${kind}/${namespace}/${name}`)
  }

  /** Whether whoever last asked for the deletion of an object did not want to wait for anybody. */
  isForced(kind: string, namespace: string, name: string): boolean {
    return this.#forced.has(`${kind}/${namespace}/${name}`)
  }

  /** How often the deletion of an object was asked for. */
  deletionsOf(kind: string, namespace: string, name: string): number {
    return this.#deletions.get(`${kind}/${namespace}/${name}`) ?? 0
  }

  /**
   * The components that a write's answer was given to; none where no answer has it. There may be two: a change that changes nothing
   * is answered with the revision of the one before, which may have come while it was under way.
   */
  writersOf(revision: number): ReadonlySet<string> {
    return this.#writers.get(revision) ?? nobody
  }

  /** Whether a component has ever written without learning what came of it. */
  isUncertain(component: string): boolean {
    return this.#uncertain.has(component)
  }

  async #note<T>(
    component: string,
    call: ClientCall,
    effects: WeakMap<ClientCall, Effect>,
    proceed: () => Promise<T>,
  ): Promise<T> {
    const { verb, resource, namespace, name } = call
    if (verb === 'delete') {
      const key = `${resource.kind}/${namespace ?? ''}/${name}`
      this.#deletions.set(key, 1 + (this.#deletions.get(key) ?? 0))
      this.#deleters.set(key, component)
      if (call.gracePeriodSeconds === 0) this.#forced.add(key)
      else this.#forced.delete(key)
    }
    if (reads.has(verb) || resource.plural === 'events') return proceed()
    const before = this.#latestRevision()
    const created = verb === 'create' && call.subresource === '' ? `${resource.kind}/${namespace ?? ''}/${name}` : ''
    try {
      const answer = await proceed()
      this.#unansweredCreations.delete(created)
      this.#noteWriter(component, answer, before)
      return answer
    } catch (error) {
      if (error instanceof ConnectionError) {
        this.#uncertain.add(component)
        const nowMs = this.#environment.clock.now()
        const mayBeThere = created !== '' && effects.get(call) !== undefined
        if (mayBeThere) this.#unansweredCreations.set(created, nowMs)
        if (mayBeThere && resource.plural === 'pods') this.#noteUnansweredPod(call, nowMs)
      }
      throw error
    }
  }

  #noteUnansweredPod({ object }: ClientCall, nowMs: number): void {
    const owner = object === undefined ? undefined : controllerOf(object)
    if (owner === undefined) return
    const times = this.#unansweredPods.get(owner.uid) ?? []
    times.push(nowMs)
    this.#unansweredPods.set(owner.uid, times)
  }

  /** What was there before the request was written by somebody else: so is answered who changes nothing, or ends an object. */
  #noteWriter(component: string, answer: unknown, before: number): void {
    const revision = Number((answer as Partial<KubernetesObject> | undefined)?.metadata?.resourceVersion ?? Number.NaN)
    if (Number.isNaN(revision) || revision <= before) return
    this.#writers.set(revision, new Set([...this.writersOf(revision), component]))
  }

  #wayOf(server: number, component: string): Way {
    const key = `${server} ${component}`
    const known = this.#ways.get(key)
    if (known !== undefined) return known
    const way: Way = { requests: new Gate(), answers: new Gate(), delayMs: 0 }
    this.#ways.set(key, way)
    return way
  }

  #after(forMs: number, action: () => void): void {
    this.#environment.clock.setTimer(forMs, action)
  }
}
