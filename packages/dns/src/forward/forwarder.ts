import type { Environment } from '@coracle/environment'
import { MalformedMessageError } from '../wire/name.ts'
import { rcodes, udpBytesMax } from '../wire/numbers.ts'
import type { Question } from '../wire/question.ts'
import { type Response, readResponse, writeQuestion } from '../wire/response.ts'
import type { Exchange, Server } from './exchange.ts'
import { ResponseCache } from './response-cache.ts'

/** A server that has not answered for so long is not waited for any longer, and the next is asked. */
export const attemptTimeoutMs = 2000
/** So long a question is tried with all servers: resolvers ask again after five seconds. */
export const questionTimeoutMs = 4500
/** A server that did not answer is asked last for so long. */
export const shunnedMs = 10_000
/** Questions to others under way, as many as CoreDNS has. Each takes a socket. */
export const underWayMax = 1000

export interface ForwarderOptions {
  readonly environment: Pick<Environment, 'clock' | 'random'>
  /** Those to be asked at this moment, the best first. */
  readonly servers: () => Promise<readonly Server[]>
  readonly exchange: Exchange
}

/** What another server says, and how long ago it did. */
export interface Forwarded {
  readonly response: Response
  readonly ageSeconds: number
}

/** Asks other servers, and keeps what they say. */
export class Forwarder {
  readonly #options: ForwarderOptions
  readonly #cache: ResponseCache
  readonly #underWay = new Map<string, Promise<Response | undefined>>()
  /** Until when a server is asked last, on the monotonic clock. */
  readonly #shunned = new Map<string, number>()
  readonly #closing = new AbortController()

  constructor(options: ForwarderOptions) {
    this.#options = options
    this.#cache = new ResponseCache(options.environment.clock)
  }

  /** What is kept of it; undefined: it has to be asked. */
  kept(question: Question): Forwarded | undefined {
    return this.#cache.get(keyOf(question))
  }

  /** Undefined where no server knows, or too many questions are under way. Who asks the same at the same time waits for one answer. */
  async ask(question: Question): Promise<Forwarded | undefined> {
    const key = keyOf(question)
    let asking = this.#underWay.get(key)
    if (asking === undefined) {
      if (this.#underWay.size >= underWayMax || this.#closing.signal.aborted) return undefined
      asking = this.#askServers(question)
        .catch(() => undefined)
        .finally(() => this.#underWay.delete(key))
      this.#underWay.set(key, asking)
      void asking.then((response) => response && this.#cache.put(key, response))
    }
    const response = await asking
    return response && { response, ageSeconds: 0 }
  }

  /** Waits for no answer any longer. */
  close(): void {
    this.#closing.abort(new Error('the server is closed'))
  }

  async #askServers(question: Question): Promise<Response | undefined> {
    const { clock } = this.#options.environment
    const endMs = clock.monotonicMs() + questionTimeoutMs
    let partial: Response | undefined
    for (const server of this.#inOrder(await this.#options.servers())) {
      const leftMs = endMs - clock.monotonicMs()
      if (leftMs <= 0 || this.#closing.signal.aborted) break
      const response = await this.#askServer(server, question, Math.min(leftMs, attemptTimeoutMs))
      if (response === undefined) {
        this.#shunned.set(server.address, clock.monotonicMs() + shunnedMs)
        continue
      }
      // Another one may be able to.
      if (response.isTruncated) partial ??= response
      else if (response.rcode === rcodes.noError || response.rcode === rcodes.nameError) return response
    }
    // Resolvers make do with what has come, which says that there is more.
    return partial
  }

  #inOrder(servers: readonly Server[]): readonly Server[] {
    const nowMs = this.#options.environment.clock.monotonicMs()
    for (const [address, untilMs] of this.#shunned) if (untilMs <= nowMs) this.#shunned.delete(address)
    const isShunned = ({ address }: Server): boolean => this.#shunned.has(address)
    return [...servers.filter((each) => !isShunned(each)), ...servers.filter(isShunned)]
  }

  async #askServer(server: Server, question: Question, timeoutMs: number): Promise<Response | undefined> {
    const { exchange, environment } = this.#options
    const stopping = new AbortController()
    const stop = (): void => stopping.abort(new Error('no answer in time'))
    const timer = environment.clock.setTimer(timeoutMs, stop)
    this.#closing.signal.addEventListener('abort', stop, { once: true })
    try {
      const first = await this.#answer(exchange.udp, server, question, stopping.signal)
      if (!first.isTruncated) return first
      // Some let nothing but datagrams through.
      return await this.#answer(exchange.tcp, server, question, stopping.signal).catch(() => first)
    } catch {
      return undefined
    } finally {
      timer.cancel()
      this.#closing.signal.removeEventListener('abort', stop)
    }
  }

  async #answer(exchange: Exchange['udp'], server: Server, question: Question, signal: AbortSignal): Promise<Response> {
    // Whoever wants to answer in the place of the server has to guess this, and the port that is asked from.
    const id = Number.parseInt(this.#options.environment.random.uuid().slice(0, 4), 16)
    let response: Response | undefined
    const take = (message: Buffer): boolean => {
      try {
        response = readResponse(message, id, question)
      } catch (error) {
        if (!(error instanceof MalformedMessageError)) throw error
      }
      return response !== undefined
    }
    await exchange(server, writeQuestion(id, question, udpBytesMax), take, signal)
    if (response === undefined) throw new Error('no answer')
    return response
  }
}

/** Questions with one answer: what is asked, and what of the answer depends on who asks. */
const keyOf = ({ name, type, class: questionClass, edns, checkingDisabled }: Question): string =>
  `${type} ${questionClass} ${edns === undefined ? '' : edns.dnssecOk ? 'do' : 'edns'} ${checkingDisabled ? 'cd' : ''} ${name}`
