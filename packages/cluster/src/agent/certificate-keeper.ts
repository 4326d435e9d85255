import { X509Certificate } from 'node:crypto'
import type { Environment, Random, Time, Timer } from '@coracle/environment'
import type { KeyPair } from '@coracle/environment/certificates'

/** In which part of its life a certificate is renewed, at a moment drawn by chance: client-go's certificate manager. */
const renewFrom = 0.7
const renewSpread = 0.2
/** Waits between attempts to renew, doubling. */
const retryFirstMs = 2_000
const retryMaxMs = 300_000

/** When a certificate is to be renewed: in the last third of its life, nodes not all at once. Pure but for chance. */
export function renewalTime({ certificatePem }: KeyPair, random: Random): Time {
  const { validFromDate, validToDate } = new X509Certificate(certificatePem)
  const [from, to] = [validFromDate.getTime(), validToDate.getTime()]
  return from + (to - from) * (renewFrom + renewSpread * random.next())
}

/** Until when a certificate is good. */
export const endOf = (certificatePem: string): Time => new X509Certificate(certificatePem).validToDate.getTime()

/** Whether a certificate with its key is good at this moment. */
export const isCurrent = ({ certificatePem }: KeyPair, now: Time): boolean => endOf(certificatePem) > now

/** Keeps a certificate current for as long as it runs. */
export class CertificateKeeper {
  readonly #environment: Environment
  readonly #renew: (signal: AbortSignal) => Promise<KeyPair>
  readonly #onRenewed: (pair: KeyPair) => void | Promise<void>
  readonly #stopping = new AbortController()
  #timer: Timer | undefined
  #retryMs = retryFirstMs

  /** `renew` gets another; whoever needs it is told by `onRenewed`. */
  constructor(
    environment: Environment,
    renew: (signal: AbortSignal) => Promise<KeyPair>,
    onRenewed: (pair: KeyPair) => void | Promise<void>,
  ) {
    this.#environment = environment
    this.#renew = renew
    this.#onRenewed = onRenewed
  }

  /** From now on `pair` is renewed in time. Undefined: there is none yet, and one is got at once. */
  keep(pair: KeyPair | undefined): void {
    const { clock, random } = this.#environment
    this.#wait(pair === undefined ? 0 : renewalTime(pair, random) - clock.now())
  }

  stop(): void {
    this.#stopping.abort(new Error('the node agent was stopped'))
    this.#timer?.cancel()
  }

  #wait(delayMs: number): void {
    if (this.#stopping.signal.aborted) return
    this.#timer = this.#environment.clock.setTimer(delayMs, () => void this.#attempt(), { housekeeping: true })
  }

  async #attempt(): Promise<void> {
    try {
      const pair = await this.#renew(this.#stopping.signal)
      await this.#onRenewed(pair)
      this.#retryMs = retryFirstMs
      this.keep(pair)
    } catch (error) {
      if (this.#stopping.signal.aborted) return
      this.#environment.logger.warn('a certificate of the node could not be renewed, will try again', { error })
      this.#wait(this.#retryMs)
      this.#retryMs = Math.min(this.#retryMs * 2, retryMaxMs)
    }
  }
}
