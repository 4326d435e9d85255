import {
  HostPorts,
  isExtendedResource,
  isTolerated,
  type Node,
  type Pod,
  quantitiesOf,
  requiredNodeMatcher,
} from '@coracle/api'
import { bucketRateLimiter, type RateLimiter } from '@coracle/client'
import { type Clock, sleep } from '@coracle/environment'
import type { NodeDevices } from '../devices/node-devices.ts'
import type { WaitingReason } from '../status/container-statuses.ts'
import { type Amounts, type PodDemand, podDemand, wholeAmounts } from './pod-demand.ts'
import { isCritical, type PreemptablePod, podsToPreempt } from './preemption.ts'
import { forbiddenSysctl } from './sysctls.ts'

/**
 * Pods that a node turns away: so many at once, then so many a second. Whoever makes them anew, as controllers do at once, goes no
 * faster (upstream's node agents are held by the rate of their requests).
 */
export const refusalBurst = 50
export const refusalsPerSecond = 10

/** What a node has too little of. */
interface Shortage {
  readonly name: string
  readonly requested: number
  readonly used: number
  readonly capacity: number
}

/** A pod that was taken on and waits for other resources. */
interface DeferredResize {
  readonly pod: Pod
  readonly retry: () => void
  readonly sinceMs: number
}

/** What an admission knows of its node. */
export interface AdmittingNode {
  readonly clock: Clock
  readonly allocatable: Readonly<Record<string, string>>
  /** In Go's words: `linux`. */
  readonly operatingSystem: string
  /** Whether processes have no groups but those that their pod names, where that is asked for. */
  readonly strictGroups: boolean
  /** Conditions that say that it runs out of something. */
  pressures?(): readonly string[]
  /** The pods that may have to go for more important ones. */
  others(): readonly PreemptablePod[]
  /** The Node object as it was last seen; undefined before it was. */
  known(): Node | undefined
  /** The Node object as it is now. */
  read(): Promise<Node>
  /** Asked for each pod. Absent, or undefined: nothing on the node offers devices. */
  devices?(): Pick<NodeDevices, 'allocate' | 'release'> | undefined
}

/**
 * The pods a node has taken on, and whether it takes on another. Pods come with a node already chosen, and who chose may
 * have been wrong, late, or somebody other than the scheduler: the node has the last word (upstream's AdmissionCheck).
 */
export class NodeAdmission {
  readonly #node: AdmittingNode
  readonly #allocatable: Amounts
  readonly #taken = new Map<string, PodDemand>()
  /** Who wants more than there is at the moment, to be told when there is. */
  readonly #deferred = new Map<string, DeferredResize>()
  /** Pods that have to go for others, each perhaps for several: who is told when they have. */
  readonly #leaving = new Map<string, (() => void)[]>()
  readonly #pace: RateLimiter

  constructor(node: AdmittingNode) {
    this.#node = node
    this.#pace = bucketRateLimiter(node.clock, { perSecond: refusalsPerSecond, burst: refusalBurst })
    this.#allocatable = wholeAmounts(quantitiesOf(node.allocatable))
  }

  /** Takes the pod on, or says why not, as its status and event are to show it. `signal`: the pod need not wait for that any more. */
  async admit(uid: string, pod: Pod, signal?: AbortSignal): Promise<WaitingReason | undefined> {
    const refusal = await this.#takeOn(uid, pod, signal)
    const devices = this.#node.devices?.()
    if (refusal !== undefined || devices === undefined) return refusal
    try {
      await devices.allocate(pod)
      return undefined
    } catch (error) {
      this.release(uid)
      await this.#waitItsTurn(signal)
      const message = `Allocate failed due to ${(error as Error).message}, which is unexpected`
      return { reason: unexpectedError, message }
    }
  }

  async #takeOn(uid: string, pod: Pod, signal: AbortSignal | undefined): Promise<WaitingReason | undefined> {
    const demand = podDemand(pod.spec)
    const misplaced = await this.#misplaced(pod)
    const isTainted = misplaced?.reason === taintToleration
    // From here to the end nobody else is taken on.
    const first =
      this.#underPressure(pod) ?? forbiddenSysctl(pod) ?? this.#wrongSystem(pod) ?? this.#unsupportedGroups(pod)
    const shortages = this.#shortages(demand)
    const last = (isTainted ? undefined : misplaced) ?? this.#takenPort(demand) ?? misplaced
    if (first === undefined && last === undefined && shortages.length > 0 && isCritical(pod)) {
      return this.#makeRoom(uid, pod, shortages, signal)
    }
    const shortage = isCritical(pod) ? undefined : shortages[0]
    const refusal = first ?? (shortage === undefined ? last : outOf(shortage))
    if (refusal === undefined) this.#taken.set(uid, demand)
    else await this.#waitItsTurn(signal)
    return refusal
  }

  /** Takes a critical pod on in place of others, once these have gone. */
  async #makeRoom(
    uid: string,
    pod: Pod,
    shortages: readonly Shortage[],
    signal: AbortSignal | undefined,
  ): Promise<WaitingReason | undefined> {
    const lacking = shortages.map(({ name, requested, used, capacity }) => ({
      name,
      amount: requested - (capacity - used),
    }))
    const others = this.#node.others().filter((other) => this.#taken.has(other.uid))
    const preemption = podsToPreempt(pod, others, lacking)
    if ('missing' in preemption) {
      const missing = preemption.missing.map(({ name, amount }) => `(res: ${name}, q: ${amount}), `).join('')
      const message =
        'Unexpected error while attempting to recover from admission failure: preemption: error finding a set of pods to preempt: ' +
        `no set of running pods found to reclaim resources: [${missing}]`
      return { reason: unexpectedError, message }
    }
    this.#taken.set(uid, podDemand(pod.spec))
    // Nobody has to go for one that ends before it has begun.
    if (signal?.aborted === true) return undefined
    const leaving = preemption.victims.map((victim) => {
      const gone = new Promise<void>((resolve) =>
        this.#leaving.set(victim.uid, [...(this.#leaving.get(victim.uid) ?? []), resolve]),
      )
      victim.preempt(shortages[0]?.name ?? '')
      return gone
    })
    const given = new Promise<void>((resolve) => signal?.addEventListener('abort', () => resolve(), { once: true }))
    await Promise.race([Promise.all(leaving), given])
    return undefined
  }

  async #waitItsTurn(signal: AbortSignal | undefined): Promise<void> {
    const delayMs = this.#pace.delayMs('')
    if (delayMs === 0) return
    try {
      await sleep(this.#node.clock, delayMs, signal)
    } catch {
      // It goes anyway.
    }
  }

  /** Counts a pod that was taken on in an earlier life of the node agent, whether or not it would be now. */
  count(uid: string, pod: Pod): void {
    this.#taken.set(uid, podDemand(pod.spec))
  }

  /**
   * Gives a pod that was taken on other resources, or says why not yet: others have them. What a node could never give is refused when it
   * is asked for (PodResizeValidator). `retry` is called when there may be enough.
   */
  resize(uid: string, pod: Pod, retry: () => void): WaitingReason | undefined {
    const demand = podDemand(pod.spec)
    const sinceMs = this.#deferred.get(uid)?.sinceMs ?? this.#node.clock.monotonicMs()
    this.#deferred.delete(uid)
    const before = this.#taken.get(uid)
    this.#taken.delete(uid)
    const [shortage] = this.#shortages(demand)
    this.#taken.set(uid, shortage === undefined ? demand : (before ?? demand))
    if (shortage === undefined) {
      this.#tellDeferred()
      return undefined
    }
    this.#deferred.set(uid, { pod, retry, sinceMs })
    return outOf(shortage)
  }

  /** The pod keeps what it has after all. */
  withdraw(uid: string): void {
    this.#deferred.delete(uid)
  }

  /** The pod takes up nothing any more. */
  release(uid: string): void {
    this.#deferred.delete(uid)
    for (const tell of this.#leaving.get(uid) ?? []) tell()
    this.#leaving.delete(uid)
    this.#node.devices?.()?.release(uid)
    if (this.#taken.delete(uid)) this.#tellDeferred()
  }

  #tellDeferred(): void {
    if (this.#deferred.size === 0) return
    // Who has been told keeps its place until it asks again.
    const waiting = [...this.#deferred.entries()].map(([uid, each]) => ({
      ...each,
      asksMore: this.#asksMore(uid, each),
    }))
    for (const { retry } of waiting.sort(byTurn)) retry()
  }

  #asksMore(uid: string, { pod }: DeferredResize): boolean {
    const [asked, has] = [podDemand(pod.spec).amounts, this.#taken.get(uid)?.amounts]
    return ['memory', 'cpu'].some((name) => (asked.get(name) ?? 0) > (has?.get(name) ?? 0))
  }

  /** A node that runs out of disk takes none on, and one that runs out of memory none of best effort, but for those that the system depends on. */
  #underPressure(pod: Pod): WaitingReason | undefined {
    const pressures = this.#node.pressures?.() ?? []
    if (pressures.length === 0 || isCritical(pod)) return undefined
    if (pressures.join() === 'MemoryPressure') {
      const taint = { key: 'node.kubernetes.io/memory-pressure', effect: 'NoSchedule' } as const
      if (pod.status?.qosClass !== 'BestEffort' || isTolerated(taint, pod.spec.tolerations)) return undefined
    }
    return { reason: 'Evicted', message: `The node had condition: [${pressures.join(' ')}]. ` }
  }

  #wrongSystem({ metadata, spec }: Pod): WaitingReason | undefined {
    const { operatingSystem } = this.#node
    const label = metadata.labels?.['kubernetes.io/os']
    if (label !== undefined && label !== operatingSystem) {
      const message = "Failed to admit pod as the `kubernetes.io/os` label doesn't match node label"
      return { reason: 'PodOSSelectorNodeLabelDoesNotMatch', message }
    }
    if (spec.os === undefined || spec.os.name === operatingSystem) return undefined
    return { reason: 'PodOSNotSupported', message: "Failed to admit pod as the OS field doesn't match node OS" }
  }

  #unsupportedGroups({ spec }: Pod): WaitingReason | undefined {
    if (spec.securityContext?.supplementalGroupsPolicy !== 'Strict' || this.#node.strictGroups) return undefined
    const message = 'SupplementalGroupsPolicy=Strict is not supported in this node'
    return { reason: 'SupplementalGroupsPolicyNotSupported', message }
  }

  /** All that the node has too little of, as far as it is free. */
  #shortages({ amounts }: PodDemand): readonly Shortage[] {
    const shortages: Shortage[] = []
    const podsMax = this.#allocatable.get('pods') ?? 0
    if (this.#taken.size + 1 > podsMax)
      shortages.push({ name: 'pods', requested: 1, used: this.#taken.size, capacity: podsMax })
    for (const name of new Set(['cpu', 'memory', 'ephemeral-storage', ...amounts.keys()])) {
      const requested = amounts.get(name) ?? 0
      // Extended resources that the node has never heard of are counted by somebody else.
      const capacity = this.#allocatable.get(name) ?? (isExtendedResource(name) ? undefined : 0)
      if (requested === 0 || capacity === undefined) continue
      let used = 0
      for (const other of this.#taken.values()) used += other.amounts.get(name) ?? 0
      if (requested > capacity - used) shortages.push({ name, requested, used, capacity })
    }
    return shortages
  }

  /** What is known of the node may be seconds old: it is read again before a pod is turned away for it. */
  async #misplaced(pod: Pod): Promise<WaitingReason | undefined> {
    const known = this.#node.known()
    if (known === undefined || misplacement(pod, known) === undefined) return undefined
    return misplacement(pod, await this.#node.read())
  }

  #takenPort({ hostPorts }: PodDemand): WaitingReason | undefined {
    if (hostPorts.length === 0) return undefined
    const occupied = new HostPorts()
    for (const other of this.#taken.values()) occupied.add(other.hostPorts)
    if (!occupied.collidesWith(hostPorts)) return undefined
    return failed('NodePorts', "node(s) didn't have free ports for the requested pod ports")
  }
}

/** Who asks for no more, then the most important, then those that are guaranteed what they ask for, then those that have waited longest. */
function byTurn(
  a: DeferredResize & { readonly asksMore: boolean },
  b: DeferredResize & { readonly asksMore: boolean },
): number {
  const priority = ({ pod }: DeferredResize) => pod.spec.priority ?? 0
  const guaranteed = ({ pod }: DeferredResize) => Number(pod.status?.qosClass === 'Guaranteed')
  return (
    Number(a.asksMore) - Number(b.asksMore) ||
    priority(b) - priority(a) ||
    guaranteed(b) - guaranteed(a) ||
    a.sinceMs - b.sinceMs
  )
}

const taintToleration = 'TaintToleration'
const unexpectedError = 'UnexpectedAdmissionError'

function misplacement(pod: Pod, node: Node): WaitingReason | undefined {
  const matches = requiredNodeMatcher(pod.spec)
  if (matches?.(node) === false) return failed('NodeAffinity', "node(s) didn't match Pod's node affinity/selector")
  if (isDrivenOff(pod, node)) return failed(taintToleration, "node(s) had taints that the pod didn't tolerate")
  return undefined
}

/** Whether the pod would be put off the node as soon as it is there: other taints are the scheduler's business. */
function isDrivenOff({ spec }: Pod, node: Node): boolean {
  const taints = node.spec?.taints ?? []
  return taints.some((taint) => taint.effect === 'NoExecute' && !isTolerated(taint, spec.tolerations))
}

function failed(predicate: string, why: string): WaitingReason {
  return { reason: predicate, message: `Predicate ${predicate} failed: ${why}` }
}

function outOf({ name, requested, used, capacity }: Shortage): WaitingReason {
  const amounts = `requested: ${requested}, used: ${used}, capacity: ${capacity}`
  return { reason: `OutOf${name}`, message: `Node didn't have enough resource: ${name}, ${amounts}` }
}
