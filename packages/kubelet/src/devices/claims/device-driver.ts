import type { Clock } from '@coracle/environment'
import { type Decoded, SocketConnection } from '@coracle/environment/grpc'
import { type preparedDevice, prepareMethod, type Service, unprepareMethod } from './messages.ts'

/** How long a driver may take for a claim: upstream's defaultClientCallTimeout. */
const callMaxMs = 45_000

/** A claim as drivers know it. */
export interface ClaimName {
  readonly namespace: string
  readonly name: string
  readonly uid: string
}

/** A device of a claim that its driver has prepared. */
export type PreparedDevice = Decoded<typeof preparedDevice>

/** A program that prepares the devices of a node which it has offered in ResourceSlices. */
export class DeviceDriver {
  readonly name: string
  readonly #connection: SocketConnection
  readonly #service: Service
  readonly #onClose: () => void

  constructor(name: string, endpoint: string, service: Service, clock: Clock, onClose: () => void) {
    this.name = name
    this.#connection = new SocketConnection(`unix://${endpoint.replace(/^unix:(\/\/)?/, '')}`, clock)
    this.#service = service
    this.#onClose = onClose
  }

  /** Gives the devices of a claim. May be asked again for one that is prepared. Rejects in the words of upstream's kubelet. */
  async prepare({ namespace, name, uid }: ClaimName): Promise<readonly PreparedDevice[]> {
    const request = { claims: [{ namespace, name, uid }] }
    const { claims } = await this.#named('NodePrepareResources', () =>
      this.#connection.call(prepareMethod(this.#service), request, { timeoutMs: callMaxMs }),
    )
    return resultFor(uid, name, 'NodePrepareResources', claims)?.devices ?? []
  }

  /** The devices of a claim are free. May be asked again. */
  async unprepare({ namespace, name, uid }: ClaimName): Promise<void> {
    const request = { claims: [{ namespace, name, uid }] }
    const { claims } = await this.#named('NodeUnprepareResources', () =>
      this.#connection.call(unprepareMethod(this.#service), request, { timeoutMs: callMaxMs }),
    )
    resultFor(uid, name, 'NodeUnprepareResources', claims)
  }

  close(): void {
    this.#connection.close()
    this.#onClose()
  }

  async #named<T>(procedure: string, call: () => Promise<T>): Promise<T> {
    try {
      return await call()
    } catch (error) {
      throw new Error(`${procedure}: ${(error as Error).message}`)
    }
  }
}

/** What was answered for the claim that was asked about. Throws what upstream's kubelet says of anything else. */
function resultFor<T extends { readonly error: string }>(
  uid: string,
  name: string,
  procedure: string,
  claims: readonly { readonly key: string; readonly value: T | undefined }[],
): T | undefined {
  const unknown = claims.find(({ key }) => key !== uid)
  if (unknown !== undefined) throw new Error(`${procedure} returned result for unknown claim UID ${unknown.key}`)
  const found = claims.at(-1)
  if (found === undefined) throw new Error(`${procedure} skipped 1 ResourceClaims`)
  const { value } = found
  if (value !== undefined && value.error !== '')
    throw new Error(`${procedure} failed for ResourceClaim ${name}: ${value.error}`)
  return value
}
