import type { Clock } from '@coracle/environment'
import {
  type Decoded,
  type Encodable,
  type Message,
  type Method,
  RpcError,
  rpcCodes,
  SocketConnection,
} from '@coracle/environment/grpc'
import type { ClientReadableStream } from '@grpc/grpc-js'
import { RuntimeUnavailableError } from '../runtime.ts'
import { type CallLimits, CriError, callTimeoutMs } from './calls.ts'

/** Calls to a runtime's socket. */
export class CriConnection {
  readonly endpoint: string
  readonly #connection: SocketConnection

  /** `endpoint`: such as `unix:///run/containerd/containerd.sock`. */
  constructor(endpoint: string, clock: Clock) {
    this.endpoint = endpoint
    this.#connection = new SocketConnection(endpoint, clock)
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
    try {
      return await this.#connection.call(method, request, { timeoutMs, signal })
    } catch (error) {
      throw error instanceof RpcError ? this.#translated(error) : error
    }
  }

  /** The messages of a procedure that goes on telling. Its errors are gRPC's. */
  stream<Request extends Message, Response extends Message>(
    method: Method<Request, Response>,
    request: Encodable<Request>,
  ): ClientReadableStream<Decoded<Response>> {
    return this.#connection.stream(method, request)
  }

  close(): void {
    this.#connection.close()
  }

  #translated({ code, details }: RpcError): Error {
    if (code !== rpcCodes.unavailable) return new CriError(code, details)
    return new RuntimeUnavailableError(`container runtime at ${this.endpoint} cannot be reached: ${details}`)
  }
}
