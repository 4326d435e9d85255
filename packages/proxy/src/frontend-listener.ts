import type { Environment, Timer } from '@coracle/environment'
import { Balancer, type Visits } from './balancer.ts'
import { type Frontend, idOf, type Listening } from './frontends.ts'
import type { Network } from './network.ts'

/** Waits between attempts to listen where that fails: it doubles from the first to the last. */
export const retryFirstMs = 1000
export const retryMaxMs = 60_000

export interface FrontendListenerOptions {
  readonly network: Network
  readonly environment: Environment
  /** Shared by the frontends of one port of a service; its own unless given. */
  readonly visits?: Visits
  /** Told why it cannot listen, once for each reason in a row. */
  readonly onFailure: (frontend: Frontend, error: NodeJS.ErrnoException) => void
  /** Told that it listens where it could not before. */
  readonly onRecovery: (frontend: Frontend) => void
}

/** Listens for one frontend while there is something behind it: without it clients are refused at once, as kube-proxy has it. Whoever asks how much there is behind a service is always answered. */
export class FrontendListener {
  readonly #options: FrontendListenerOptions
  readonly #balancer: Balancer
  #wanted: Frontend | undefined
  #listening: Listening | undefined
  #isOpening = false
  #retry: Timer | undefined
  #retryMs = retryFirstMs
  #told: string | undefined
  /** Whether somebody was told that it cannot listen, and not since that it can. */
  #isFailing = false

  constructor(options: FrontendListenerOptions) {
    const { clock, random } = options.environment
    this.#options = options
    this.#balancer = new Balancer(clock, random, options.visits)
  }

  /** What is to be listened to from now on: the same address and port each time, or nothing. */
  set(frontend: Frontend | undefined): void {
    this.#balancer.set(frontend?.backends ?? [], frontend?.affinityMs, frontend?.sources)
    const { backends = [], healthOf, answer } = frontend ?? {}
    this.#wanted = backends.length > 0 || (healthOf ?? answer) !== undefined ? frontend : undefined
    if (this.#wanted === undefined) this.#close()
    else if (this.#listening === undefined && !this.#isOpening && this.#retry === undefined)
      void this.#open(this.#wanted)
  }

  #close(): void {
    this.#retry?.cancel()
    this.#retry = undefined
    this.#retryMs = retryFirstMs
    this.#told = undefined
    this.#listening?.close()
    this.#listening = undefined
  }

  async #open(frontend: Frontend): Promise<void> {
    const { network, environment, onRecovery } = this.#options
    this.#isOpening = true
    try {
      this.#listening = await network.listen(frontend, this.#balancer)
      if (this.#isFailing && this.#wanted !== undefined) {
        this.#isFailing = false
        onRecovery(frontend)
      }
      this.#told = undefined
      this.#retryMs = retryFirstMs
      environment.logger.debug('listening for a service', { address: idOf(frontend) })
    } catch (error) {
      if (this.#wanted !== undefined) this.#failed(frontend, error as NodeJS.ErrnoException)
    } finally {
      this.#isOpening = false
    }
    if (this.#wanted === undefined) this.#close()
  }

  #failed(frontend: Frontend, error: NodeJS.ErrnoException): void {
    const { environment, onFailure } = this.#options
    const reason = error.code ?? error.message
    if (reason !== this.#told) onFailure(frontend, error)
    this.#told = reason
    this.#isFailing = true
    this.#retry = environment.clock.setTimer(this.#retryMs, () => {
      this.#retry = undefined
      if (this.#wanted !== undefined) void this.#open(this.#wanted)
    })
    this.#retryMs = Math.min(this.#retryMs * 2, retryMaxMs)
  }
}
