import { createSecureContext } from 'node:tls'
import { assert, type Clock, sleep, trusting } from '@coracle/environment'
import {
  callUnary,
  type Decoded,
  decode,
  type Encodable,
  encode,
  isServiceError,
  type Message,
  type Method,
} from '@coracle/environment/grpc'
import {
  type ChannelCredentials,
  Client,
  type ClientDuplexStream,
  connectivityState,
  credentials,
  Metadata,
  type ServiceError,
  status,
} from '@grpc/grpc-js'
import { StoreClosedError, StoreTimeoutError, StoreUnavailableError } from '../errors.ts'
import type { EtcdTls } from '../etcd-store.ts'
import { etcdCallTimeoutMs, etcdConnectTimeoutMs, etcdMessageBytesMax, etcdRetryMs } from '../limits.ts'
import { authenticateRequest, authenticateResponse } from './api.ts'

export interface ConnectionOptions {
  readonly servers: readonly string[]
  readonly tls?: EtcdTls | undefined
  readonly user?: { readonly name: string; readonly password: string } | undefined
  readonly clock: Clock
}

export interface CallOptions {
  /** Whether nothing is different where it is made twice. */
  readonly repeatable: boolean
  /** How long it may take with all its attempts; `etcdCallTimeoutMs` where it does not say. */
  readonly withinMs?: number
}

const authenticate = {
  path: '/etcdserverpb.Auth/Authenticate',
  request: authenticateRequest,
  response: authenticateResponse,
}

function secureCredentials({ ca, key, certificate }: EtcdTls): ChannelCredentials {
  const trust = ca === undefined ? {} : trusting(ca)
  return credentials.createFromSecureContext(createSecureContext({ ...trust, key, cert: certificate }))
}

/**
 * Has a member that has lost its cluster refuse a call at once, which could do nothing there but wait, and end a stream, which would see nothing
 * of what happens.
 */
const requireLeader = 'hasleader'

function leaderMetadata(): Metadata {
  const metadata = new Metadata()
  metadata.set(requireLeader, 'true')
  return metadata
}

/** What a connection without traffic is asked after, so that one that leads nowhere is noticed. */
const channelOptions = {
  'grpc.keepalive_time_ms': 10_000,
  'grpc.keepalive_timeout_ms': 5000,
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.max_reconnect_backoff_ms': 1000,
  'grpc.max_receive_message_length': etcdMessageBytesMax,
  'grpc.max_send_message_length': etcdMessageBytesMax,
}

/** Calls to a cluster of etcd servers: to one of them, and to the next when that fails. */
export class Connection {
  readonly #options: ConnectionOptions
  readonly #clients: readonly Client[]
  /** The streams at each server. */
  readonly #streams: readonly Set<{ cancel(): void }>[]
  readonly #closing = new AbortController()
  #current = 0
  #token: Promise<string> | undefined
  /** What `#token` has come to. */
  #tokenText: string | undefined

  constructor(options: ConnectionOptions) {
    assert(options.servers.length > 0, 'an etcd store needs a server')
    this.#options = options
    const { tls } = options
    const security = tls === undefined ? credentials.createInsecure() : secureCredentials(tls)
    this.#clients = options.servers.map((server) => new Client(server, security, channelOptions))
    this.#streams = options.servers.map(() => new Set())
  }

  /** The servers, for messages. */
  get place(): string {
    return this.#options.servers.join(',')
  }

  /**
   * Calls a procedure. One that is `repeatable`, because it changes nothing, is tried again with the next server where one
   * fails, or has not answered in half of the time; any other where it is certain that the server has not taken it. Rejects
   * with a `StoreUnavailableError` where nothing was done, with a `StoreTimeoutError` where nobody knows, and with etcd's own
   * error where etcd refuses, or where a repeatable one fails for a reason that no other server helps with.
   */
  async call<Request extends Message, Response extends Message>(
    method: Method<Request, Response>,
    value: Encodable<Request>,
    { repeatable, withinMs = etcdCallTimeoutMs }: CallOptions,
  ): Promise<Decoded<Response>> {
    const { clock } = this.#options
    const deadlineMs = clock.monotonicMs() + withinMs
    let mayRenew = true
    let mayTryElsewhere = repeatable && this.#clients.length > 1
    let lastFailure: string | undefined
    for (;;) {
      const index = await this.#reach(deadlineMs, lastFailure)
      let metadata: Metadata | undefined
      try {
        const untilMs = mayTryElsewhere ? (clock.monotonicMs() + deadlineMs) / 2 : deadlineMs
        metadata = await this.#metadata(index, untilMs)
        return await this.#send(index, method, value, metadata, untilMs)
      } catch (error) {
        this.#checkOpen()
        if (!isServiceError(error)) throw error
        if (isStaleToken(error)) {
          if (!mayRenew) throw error
          mayRenew = false
          this.#forgetToken(metadata)
          continue
        }
        const isCertain = metadata === undefined || isNotTaken(error)
        const isServerFailing = serverFailures.has(error.code) || isNotTaken(error)
        if (isServerFailing) this.#leave(index)
        if (error.code === status.CANCELLED) {
          mayTryElsewhere = false
          this.#endStreams(index)
        }
        if (!repeatable && !isCertain && (isServerFailing || unclearOutcomes.has(error.code)))
          throw new StoreTimeoutError(this.place, error.details)
        if (!isServerFailing) throw error
        // One that may not be repeated needs time for an answer.
        const neededMs = repeatable ? etcdRetryMs : etcdRetryMs + etcdConnectTimeoutMs
        if (clock.monotonicMs() + neededMs >= deadlineMs) throw new StoreUnavailableError(this.place, error.details)
        lastFailure = error.details
        await this.#pause(etcdRetryMs)
      }
    }
  }

  /** Opens a stream of messages both ways, at a server that can be reached. */
  async stream<Request extends Message, Response extends Message>({
    path,
    request,
    response,
  }: Method<Request, Response>): Promise<ClientDuplexStream<Encodable<Request>, Decoded<Response>>> {
    const deadlineMs = this.#options.clock.monotonicMs() + etcdCallTimeoutMs
    const index = await this.#reach(deadlineMs)
    const metadata = await this.#metadata(index, deadlineMs).catch((error: unknown) => {
      this.#leave(index)
      throw error
    })
    const stream = this.#client(index).makeBidiStreamRequest<Encodable<Request>, Decoded<Response>>(
      path,
      (message) => Buffer.from(encode(request, message)),
      (bytes) => decode(response, bytes),
      metadata,
      {},
    )
    const streams = this.#streams[index]
    streams?.add(stream)
    stream.once('end', () => streams?.delete(stream))
    stream.once('error', (error) => {
      streams?.delete(stream)
      if (isServiceError(error) && isStaleToken(error)) this.#forgetToken(metadata)
      // Whoever cancels it has nothing against the server.
      if (!isServiceError(error) || error.code !== status.CANCELLED) this.#leave(index)
    })
    return stream
  }

  close(): void {
    this.#closing.abort(new StoreClosedError())
    for (const client of this.#clients) client.close()
  }

  #client(index: number): Client {
    return this.#clients[index] as Client
  }

  /** The server in use, or the next that can be reached, which is in use from then on. `failure` is what an attempt before has come to. */
  async #reach(deadlineMs: number, failure = 'no server can be reached'): Promise<number> {
    const { clock } = this.#options
    for (let index = this.#current; ; index = (index + 1) % this.#clients.length) {
      this.#checkOpen()
      const leftMs = deadlineMs - clock.monotonicMs()
      if (leftMs <= 0) throw new StoreUnavailableError(this.place, failure)
      if (await this.#isReady(index, Math.min(leftMs, etcdConnectTimeoutMs))) {
        this.#current = index
        return index
      }
    }
  }

  #isReady(index: number, timeoutMs: number): Promise<boolean> | boolean {
    const client = this.#client(index)
    if (client.getChannel().getConnectivityState(true) === connectivityState.READY) return true
    return new Promise((resolve) => {
      client.waitForReady(this.#options.clock.now() + timeoutMs, (error) => resolve(error === undefined))
    })
  }

  /** The next call goes to another server, if there is one. */
  #leave(index: number): void {
    if (this.#current === index) this.#current = (index + 1) % this.#clients.length
  }

  /** A server that answers no call tells its streams nothing either: they go on elsewhere. With one server there is nowhere else. */
  #endStreams(index: number): void {
    if (this.#clients.length === 1) return
    for (const stream of this.#streams[index] ?? []) stream.cancel()
  }

  async #metadata(index: number, deadlineMs: number): Promise<Metadata> {
    const metadata = leaderMetadata()
    const { user } = this.#options
    if (user === undefined) return metadata
    this.#token ??= this.#authenticate(index, user, deadlineMs)
    const token = this.#token
    try {
      const text = await token
      if (this.#token === token) this.#tokenText = text
      metadata.set('token', text)
      return metadata
    } catch (error) {
      if (this.#token === token) this.#token = undefined
      throw error
    }
  }

  /** Lets go of the token that a call was made with, unless that has been done: what etcd takes to make one should be asked for once. */
  #forgetToken(metadata: Metadata | undefined): void {
    if (this.#tokenText === undefined || metadata?.get('token')[0] !== this.#tokenText) return
    this.#token = undefined
    this.#tokenText = undefined
  }

  async #authenticate(
    index: number,
    user: { readonly name: string; readonly password: string },
    deadlineMs: number,
  ): Promise<string> {
    return (await this.#send(index, authenticate, user, leaderMetadata(), deadlineMs)).token
  }

  #send<Request extends Message, Response extends Message>(
    index: number,
    method: Method<Request, Response>,
    value: Encodable<Request>,
    metadata: Metadata,
    deadlineMs: number,
  ): Promise<Decoded<Response>> {
    const { clock } = this.#options
    const timeoutMs = deadlineMs - clock.monotonicMs()
    return callUnary(this.#client(index), method, value, { clock, timeoutMs, metadata })
  }

  #pause(delayMs: number): Promise<void> {
    return sleep(this.#options.clock, delayMs, this.#closing.signal)
  }

  #checkOpen(): void {
    this.#closing.signal.throwIfAborted()
  }
}

/** Codes with which another server may do better: they are those that etcd's own client tries again, and that of a call that took too long. */
const serverFailures: ReadonlySet<number> = new Set([status.UNAVAILABLE, status.INTERNAL, status.CANCELLED])

/** Whether a member has not even begun with a call: it has no leader to ask, or is there to learn only. */
const isNotTaken = ({ details }: ServiceError): boolean =>
  /^etcdserver: (?:no leader|rpc not supported for learner)$/.test(details)

/** Codes that do not tell whether anything was done. */
const unclearOutcomes: ReadonlySet<number> = new Set([
  status.UNKNOWN,
  status.DEADLINE_EXCEEDED,
  status.ABORTED,
  status.DATA_LOSS,
])

/**
 * etcd forgets tokens after a while, and all of them when it restarts. Signed ones (JWT) are good only until somebody changes
 * a user or a role, and calls with one are refused for that until there is a new one.
 */
function isStaleToken({ code, details }: ServiceError): boolean {
  return code === status.UNAUTHENTICATED || /invalid auth token|revision of auth store is old/.test(details)
}
