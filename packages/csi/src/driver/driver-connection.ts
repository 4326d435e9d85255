import type { Clock } from '@coracle/environment'
import { type Decoded, type Encodable, type Message, type Method, SocketConnection } from '@coracle/environment/grpc'
import { nodeMethods } from '../wire/methods.ts'

/** How long a driver may take for a call: upstream's csiTimeout. */
export const callTimeoutMs = 120_000

/** How long a call may take. */
export interface CallLimits {
  readonly timeoutMs?: number | undefined
  /** Aborting it gives the call up. */
  readonly signal?: AbortSignal | undefined
}

/** How a driver that registers is reached: its endpoint may be a path. */
export const endpointOf = (address: string): string => (address.startsWith('unix:') ? address : `unix://${address}`)

/** Calls to a driver on this node, or to whoever registers one. */
export class DriverConnection {
  readonly #connection: SocketConnection
  #capabilities: Promise<ReadonlySet<number>> | undefined

  /** `address`: a path, or such as `unix:///run/driver.sock`. */
  constructor(address: string, clock: Clock) {
    this.#connection = new SocketConnection(endpointOf(address), clock)
  }

  /** Calls a procedure. Rejects with an `RpcError`, or with the reason of the signal. */
  call<Request extends Message, Response extends Message>(
    method: Method<Request, Response>,
    request: Encodable<Request>,
    { timeoutMs = callTimeoutMs, signal }: CallLimits = {},
  ): Promise<Decoded<Response>> {
    return this.#connection.call(method, request, { timeoutMs, signal })
  }

  /** What the driver can do on nodes, as values of `nodeCapabilities`. It is asked once. */
  capabilities(limits?: CallLimits): Promise<ReadonlySet<number>> {
    this.#capabilities ??= this.#ask(limits).catch((error: unknown) => {
      this.#capabilities = undefined
      throw error
    })
    return this.#capabilities
  }

  close(): void {
    this.#connection.close()
  }

  async #ask(limits?: CallLimits): Promise<ReadonlySet<number>> {
    const { capabilities } = await this.call(nodeMethods.getCapabilities, {}, limits)
    return new Set(capabilities.flatMap(({ rpc }) => (rpc === undefined ? [] : [rpc.type])))
  }
}
