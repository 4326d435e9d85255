import { type ApiService, type ApiServiceCondition, apiServices, formatTime, hasReason } from '@coracle/api'
import { type Clock, type Environment, realClock, type Timer } from '@coracle/environment'
import { apiServerContext } from '../api-server-user.ts'
import type { Registries } from '../registries.ts'
import type { ServiceEndpoint } from './service-endpoint.ts'

/** How often servers behind this one are looked at while nothing changes. */
export const availabilityPeriodMs = 30_000

/** How soon one that does not answer is looked at again; each time it does not, twice as long, up to the period. */
export const firstRetryMs = 1_000

/** How long one may take to say what it serves. */
export const discoveryTimeoutMs = 5_000

/** Changes are looked into together: this long after the first. */
const settleMs = 50

type Judged = Pick<ApiServiceCondition, 'status' | 'reason' | 'message'>
const failedCheck = 'FailedDiscoveryCheck'

interface Remotes {
  remotes(): readonly ApiService[]
  endpoint(apiService: ApiService): ServiceEndpoint
  /** Undefined where it answers; otherwise what is wrong. */
  discover(apiService: ApiService, signal: AbortSignal): Promise<string | undefined>
  /** Hears that it could not be asked what it serves. */
  lost(apiService: ApiService): void
}

/** Keeps the condition Available of APIServices whose server is another one. Nothing runs where there is none. */
export class AvailabilityChecks {
  readonly #registries: Registries
  readonly #environment: Environment
  readonly #hostClock: Clock
  readonly #remotes: Remotes
  #timer: Timer | undefined
  #soon = false
  #checking = false
  /** Looks in a row at which one of them did not answer. */
  #failedLooks = 0
  #closed = false

  constructor(
    { registries, environment }: { readonly registries: Registries; readonly environment: Environment },
    remotes: Remotes,
    hostClock: Clock = realClock,
  ) {
    this.#registries = registries
    this.#environment = environment
    this.#remotes = remotes
    this.#hostClock = hostClock
  }

  /** Looks again soon: an APIService, or what it depends on, has changed. */
  somethingChanged(): void {
    if (this.#closed || this.#soon || this.#remotes.remotes().length === 0) return
    this.#soon = true
    this.#schedule(settleMs)
  }

  close(): void {
    this.#closed = true
    this.#timer?.cancel()
  }

  #schedule(delayMs: number): void {
    this.#timer?.cancel()
    const housekeeping = delayMs >= availabilityPeriodMs
    this.#timer = this.#environment.clock.setTimer(delayMs, () => void this.#checkAll(), { housekeeping })
  }

  async #checkAll(): Promise<void> {
    if (this.#checking) return this.#schedule(settleMs)
    this.#soon = false
    this.#checking = true
    try {
      const answered = await Promise.all(this.#remotes.remotes().map((each) => this.#check(each)))
      this.#failedLooks = answered.includes(false) ? this.#failedLooks + 1 : 0
    } finally {
      this.#checking = false
    }
    const isNeeded = !this.#closed && this.#remotes.remotes().length > 0
    if (isNeeded && !this.#soon) this.#schedule(this.#nextLookMs())
  }

  #nextLookMs(): number {
    if (this.#failedLooks === 0) return availabilityPeriodMs
    return Math.min(firstRetryMs * 2 ** (this.#failedLooks - 1), availabilityPeriodMs)
  }

  /** Whether a server answers. One whose Service is not as it must be is looked at again when that changes. */
  async #check(apiService: ApiService): Promise<boolean> {
    const judged = await this.#judge(apiService)
    if (judged.status === 'False') this.#remotes.lost(apiService)
    await this.#note(apiService, judged)
    return judged.reason !== failedCheck
  }

  async #note(apiService: ApiService, judged: Judged): Promise<void> {
    try {
      await this.#write(apiService, judged)
    } catch (error) {
      if (hasReason(error, 'NotFound') || this.#closed) return
      this.#environment.logger.warn('the availability of an API service was not noted', {
        apiService: apiService.metadata.name,
        error: String(error),
      })
    }
  }

  async #judge(apiService: ApiService): Promise<Judged> {
    const endpoint = this.#remotes.endpoint(apiService)
    if ('reason' in endpoint) return { status: 'False', ...endpoint }
    const deadline = new AbortController()
    const timer = this.#hostClock.setTimer(discoveryTimeoutMs, () =>
      deadline.abort(new Error('context deadline exceeded')),
    )
    try {
      const asked = this.#remotes.discover(apiService, deadline.signal)
      const problem = await this.#environment.clock.hold(asked)
      if (problem !== undefined) return { status: 'False', reason: failedCheck, message: problem }
      return { status: 'True', reason: 'Passed', message: 'all checks passed' }
    } finally {
      timer.cancel()
    }
  }

  async #write({ metadata: { name = '', uid } }: ApiService, judged: Judged): Promise<void> {
    const registry = this.#registries.of(apiServices)
    const now = registry?.peek('', name)?.object as ApiService | undefined
    if (registry === undefined || now === undefined || now.metadata.uid !== uid || this.#closed) return
    const others = now.status?.conditions?.filter(({ type }) => type !== 'Available') ?? []
    const old = now.status?.conditions?.find(({ type }) => type === 'Available')
    const { status, reason, message } = judged
    if (old?.status === status && old.reason === reason && old.message === message) return
    const changedAt = old?.status === status ? old.lastTransitionTime : undefined
    const lastTransitionTime = changedAt ?? formatTime(this.#environment.clock.now())
    const conditions = [...others, { type: 'Available', status, lastTransitionTime, reason, message }]
    const options = { dryRun: false, fieldManager: 'coracle', fieldValidation: 'Strict' } as const
    // Whoever changes it at the same time makes that this is judged anew.
    const body = { ...now, status: { ...now.status, conditions } }
    const context = apiServerContext(`${reason}: ${message}`)
    await registry.update(context, '', name, 'status', body, options).catch((error: unknown) => {
      if (!hasReason(error, 'Conflict')) throw error
      this.somethingChanged()
    })
  }
}
