import type { Probe } from '@coracle/api'
import type { Clock, Timer } from '@coracle/environment'
import type { HandlerResult } from './handlers.ts'

const second = 1000

/** What a prober needs beside its probe. */
export interface ProberOptions {
  readonly clock: Clock
  readonly probe: Probe
  readonly containerStartedAtMs: number
  /** Runs the check once; the signal is aborted when its time is up. */
  readonly check: (signal: AbortSignal) => Promise<HandlerResult>
  /** Checks are pointless for now: not counted, tried again next period. */
  readonly paused: () => boolean
  /** A check has failed. */
  readonly onFailure: (output: string) => void
  /** The verdict has changed: as many answers in a row as the threshold asks for. */
  readonly onVerdict: (healthy: boolean) => void
}

/**
 * Makes one probe of one container over and over: first after `initialDelaySeconds`, then every `periodSeconds`. The
 * verdict starts undecided.
 */
export class Prober {
  readonly #options: ProberOptions
  #timer: Timer | undefined
  #controller: AbortController | undefined
  #verdict: boolean | undefined
  #lastOk: boolean | undefined
  #streak = 0
  #closed = false

  constructor(options: ProberOptions) {
    this.#options = options
    const { clock, probe, containerStartedAtMs } = options
    const firstAtMs = containerStartedAtMs + (probe.initialDelaySeconds ?? 0) * second
    this.#schedule(Math.max(0, firstAtMs - clock.now()))
  }

  close(): void {
    this.#closed = true
    this.#timer?.cancel()
    this.#controller?.abort()
  }

  #schedule(delayMs: number): void {
    if (this.#closed) return
    this.#timer = this.#options.clock.setTimer(delayMs, () => void this.#round())
  }

  async #round(): Promise<void> {
    const { clock, probe, paused } = this.#options
    const beganMs = clock.monotonicMs()
    if (!paused()) this.#count(await this.#checkOnce())
    const periodMs = (probe.periodSeconds ?? 10) * second
    this.#schedule(Math.max(0, periodMs - (clock.monotonicMs() - beganMs)))
  }

  async #checkOnce(): Promise<HandlerResult> {
    const { clock, probe, check } = this.#options
    const timeoutSeconds = probe.timeoutSeconds ?? 1
    const controller = new AbortController()
    this.#controller = controller
    const timer = clock.setTimer(timeoutSeconds * second, () =>
      controller.abort(new Error(`command timed out after ${timeoutSeconds}s`)),
    )
    const result = await check(controller.signal)
    timer.cancel()
    return result
  }

  #count({ ok, output }: HandlerResult): void {
    if (this.#closed) return
    const { probe, onFailure, onVerdict } = this.#options
    if (!ok) onFailure(output)
    this.#streak = ok === this.#lastOk ? this.#streak + 1 : 1
    this.#lastOk = ok
    const threshold = ok ? (probe.successThreshold ?? 1) : (probe.failureThreshold ?? 3)
    if (this.#streak < threshold || this.#verdict === ok) return
    this.#verdict = ok
    onVerdict(ok)
  }
}
