import { deepEqual, formatMicroTime, hasReason, type Lease, leases } from '@coracle/api'
import { assert, type Environment, quietLeadMs, sleep, type Time } from '@coracle/environment'
import type { Client } from './client.ts'

export interface LeaderElectionOptions {
  /** The Lease that candidates compete for. */
  readonly namespace: string
  readonly name: string
  /** Tells this candidate from the others: no two may have the same. */
  readonly identity: string
  /** How long others wait after the last sign of a leader before they take over. 15 s, as upstream. */
  readonly leaseDurationMs?: number
  /** How long a leader tries to renew before it steps down; less than the lease's duration. 10 s, as upstream. */
  readonly renewDeadlineMs?: number
  /** Wait between tries. 2 s, as upstream. */
  readonly retryPeriodMs?: number
  /** Called with the identity of every leader seen, this candidate included. */
  readonly onNewLeader?: (identity: string) => void
}

/** A candidate for leadership. */
export interface LeaderElector {
  /** Whether this candidate leads now, as far as it knows. */
  readonly isLeader: boolean
  /** Who led when last seen; '' when nobody was. */
  readonly leader: string
  /**
   * Waits until this candidate leads, then runs `lead` with a signal that is aborted as soon as leadership is lost or
   * `signal` is aborted. Resolves when `lead` has ended; the lease is given back then, where it is still held. To be
   * a candidate again, call it again. Rejects with what `lead` rejects with.
   */
  run(lead: (signal: AbortSignal) => Promise<void>, signal: AbortSignal): Promise<void>
}

/** How much longer, by chance, a candidate waits than the retry period, in parts of it (client-go's JitterFactor). */
const retryJitter = 1.2

/**
 * A candidate by client-go's algorithm. It trusts its own clock only: another leader's lease counts from when a change
 * of it was last seen, so clocks may be set differently as long as they run about equally fast. It does not fence: for a
 * moment after a long pause two may believe they lead.
 */
export function createLeaderElector(
  client: Client,
  environment: Environment,
  options: LeaderElectionOptions,
): LeaderElector {
  const { leaseDurationMs = 15_000, renewDeadlineMs = 10_000, retryPeriodMs = 2_000 } = options
  assert(options.identity !== '', 'a candidate needs an identity')
  assert(leaseDurationMs > renewDeadlineMs, 'the lease must last longer than the renewal deadline')
  assert(renewDeadlineMs > retryJitter * retryPeriodMs, 'the renewal deadline must exceed 1.2 retry periods')
  return new LeaseElector(client, environment, { ...options, leaseDurationMs, renewDeadlineMs, retryPeriodMs })
}

class LeaseElector implements LeaderElector {
  readonly #client: Client
  readonly #environment: Environment
  readonly #options: Required<Omit<LeaderElectionOptions, 'onNewLeader'>> & LeaderElectionOptions
  /** The lease as last seen, and when by our clock. */
  #lease: Lease | undefined
  #seenMs: Time = 0
  #reported = ''
  #isLeading = false

  constructor(
    client: Client,
    environment: Environment,
    options: Required<Omit<LeaderElectionOptions, 'onNewLeader'>> & LeaderElectionOptions,
  ) {
    this.#client = client
    this.#environment = environment
    this.#options = options
  }

  get leader(): string {
    return this.#lease?.spec?.holderIdentity ?? ''
  }

  get isLeader(): boolean {
    return this.#isLeading && this.#holds()
  }

  async run(lead: (signal: AbortSignal) => Promise<void>, signal: AbortSignal): Promise<void> {
    if (!(await this.#acquire(signal))) return
    // Nobody waits for a lease to run out that was got as its candidate went.
    if (signal.aborted) return this.#release()
    this.#isLeading = true
    const losing = new AbortController()
    const leading = AbortSignal.any([signal, losing.signal])
    const work = lead(leading).finally(() => losing.abort(new Error('done leading')))
    const renewal = this.#renew(leading).then(() => {
      this.#isLeading = false
      losing.abort(new Error('leadership is lost'))
    })
    try {
      await work
    } finally {
      await renewal
      await this.#release()
    }
  }

  /** Resolves to whether it has the lease, which may be when nobody wants it any more. */
  async #acquire(signal: AbortSignal): Promise<boolean> {
    const { clock, random } = this.#environment
    const { retryPeriodMs } = this.#options
    while (!signal.aborted) {
      if (await this.#tryAcquireOrRenew(signal)) return true
      const waitMs = retryPeriodMs * (1 + retryJitter * random.next())
      const startMs = clock.monotonicMs()
      await this.#pause(waitMs, signal)
      // A leader may have renewed while this candidate was held up, as all are that share a suspended host.
      this.#seenMs += Math.max(0, clock.monotonicMs() - startMs - waitMs)
    }
    return false
  }

  /** Renews until it fails for as long as the deadline, or until the signal. */
  async #renew(signal: AbortSignal): Promise<void> {
    const { clock, logger } = this.#environment
    const { retryPeriodMs, renewDeadlineMs } = this.#options
    let renewedMs = clock.monotonicMs()
    let hasRenewed = true
    while (!signal.aborted) {
      await this.#pause(retryPeriodMs, signal)
      if (signal.aborted) return
      const restMs = renewDeadlineMs - (clock.monotonicMs() - renewedMs)
      // Held up beyond its deadline, a leader asks before it gives up, as upstream's: nobody may have wanted the lease.
      const leftMs = hasRenewed ? Math.max(restMs, retryPeriodMs) : restMs
      if (leftMs <= 0) {
        logger.warn('leadership lost: the lease could not be renewed in time', this.#fields())
        return
      }
      hasRenewed = await this.#tryWithin(leftMs, signal)
      if (hasRenewed) renewedMs = clock.monotonicMs()
      else if (this.leader !== this.#options.identity) {
        logger.warn('leadership lost to another', { ...this.#fields(), leader: this.leader })
        return
      }
    }
  }

  /** Waits before the next try, which is housekeeping where a virtual clock runs every round until a lease has run out. */
  #pause(ms: number, signal: AbortSignal): Promise<void> {
    const { leaseDurationMs, retryPeriodMs } = this.#options
    const housekeeping = leaseDurationMs + (1 + retryJitter) * retryPeriodMs < quietLeadMs
    return sleep(this.#environment.clock, ms, signal, { housekeeping }).catch(() => {})
  }

  async #tryWithin(timeoutMs: number, signal: AbortSignal): Promise<boolean> {
    const late = new AbortController()
    const timer = this.#environment.clock.setTimer(timeoutMs, () =>
      late.abort(new Error('the lease could not be renewed in time')),
    )
    try {
      const attempt = this.#tryAcquireOrRenew(AbortSignal.any([signal, late.signal]))
      return await Promise.race([attempt, rejected(late.signal).catch(() => false)])
    } finally {
      timer.cancel()
    }
  }

  /** One try to get or keep the lease. False where another holds it or the server does not take the write. */
  async #tryAcquireOrRenew(signal: AbortSignal): Promise<boolean> {
    try {
      // The leader assumes that nobody has touched its lease; a conflict tells otherwise.
      if (this.#holds() && (await this.#updateOptimistically(signal))) return true
      const lease = await this.#read(signal)
      if (lease === undefined) {
        this.#see(await this.#client.create(leases, this.#claim(undefined), { signal }))
        return true
      }
      // A sign of life is what the lease says, as for client-go: whoever marks it for something else is not its leader.
      if (deepEqual(lease.spec, this.#lease?.spec)) this.#lease = lease
      else this.#see(lease)
      const { holderIdentity = '' } = lease.spec ?? {}
      if (holderIdentity !== '' && holderIdentity !== this.#options.identity && this.#isValid()) return false
      this.#see(await this.#client.update(leases, this.#claim(lease), { signal }))
      return true
    } catch (error) {
      if (!signal.aborted)
        this.#environment.logger.info('lease not acquired, trying again', { ...this.#fields(), error })
      return false
    }
  }

  async #updateOptimistically(signal: AbortSignal): Promise<boolean> {
    try {
      this.#see(await this.#client.update(leases, this.#claim(this.#lease), { signal }))
      return true
    } catch (error) {
      if (signal.aborted) throw error
      return false
    }
  }

  async #read(signal: AbortSignal): Promise<Lease | undefined> {
    const { namespace, name } = this.#options
    try {
      return await this.#client.get(leases, { namespace, name }, { signal })
    } catch (error) {
      if (hasReason(error, 'NotFound')) return undefined
      throw error
    }
  }

  /** The lease with this candidate as its holder, from now on. */
  #claim(old: Lease | undefined): Lease {
    const { namespace, name, identity, leaseDurationMs } = this.#options
    const now = formatMicroTime(this.#environment.clock.now())
    const isRenewal = old?.spec?.holderIdentity === identity
    const transitions = old?.spec?.leaseTransitions ?? 0
    return {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: old?.metadata ?? { namespace, name },
      spec: {
        ...old?.spec,
        holderIdentity: identity,
        leaseDurationSeconds: Math.ceil(leaseDurationMs / 1000),
        acquireTime: (isRenewal ? old.spec?.acquireTime : undefined) ?? now,
        renewTime: now,
        leaseTransitions: old === undefined || isRenewal ? transitions : transitions + 1,
      },
    }
  }

  /** Lets the others have it at once. Failing to is no harm: the lease runs out. */
  async #release(): Promise<void> {
    if (!this.#holds()) return
    const late = new AbortController()
    const timer = this.#environment.clock.setTimer(this.#options.renewDeadlineMs, () =>
      late.abort(new Error('no answer in time')),
    )
    try {
      await Promise.race([this.#giveBack(late.signal), rejected(late.signal)])
    } catch (error) {
      this.#environment.logger.info('lease not given back', { ...this.#fields(), error })
    } finally {
      timer.cancel()
    }
  }

  /** A renewal that was broken off may have been carried out: the lease is another version than was seen last. */
  async #giveBack(signal: AbortSignal): Promise<void> {
    const lease = await this.#read(signal)
    if (lease?.spec?.holderIdentity !== this.#options.identity) return
    const now = formatMicroTime(this.#environment.clock.now())
    const { leaseTransitions = 0 } = lease.spec
    const spec = { holderIdentity: '', leaseDurationSeconds: 1, acquireTime: now, renewTime: now, leaseTransitions }
    this.#see(await this.#client.update(leases, { ...lease, spec }, { signal }))
  }

  #see(lease: Lease): void {
    this.#lease = lease
    this.#seenMs = this.#environment.clock.monotonicMs()
    if (this.leader === this.#reported) return
    this.#reported = this.leader
    if (this.leader !== '') this.#options.onNewLeader?.(this.leader)
  }

  /** Whether the lease names this candidate and has not run out. */
  #holds(): boolean {
    return this.leader === this.#options.identity && this.#isValid()
  }

  #isValid(): boolean {
    const durationMs = (this.#lease?.spec?.leaseDurationSeconds ?? 0) * 1000
    return this.#lease !== undefined && this.#seenMs + durationMs > this.#environment.clock.monotonicMs()
  }

  #fields() {
    const { namespace, name, identity } = this.#options
    return { lease: `${namespace}/${name}`, identity }
  }
}

/** Rejects when the signal is aborted: a request that ignores its signal must not hold the election up. */
function rejected(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }))
}
