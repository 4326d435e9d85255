import { existsSync } from 'node:fs'
import { Client, type ClientReadableStream, credentials, status } from '@grpc/grpc-js'
import type { Clock } from '../clock.ts'
import { callForStream, callUnary, isServiceError, type Method } from './call.ts'
import type { Decoded, Encodable, Message } from './message.ts'
import { RpcError } from './rpc-error.ts'

/** The largest message either side may send: upstream's maxMsgSize. */
const messageBytesMax = 16 * 1024 * 1024

const channelOptions = {
  'grpc.max_receive_message_length': messageBytesMax,
  'grpc.max_send_message_length': messageBytesMax,
  // A server that is started again is noticed soon.
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.max_reconnect_backoff_ms': 1000,
  // There is no proxy on the way to a socket of this host.
  'grpc.enable_http_proxy': 0,
}

export interface SocketCallLimits {
  /** Infinity: as long as it takes. */
  readonly timeoutMs: number
  readonly signal?: AbortSignal | undefined
}

/** Calls to a gRPC server at a socket of this host. */
export class SocketConnection {
  readonly endpoint: string
  readonly #client: Client
  readonly #clock: Clock

  /** `endpoint`: such as `unix:///run/containerd/containerd.sock`. */
  constructor(endpoint: string, clock: Clock) {
    this.endpoint = endpoint
    this.#clock = clock
    this.#client = new Client(endpoint, credentials.createInsecure(), channelOptions)
  }

  /** Calls a procedure. Rejects with an `RpcError`, or with the reason of the signal where that is aborted. */
  async call<Request extends Message, Response extends Message>(
    method: Method<Request, Response>,
    request: Encodable<Request>,
    { timeoutMs, signal }: SocketCallLimits,
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
      const isThere = existsSync(this.endpoint.replace(/^unix:\/\//, ''))
      return new RpcError(error.code, isThere ? error.details : 'there is no socket')
    }
    if (error.code === status.CANCELLED && error.details === 'Cancelled on client') {
      const call = path.slice(path.lastIndexOf('/') + 1)
      return new RpcError(status.DEADLINE_EXCEEDED, `${call} was not answered within ${timeoutMs / 1000} s`)
    }
    return new RpcError(error.code, error.details)
  }
}
