import { type KubernetesObject, type Pod, pods, type Resource } from '@coracle/api'
import { type Client, createInformer, type Informer, keyOf } from '@coracle/client'
import type { Environment } from '@coracle/environment'
import type { Invariant, View } from './invariants.ts'
import { desiredReplicas, type Workload, workloadKinds, workloadResources } from './workloads.ts'

/** A rule that was broken. */
export interface Violation {
  readonly invariant: string
  /** What was seen, for people. */
  readonly message: string
  /** Milliseconds since the start. */
  readonly atMs: number
}

/** Violations that are kept: a broken cluster breaks its rules with every event. */
const violationsMax = 20

/** For how long a controller may act on what was true before: it may be cut off from the news for a while. */
const staleMaxMs = 10 * 60_000

interface Event {
  readonly object: KubernetesObject
  readonly isGone: boolean
  readonly atMs: number
}

interface Size {
  readonly size: number
  /** Until when it was the latest; undefined while it is. */
  readonly untilMs: number | undefined
}

/**
 * Follows everything that happens through the API, and holds every change against the invariants. Kinds are watched apart, so what
 * is heard is put into the order in which it was written before it is judged.
 */
export class Observer implements View {
  readonly violations: Violation[] = []
  readonly #environment: Environment
  readonly #startMs: number
  readonly #invariants: readonly Invariant[]
  readonly #informers: readonly Informer<KubernetesObject>[]
  #heard: Event[] = []
  readonly #pods = new Map<string, Pod>()
  readonly #workloads = new Map<string, Workload>()
  readonly #sizes = new Map<string, readonly Size[]>()
  #nowMs = 0
  #answersArrive = true

  constructor(client: Client, environment: Environment, invariants: readonly Invariant[]) {
    this.#environment = environment
    this.#startMs = environment.clock.now()
    this.#invariants = invariants
    const resources: readonly Resource[] = [pods, ...workloadKinds.map((kind) => workloadResources[kind])]
    this.#informers = resources.map((resource) => createInformer(client, resource, {}, environment))
  }

  start(): void {
    for (const informer of this.#informers) {
      informer.addHandler({
        add: (object) => this.#hear(object, false),
        update: (_old, object) => this.#hear(object, false),
        delete: (object) => this.#hear(object, true),
      })
      informer.start()
    }
  }

  async stop(): Promise<void> {
    await Promise.all(this.#informers.map((informer) => informer.stop()))
  }

  /** From now on answers may be lost, or news: of what changes only that is judged which holds even so. */
  expectLosses(): void {
    this.judge()
    this.#answersArrive = false
  }

  /** Judges what was heard since the last time. For moments when nothing more is under way. */
  judge(): void {
    const events = this.#heard.sort((a, b) => versionOf(a.object) - versionOf(b.object))
    this.#heard = []
    for (const event of events) this.#apply(event)
    this.#nowMs = this.#environment.clock.now()
  }

  /** Tells of a broken rule. */
  report(invariant: string, message: string): void {
    if (this.violations.length >= violationsMax) return
    this.violations.push({ invariant, message, atMs: this.#nowMs - this.#startMs })
  }

  listPods(): readonly Pod[] {
    return [...this.#pods.values()]
  }

  listWorkloads(): readonly Workload[] {
    return [...this.#workloads.values()]
  }

  sizesOf(uid: string): readonly number[] {
    const sizes = this.#sizes.get(uid) ?? []
    return sizes
      .filter(({ untilMs }) => untilMs === undefined || this.#nowMs - untilMs <= staleMaxMs)
      .map(({ size }) => size)
  }

  #hear(object: KubernetesObject, isGone: boolean): void {
    this.#heard.push({ object, isGone, atMs: this.#environment.clock.now() })
  }

  #apply({ object, isGone, atMs }: Event): void {
    this.#nowMs = atMs
    const key = `${object.kind}/${keyOf(object)}`
    if (object.kind !== 'Pod') {
      if (isGone) this.#workloads.delete(key)
      else this.#workloads.set(key, object as Workload)
      this.#noteSize(object, atMs)
      return
    }
    const pod = object as Pod
    const old = this.#pods.get(key)
    if (isGone) {
      this.#pods.delete(key)
      return
    }
    this.#pods.set(key, pod)
    const isNew = old?.metadata.uid !== pod.metadata.uid
    for (const { name, check, needsAnswers } of this.#invariants) {
      if (needsAnswers && !this.#answersArrive) continue
      const message = check?.({ pod, old: isNew ? undefined : old, view: this })
      if (message !== undefined) this.report(name, message)
    }
  }

  #noteSize(object: KubernetesObject, atMs: number): void {
    const { uid = '' } = object.metadata
    const size = desiredReplicas(object)
    const sizes = this.#sizes.get(uid) ?? []
    const last = sizes.at(-1)
    if (size === undefined || last?.size === size) return
    const past = last === undefined ? sizes : [...sizes.slice(0, -1), { ...last, untilMs: atMs }]
    this.#sizes.set(uid, [...past, { size, untilMs: undefined }])
  }
}

const versionOf = ({ metadata }: KubernetesObject): number => Number(metadata.resourceVersion ?? 0)
