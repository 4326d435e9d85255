import type { Probe } from '@coracle/api'
import type { Clock, Time, Timer } from '@coracle/environment'
import type { HandlerResult } from './handlers.ts'

const second = 1000
/** Attempts at a check that cannot be made: upstream's maxProbeRetries. */
const triesMax = 3

/** What a prober needs beside its probe. */
export interface ProberOptions {
  readonly clock: Clock
  readonly probe: Probe
  readonly containerStartedAtMs: number
  /** Runs the check once; the signal is aborted when its time is up. */
  readonly check: (signal: AbortSignal) => Promise<HandlerResult>
  /** Checks are pointless for now: not counted, tried again next period. */
  readonly paused: () => boolean
  /** A check is done; those that could not be made are tried again before. */
  readonly onResult?: (result: HandlerResult, durationMs: number) => void
  /** There is something to tell of a check: it has failed, could not be made, or went well with a warning. */
  readonly onNews: (result: HandlerResult) => void
  /** The verdict has changed: as many answers in a row as the threshold asks for. */
  readonly onVerdict: (healthy: boolean) => void
}

/**
 * Makes one probe of one container over and over: first after `initialDelaySeconds`, then every `periodSeconds`. The
 * verdict starts undecided.
 */
export class Prober {
  readonly #options: ProberOptions
  /** Before that there is no check, on the monotonic clock: the other may have been set since the container was started. */
  readonly #firstAtMs: Time
  #timer: Timer | undefined
  #controller: AbortController | undefined
  #verdict: boolean | undefined
  #lastOk: boolean | undefined
  #streak = 0
  #checking = false
  #closed = false

  constructor(options: ProberOptions) {
    this.#options = options
    const { clock, probe, containerStartedAtMs } = options
    const initialDelayMs = (probe.initialDelaySeconds ?? 0) * second
    const delayMs = Math.min(initialDelayMs, Math.max(0, containerStartedAtMs + initialDelayMs - clock.now()))
    this.#firstAtMs = clock.monotonicMs() + delayMs
    this.#schedule(delayMs)
  }

  /** Checks now instead of at the end of the period: what it waited for has come. */
  checkNow(): void {
    if (this.#closed || this.#checking || !this.#isDue()) return
    this.#timer?.cancel()
    void this.#round()
  }

  close(): void {
    this.#closed = true
    this.#timer?.cancel()
    this.#controller?.abort()
  }

  #isDue(): boolean {
    return this.#options.clock.monotonicMs() >= this.#firstAtMs
  }

  #schedule(delayMs: number): void {
    if (this.#closed) return
    this.#timer = this.#options.clock.setTimer(delayMs, () => void this.#round())
  }

  async #round(): Promise<void> {
    const { clock, probe, paused } = this.#options
    const beganMs = clock.monotonicMs()
    this.#checking = true
    if (!paused()) this.#count(await this.#checkUntilKnown(), beganMs)
    this.#checking = false
    const periodMs = (probe.periodSeconds ?? 10) * second
    this.#schedule(Math.max(0, periodMs - (clock.monotonicMs() - beganMs)))
  }

  /** A check that could not be made is tried again at once, a few times (upstream's runProbeWithRetries). */
  async #checkUntilKnown(): Promise<HandlerResult> {
    for (let tries = 1; ; tries += 1) {
      const result = await this.#checkOnce()
      if (result.unknown !== true || tries === triesMax || this.#closed) return result
    }
  }

  async #checkOnce(): Promise<HandlerResult> {
    const { clock, probe, check } = this.#options
    const timeoutSeconds = probe.timeoutSeconds ?? 1
    const controller = new AbortController()
    this.#controller = controller
    const timer = clock.setTimer(timeoutSeconds * second, () =>
      controller.abort(new Error(`timed out after ${timeoutSeconds}s`)),
    )
    const result = await check(controller.signal)
    timer.cancel()
    return result
  }

  #count(result: HandlerResult, beganMs: Time): void {
    if (this.#closed) return
    const { ok, warning, unknown } = result
    const { clock, probe, onResult, onNews, onVerdict } = this.#options
    onResult?.(result, clock.monotonicMs() - beganMs)
    if (!ok || warning === true) onNews(result)
    if (unknown === true) return
    this.#streak = ok === this.#lastOk ? this.#streak + 1 : 1
    this.#lastOk = ok
    const threshold = ok ? (probe.successThreshold ?? 1) : (probe.failureThreshold ?? 3)
    if (this.#streak < threshold || this.#verdict === ok) return
    this.#verdict = ok
    onVerdict(ok)
  }
}
