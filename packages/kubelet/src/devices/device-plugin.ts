import type { Clock } from '@coracle/environment'
import { type Decoded, SocketConnection } from '@coracle/environment/grpc'
import type { containerAllocateResponse } from './messages.ts'
import { devicePluginMethods } from './methods.ts'

/** Whether each of the devices of a plugin is healthy, by id, in the order in which it names them. */
export type DeviceHealth = ReadonlyMap<string, boolean>

/** What a plugin answers for the devices that a container gets. */
export type AllocatedParts = Decoded<typeof containerAllocateResponse>

/** A plugin that is there has to say so within this: upstream's. */
const connectMaxMs = 10_000
/** A container's start waits for its plugin as long: upstream's KubeletPreStartContainerRPCTimeoutInSecs. */
const preStartMaxMs = 30_000
/** Upstream waits for ever; a pod that never starts and does not say why helps nobody. */
const allocateMaxMs = 120_000

/** Told of what happens to a plugin. */
export interface DevicePluginListener {
  onDevices(devices: DeviceHealth): void
  /** It is gone, and will not come back as this one. Told once. */
  onEnd(error: Error | undefined): void
}

/** A program that offers devices of one resource. */
export class DevicePlugin {
  readonly #connection: SocketConnection
  #options = { preStartRequired: false, getPreferredAllocationAvailable: false }
  #devices: { cancel(): void } | undefined

  constructor(socket: string, clock: Clock) {
    this.#connection = new SocketConnection(`unix://${socket}`, clock)
  }

  /** Asks what it can do. Rejects where it does not answer. */
  async connect(): Promise<void> {
    this.#options = await this.#connection.call(
      devicePluginMethods.getDevicePluginOptions,
      {},
      { timeoutMs: connectMaxMs },
    )
  }

  /** Has it tell of its devices from now on. */
  follow(listener: DevicePluginListener): void {
    const stream = this.#connection.stream(devicePluginMethods.listAndWatch, {})
    this.#devices = stream
    stream.on('data', ({ devices }: Decoded<typeof devicePluginMethods.listAndWatch.response>) =>
      listener.onDevices(new Map(devices.map(({ id, health }) => [id, health === 'Healthy']))),
    )
    let hasEnded = false
    const end = (error?: Error) => {
      if (hasEnded) return
      hasEnded = true
      listener.onEnd(error)
    }
    stream.on('error', end)
    stream.on('end', () => end())
  }

  /** What a container gets for these devices. */
  async allocate(deviceIds: readonly string[]): Promise<AllocatedParts> {
    const request = { containerRequests: [{ deviceIds }] }
    const limits = { timeoutMs: allocateMaxMs }
    const { containerResponses } = await this.#connection.call(devicePluginMethods.allocate, request, limits)
    const [response] = containerResponses
    if (response === undefined) throw new Error('no containers return in allocation response &AllocateResponse{}')
    return response
  }

  /** Which of the available devices it would give to a container that is to have so many, and these; none where it has no say. */
  async preferred(
    availableDeviceIds: readonly string[],
    mustIncludeDeviceIds: readonly string[],
    allocationSize: number,
  ): Promise<readonly string[]> {
    if (!this.#options.getPreferredAllocationAvailable) return []
    const request = { containerRequests: [{ availableDeviceIds, mustIncludeDeviceIds, allocationSize }] }
    try {
      const limits = { timeoutMs: allocateMaxMs }
      const answer = await this.#connection.call(devicePluginMethods.getPreferredAllocation, request, limits)
      return answer.containerResponses[0]?.deviceIds ?? []
    } catch (error) {
      throw new Error(`device plugin GetPreferredAllocation rpc failed with err: ${(error as Error).message}`)
    }
  }

  /** Has it prepare the devices of a container that is about to start, where it wants to. */
  async prepareStart(deviceIds: readonly string[]): Promise<void> {
    if (!this.#options.preStartRequired) return
    try {
      await this.#connection.call(devicePluginMethods.preStartContainer, { deviceIds }, { timeoutMs: preStartMaxMs })
    } catch (error) {
      throw new Error(`device plugin PreStartContainer rpc failed with err: ${(error as Error).message}`)
    }
  }

  close(): void {
    this.#devices?.cancel()
    this.#connection.close()
  }
}
