import {
  type AllocationResult,
  consumerOf,
  formatTime,
  hasReason,
  isReservedFor,
  type Pod,
  type ResourceClaim,
  resourceClaimFinalizer,
  resourceClaims,
} from '@coracle/api'
import { type Client, objectKeyOf } from '@coracle/client'
import type { Environment } from '@coracle/environment'
import type { NodeInfo } from '../node-info.ts'
import type { PodReporter } from '../pod-reporter.ts'
import { schedulingCause } from '../scheduling-cause.ts'
import type { DeviceCache } from './device-cache.ts'
import { podDevices } from './pod-devices.ts'
import { deviceBindingMaxMs, hasBindingConditions, isPastHope, readinessOf } from './readiness.ts'

/** How often a write is tried that others come before. */
const attemptsMax = 5

/** What was set aside for a pod. */
interface Reservation {
  readonly nodeName: string
  /** Claims that are to be written, with what they get. */
  readonly claims: readonly { readonly claim: ResourceClaim; readonly allocation: AllocationResult | undefined }[]
  /** Claims that the API knows the pod may use. */
  readonly held: ResourceClaim[]
  /** All claims are written, and their devices ready. */
  isDone: boolean
  /** Ends the wait for the devices, where that is under way. */
  giveUp: ((why: Error) => void) | undefined
}

/** Gets pods the devices that were found for them: sets them aside, says so to the API, and waits until they are ready. */
export class DeviceBinder {
  readonly #client: Client
  readonly #environment: Environment
  readonly #devices: DeviceCache
  readonly #reporter: Pick<PodReporter, 'waitsForDevices'>
  /** By uid of the pod. */
  readonly #reservations = new Map<string, Reservation>()
  /** What looks whether a wait is over. */
  readonly #waits = new Set<() => void>()
  #isStopped = false

  constructor(
    client: Client,
    environment: Environment,
    devices: DeviceCache,
    reporter: Pick<PodReporter, 'waitsForDevices'>,
  ) {
    this.#client = client
    this.#environment = environment
    this.#devices = devices
    this.#reporter = reporter
  }

  /** Sets aside what the pod gets on the node. A sentence says why that is not to be had any more. */
  reserve(pod: Pod, node: NodeInfo): string | undefined {
    const found = podDevices(pod, this.#devices)
    if (found === undefined || typeof found === 'string') return found
    const allocation = this.#devices.allocate(found.wanting, node.node)
    if ('reason' in allocation) return allocation.reason
    const granted = found.wanting.map((claim, index) => ({
      claim,
      allocation: this.#withShares(allocation.results[index]),
    }))
    for (const each of granted) if (each.allocation !== undefined) this.#devices.assume(each.claim, each.allocation)
    const unreserved = found.allocated.filter((claim) => !isReservedFor(claim, pod))
    const claims = [...granted, ...unreserved.map((claim) => ({ claim, allocation: undefined }))]
    const held = found.allocated.filter((claim) => isReservedFor(claim, pod))
    const reservation = { nodeName: node.name, claims, held, isDone: false, giveUp: undefined }
    this.#reservations.set(pod.metadata.uid ?? '', reservation)
    return undefined
  }

  /** Takes back what was set aside, and leaves claims to others that the pod might have used. */
  unreserve(pod: Pod): void {
    const { uid = '' } = pod.metadata
    const reservation = this.#reservations.get(uid)
    if (reservation === undefined) return
    this.#reservations.delete(uid)
    for (const { claim } of reservation.claims) this.#devices.restore(claim)
    // Whoever schedules next finds the pod's claims as they are.
    if (this.#isStopped) return
    for (const claim of reservation.held) void this.#leave(claim, pod, reservation.nodeName)
  }

  /** Whether waiting for the devices of a claim is in vain. */
  isPastHope(claim: ResourceClaim): boolean {
    return isPastHope(claim, this.#environment.clock.now())
  }

  /** Has the claims written; undefined where there is nothing to do. Rejects where that fails, or devices do not get ready. */
  bind(pod: Pod): Promise<void> | undefined {
    const reservation = this.#reservations.get(pod.metadata.uid ?? '')
    if (reservation === undefined) return undefined
    const { claims, held, nodeName } = reservation
    if (claims.length > 0 || held.some((claim) => readinessOf(claim) !== 'ready')) return this.#bind(pod, reservation)
    this.#tellOfConditions(pod, held, nodeName)
    reservation.isDone = true
    return undefined
  }

  /** Takes the devices back of a claim that nobody uses but the pod, which cannot use them. */
  async release(claim: ResourceClaim, pod: Pod): Promise<void> {
    const because = `pod ${pod.metadata.namespace}/${pod.metadata.name} finds no node where the devices of the claim can be used`
    const cause = schedulingCause(pod.spec.schedulerName ?? 'default-scheduler', pod, because)
    try {
      await this.#client.update(resourceClaims, { ...claim, status: {} }, { subresource: 'status', ...cause })
    } catch (error) {
      // Then the claim has changed, and the pod is tried again for that.
      if (!hasReason(error, 'Conflict') && !hasReason(error, 'NotFound')) throw error
    }
  }

  /** The API shows where the pod is: nothing is taken back any more. */
  podPlaced(uid: string): void {
    if (this.#reservations.get(uid)?.isDone === true) this.#reservations.delete(uid)
  }

  /** Nothing is waited for any more on behalf of the pod. */
  podGone(uid: string): void {
    this.#reservations.get(uid)?.giveUp?.(new Error('pod does not exist any more'))
    this.podPlaced(uid)
  }

  /** A claim has changed. */
  changed(): void {
    for (const look of this.#waits) look()
  }

  stop(): void {
    this.#isStopped = true
    for (const { giveUp } of this.#reservations.values()) giveUp?.(new Error('the scheduler is stopped'))
  }

  /** Shares of devices that several may have get a name each. */
  #withShares(allocation: AllocationResult | undefined): AllocationResult | undefined {
    const { results = [] } = allocation?.devices ?? {}
    if (!results.some(({ consumedCapacity }) => consumedCapacity !== undefined)) return allocation
    const named = results.map((each) =>
      each.consumedCapacity === undefined ? each : { ...each, shareID: this.#environment.random.uuid() },
    )
    return { ...allocation, devices: { ...allocation?.devices, results: named } }
  }

  async #bind(pod: Pod, reservation: Reservation): Promise<void> {
    const { held, nodeName } = reservation
    for (const { claim, allocation } of reservation.claims) {
      const written = await this.#write(claim, allocation, pod, nodeName)
      if (allocation !== undefined) this.#devices.written(written)
      held.push(written)
    }
    this.#tellOfConditions(pod, held, nodeName)
    if (held.some((claim) => readinessOf(claim) !== 'ready')) await this.#untilReady(held, reservation)
    reservation.isDone = true
  }

  /** As upstream, whether they are true by now or not. */
  #tellOfConditions(pod: Pod, claims: readonly ResourceClaim[], nodeName: string): void {
    if (claims.some(hasBindingConditions)) this.#reporter.waitsForDevices(pod, nodeName)
  }

  async #write(
    first: ResourceClaim,
    allocation: AllocationResult | undefined,
    pod: Pod,
    nodeName: string,
  ): Promise<ResourceClaim> {
    const because = `pod ${pod.metadata.namespace}/${pod.metadata.name} is to run on ${nodeName}`
    const cause = schedulingCause(pod.spec.schedulerName ?? 'default-scheduler', pod, because)
    const { namespace, name } = first.metadata
    let claim = first
    for (let attempt = 1; ; attempt++) {
      try {
        if (claim.metadata.deletionTimestamp !== undefined) {
          throw new Error(`claim ${namespace}/${name} got deleted in the meantime`)
        }
        if (allocation !== undefined) {
          if (claim.status?.allocation !== undefined) {
            throw new Error(`claim ${namespace}/${name} got allocated elsewhere in the meantime`)
          }
          claim = await this.#hold(claim, cause)
        }
        const status = this.#statusWith(claim, allocation, pod)
        return await this.#client.update(resourceClaims, { ...claim, status }, { subresource: 'status', ...cause })
      } catch (error) {
        if (!hasReason(error, 'Conflict') || attempt >= attemptsMax) throw error
        claim = await this.#client.get(resourceClaims, objectKeyOf(claim))
      }
    }
  }

  /** The claim stays, whoever deletes it, until its devices are taken back. */
  async #hold(claim: ResourceClaim, cause: ReturnType<typeof schedulingCause>): Promise<ResourceClaim> {
    const { finalizers = [] } = claim.metadata
    if (finalizers.includes(resourceClaimFinalizer)) return claim
    const metadata = { ...claim.metadata, finalizers: [...finalizers, resourceClaimFinalizer] }
    return this.#client.update(resourceClaims, { ...claim, metadata }, cause)
  }

  /** The pod does not use the claim after all. Its devices stay with it until they are taken back. */
  async #leave(claim: ResourceClaim, pod: Pod, nodeName: string): Promise<void> {
    const because = `pod ${pod.metadata.namespace}/${pod.metadata.name} does not come to ${nodeName} after all`
    const cause = schedulingCause(pod.spec.schedulerName ?? 'default-scheduler', pod, because)
    const body = {
      metadata: { uid: claim.metadata.uid },
      status: { reservedFor: [{ $patch: 'delete', uid: pod.metadata.uid }] },
    }
    try {
      const key = objectKeyOf(claim)
      await this.#client.patch(resourceClaims, key, { type: 'strategic', body }, { subresource: 'status', ...cause })
    } catch (error) {
      // Where the claim is gone there is nothing to leave.
      if (hasReason(error, 'NotFound') || hasReason(error, 'Conflict')) return
      this.#environment.logger.warn('a pod is still said to use a claim', { because, error })
    }
  }

  #statusWith(claim: ResourceClaim, allocation: AllocationResult | undefined, pod: Pod): ResourceClaim['status'] {
    const { reservedFor = [] } = claim.status ?? {}
    const users = isReservedFor(claim, pod) ? reservedFor : [...reservedFor, consumerOf(pod)]
    const allocationTimestamp = formatTime(this.#environment.clock.now())
    const given = allocation === undefined ? {} : { allocation: { ...allocation, allocationTimestamp } }
    return { ...claim.status, ...given, reservedFor: users }
  }

  async #untilReady(claims: readonly ResourceClaim[], reservation: Reservation): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const look = () => {
      const now = claims.map(({ metadata }) => this.#devices.claim(metadata.namespace, metadata.name ?? ''))
      const states = now.map((claim) => (claim === undefined ? 'pending' : readinessOf(claim)))
      const failure = states.find((state) => typeof state === 'object')
      if (typeof failure === 'object') reject(new Error(failure.failure))
      else if (states.every((state) => state === 'ready')) resolve()
    }
    const timer = this.#environment.clock.setTimer(deviceBindingMaxMs, () =>
      reject(new Error('device binding timeout')),
    )
    reservation.giveUp = reject
    this.#waits.add(look)
    look()
    try {
      await promise
    } finally {
      timer.cancel()
      reservation.giveUp = undefined
      this.#waits.delete(look)
    }
  }
}
