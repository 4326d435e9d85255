import { X509Certificate } from 'node:crypto'
import type { Environment, Random, Time, Timer } from '@coracle/environment'
import type { KeyPair } from '@coracle/environment/certificates'

/** In which part of its life a certificate is renewed, at a moment drawn by chance: client-go's certificate manager. */
const renewFrom = 0.7
const renewSpread = 0.2
/** Waits between attempts to renew, doubling. */
const retryFirstMs = 2_000
const retryMaxMs = 300_000

/** A wait is taken in pieces: a machine that sleeps, or whose clock is set, is late by so much at most. */
const lookMs = 3_600_000

/** When a certificate is to be renewed: in the last third of its life, not all at once. Pure but for chance. */
export function renewalTime({ certificatePem }: KeyPair, random: Random): Time {
  const { validFromDate, validToDate } = new X509Certificate(certificatePem)
  const [from, to] = [validFromDate.getTime(), validToDate.getTime()]
  return from + (to - from) * (renewFrom + renewSpread * random.next())
}

/** Until when a certificate is good. */
export const endOf = (certificatePem: string): Time => new X509Certificate(certificatePem).validToDate.getTime()

/** Whether a certificate with its key is good at this moment. */
export const isCurrent = ({ certificatePem }: KeyPair, now: Time): boolean => endOf(certificatePem) > now

export interface CertificateKeeperOptions {
  readonly environment: Environment
  /** Whose certificate it is, for the log: `the node`. */
  readonly holder: string
  /** Gets another. */
  readonly renew: (signal: AbortSignal) => KeyPair | Promise<KeyPair>
  /** Told of another: what rejects here is tried again, with one more certificate. */
  readonly onRenewed: (pair: KeyPair) => void | Promise<void>
}

/** Keeps a certificate current for as long as it runs. */
export class CertificateKeeper {
  readonly #options: CertificateKeeperOptions
  readonly #stopping = new AbortController()
  #timer: Timer | undefined
  #attempt: Promise<void> | undefined
  #retryMs = retryFirstMs

  constructor(options: CertificateKeeperOptions) {
    this.#options = options
  }

  /** From now on `pair` is renewed in time. Undefined: there is none yet, and one is got at once. */
  keep(pair: KeyPair | undefined): void {
    const { clock, random } = this.#options.environment
    this.#wait(pair === undefined ? clock.now() : renewalTime(pair, random))
  }

  /** Resolves when an attempt that is under way has ended. */
  async stop(): Promise<void> {
    this.#stopping.abort(new Error(`${this.#options.holder} was stopped`))
    this.#timer?.cancel()
    await this.#attempt
  }

  #wait(until: Time): void {
    if (this.#stopping.signal.aborted) return
    const { clock } = this.#options.environment
    const leftMs = until - clock.now()
    const goOn = (): void => {
      if (leftMs > lookMs) this.#wait(until)
      else this.#attempt = this.#renew()
    }
    this.#timer = clock.setTimer(Math.min(leftMs, lookMs), goOn, { housekeeping: true })
  }

  async #renew(): Promise<void> {
    const { environment, holder, renew, onRenewed } = this.#options
    try {
      const pair = await renew(this.#stopping.signal)
      await onRenewed(pair)
      this.#retryMs = retryFirstMs
      this.keep(pair)
    } catch (error) {
      if (this.#stopping.signal.aborted) return
      environment.logger.warn(`a certificate of ${holder} could not be renewed, will try again`, { error })
      this.#wait(environment.clock.now() + this.#retryMs)
      this.#retryMs = Math.min(this.#retryMs * 2, retryMaxMs)
    }
  }
}
