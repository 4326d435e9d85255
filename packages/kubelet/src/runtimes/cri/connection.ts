import { existsSync } from 'node:fs'
import type { Clock } from '@coracle/environment'
import {
  callForStream,
  callUnary,
  type Decoded,
  type Encodable,
  isServiceError,
  type Message,
  type Method,
} from '@coracle/environment/grpc'
import { Client, type ClientReadableStream, credentials, status } from '@grpc/grpc-js'
import { RuntimeUnavailableError } from '../runtime.ts'
import { type CallLimits, CriError, callTimeoutMs } from './calls.ts'

/** The largest message either side may send: upstream's maxMsgSize. */
const messageBytesMax = 16 * 1024 * 1024

const channelOptions = {
  'grpc.max_receive_message_length': messageBytesMax,
  'grpc.max_send_message_length': messageBytesMax,
  // A runtime that is started again is noticed soon.
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.max_reconnect_backoff_ms': 1000,
  // There is no proxy on the way to a socket of this host.
  'grpc.enable_http_proxy': 0,
}

/** Calls to a runtime's socket. */
export class CriConnection {
  readonly endpoint: string
  readonly #client: Client
  readonly #clock: Clock

  /** `endpoint`: such as `unix:///run/containerd/containerd.sock`. */
  constructor(endpoint: string, clock: Clock) {
    this.endpoint = endpoint
    this.#clock = clock
    this.#client = new Client(endpoint, credentials.createInsecure(), channelOptions)
  }

  /**
   * Calls a procedure. Rejects with a `CriError` where the runtime refuses, and with a `RuntimeUnavailableError` where it is not
   * there.
   */
  async call<Request extends Message, Response extends Message>(
    method: Method<Request, Response>,
    request: Encodable<Request>,
    { timeoutMs = callTimeoutMs, signal }: CallLimits = {},
  ): Promise<Decoded<Response>> {
    const limits = {
      clock: this.#clock,
      ...(timeoutMs === Infinity ? {} : { timeoutMs }),
      ...(signal === undefined ? {} : { signal }),
    }
    try {
      return await callUnary(this.#client, method, request, limits)
    } catch (error) {
      throw this.#translated(error, method.path, timeoutMs, signal)
    }
  }

  /** The messages of a procedure that goes on telling. Its errors are gRPC's. */
  stream<Request extends Message, Response extends Message>(
    method: Method<Request, Response>,
    request: Encodable<Request>,
  ): ClientReadableStream<Decoded<Response>> {
    return callForStream(this.#client, method, request)
  }

  close(): void {
    this.#client.close()
  }

  #translated(error: unknown, path: string, timeoutMs: number, signal: AbortSignal | undefined): unknown {
    if (signal?.aborted === true) return signal.reason
    if (!isServiceError(error)) return error
    if (error.code === status.UNAVAILABLE) {
      const why = existsSync(this.endpoint.replace(/^unix:\/\//, '')) ? error.details : 'there is no socket'
      return new RuntimeUnavailableError(`container runtime at ${this.endpoint} cannot be reached: ${why}`)
    }
    if (error.code === status.CANCELLED && error.details === 'Cancelled on client') {
      const call = path.slice(path.lastIndexOf('/') + 1)
      return new CriError(status.DEADLINE_EXCEEDED, `${call} was not answered within ${timeoutMs / 1000} s`)
    }
    return new CriError(error.code, error.details)
  }
}
