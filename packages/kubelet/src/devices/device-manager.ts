import { mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type Container, isExtendedResource, type Pod, quantityValue } from '@coracle/api'
import type { Environment } from '@coracle/environment'
import { answering, type Decoded, type SocketServer, serveAtSocket } from '@coracle/environment/grpc'
import { podUidOf } from '../pod/pod-name.ts'
import { type Allocation, Allocations } from './allocations.ts'
import { readCheckpoint, writeCheckpoint } from './checkpoint.ts'
import { chosenDevices, type DeviceChoice, offeredDevices } from './choose-devices.ts'
import { containerDevices } from './container-devices.ts'
import { type DeviceHealth, DevicePlugin } from './device-plugin.ts'
import type { registerRequest } from './messages.ts'
import { registrationMethods } from './methods.ts'
import type { ContainerDevices, DeviceCount, NodeDevices } from './node-devices.ts'

/** Where plugins look for the node agent, in the directory of device plugins. */
export const registrationSocket = 'kubelet.sock'
/** Upstream's name. */
export const checkpointName = 'kubelet_internal_checkpoint'
/** The devices of a plugin that has gone are unhealthy for so long, and then there are none: upstream's endpointStopGracePeriod. */
export const pluginGoneMaxMs = 5 * 60_000

const supportedVersion = 'v1beta1'

export interface DeviceManagerOptions {
  readonly environment: Environment
  /** In the place of upstream's `/var/lib/kubelet/device-plugins`. */
  readonly directory: string
  /** Whether a pod may still have devices: what others had is free. */
  readonly isActive: (podUid: string) => boolean
}

/** A resource that a plugin has registered. */
interface OfferedResource {
  /** Undefined when it has gone. */
  plugin: DevicePlugin | undefined
  devices: DeviceHealth
  /** When the plugin went, on the monotonic clock. */
  goneAtMs: number | undefined
}

/**
 * Gives pods the devices of a node that plugins offer, as upstream's kubelet: plugins register at a socket, tell of their devices, and say what
 * containers are given for these. Who has what is on disk before a container starts.
 */
export class DeviceManager implements NodeDevices {
  readonly #options: DeviceManagerOptions
  readonly #resources = new Map<string, OfferedResource>()
  /** Resources that were there once: the node says that it has none of them while nobody offers them, or nobody would know. */
  readonly #gone = new Set<string>()
  readonly #allocations = new Allocations()
  #server: SocketServer | undefined
  /** Never rejects. */
  #writing: Promise<void> = Promise.resolve()
  /** The write that is about to begin. */
  #nextWrite: Promise<void> | undefined
  #stopped = false

  constructor(options: DeviceManagerOptions) {
    this.#options = options
  }

  /** Takes up what an earlier agent has given out, and lets plugins register, which notice by the socket that it is new. Rejects where it cannot listen. */
  async start(): Promise<void> {
    const { directory, environment } = this.#options
    await mkdir(directory, { recursive: true, mode: 0o750 })
    const known = await readCheckpoint(this.#checkpoint).catch((error: unknown) => {
      environment.logger.warn('it cannot be read which pods have which devices', { path: this.#checkpoint, error })
      return undefined
    })
    for (const allocation of known?.allocations ?? []) this.#allocations.set(allocation)
    const goneAtMs = environment.clock.monotonicMs()
    for (const name of known?.registered.keys() ?? [])
      this.#resources.set(name, { plugin: undefined, devices: new Map(), goneAtMs })
    await removeSockets(directory)
    const register = answering(registrationMethods.register, (request) => this.#register(request))
    this.#server = await serveAtSocket(join(directory, registrationSocket), [register])
  }

  counts(): ReadonlyMap<string, DeviceCount> {
    this.#forgetGone()
    const counts = new Map<string, DeviceCount>()
    for (const name of this.#gone) counts.set(name, { capacity: 0, allocatable: 0 })
    for (const [name, { devices }] of this.#resources) {
      const allocatable = [...devices.values()].filter((isHealthy) => isHealthy).length
      counts.set(name, { capacity: devices.size, allocatable })
    }
    return counts
  }

  async allocate(pod: Pod): Promise<void> {
    const { initContainers = [], containers } = pod.spec
    const all = [...initContainers, ...containers]
    if (!all.some((container) => this.#wishesOf(container).length > 0)) return
    for (const uid of this.#allocations.podUids()) if (!this.#options.isActive(uid)) this.#allocations.release(uid)
    const podUid = podUidOf(pod)
    const reusable = new Map<string, string[]>()
    try {
      for (const container of all) {
        const ends = initContainers.includes(container) && container.restartPolicy !== 'Always'
        await this.#allocateTo(podUid, container, reusable)
        for (const { resource, deviceIds } of this.#allocations.ofContainer(podUid, container.name)) {
          const before = (reusable.get(resource) ?? []).filter((id) => !deviceIds.includes(id))
          reusable.set(resource, ends ? [...before, ...deviceIds] : before)
        }
      }
      await this.#write()
    } catch (error) {
      this.#allocations.release(podUid)
      throw error
    }
  }

  async prepareStart(pod: Pod, container: Container): Promise<ContainerDevices | undefined> {
    const podUid = podUidOf(pod)
    const allocations = this.#allocations.ofContainer(podUid, container.name)
    for (const { resource, deviceIds } of allocations)
      await this.#resources.get(resource)?.plugin?.prepareStart(deviceIds)
    const all = allocations.flatMap(({ parts }) => (parts === undefined ? [] : [parts]))
    return all.length === 0 ? undefined : containerDevices(all, this.#options.environment.logger)
  }

  release(podUid: string): void {
    if (!this.#allocations.release(podUid)) return
    this.#write().catch((error: unknown) => this.#options.environment.logger.warn((error as Error).message))
  }

  async stop(): Promise<void> {
    this.#stopped = true
    this.#server?.close()
    for (const { plugin } of this.#resources.values()) plugin?.close()
    await this.#writing.catch(() => {})
  }

  get #checkpoint(): string {
    return join(this.#options.directory, checkpointName)
  }

  async #register({ version, resourceName, endpoint }: Decoded<typeof registerRequest>): Promise<object> {
    const { directory, environment } = this.#options
    if (version !== supportedVersion) {
      const message = `requested API version "${version}" is not supported by kubelet. Supported version is ["${supportedVersion}"]`
      throw new Error(message)
    }
    if (!isExtendedResource(resourceName)) throw new Error(`the ResourceName "${resourceName}" is invalid`)
    const plugin = new DevicePlugin(join(directory, endpoint), environment.clock)
    try {
      await plugin.connect()
    } catch (error) {
      plugin.close()
      throw new Error(`failed to get device plugin options: ${(error as Error).message}`)
    }
    if (this.#stopped) plugin.close()
    else this.#takeUp(resourceName, plugin)
    return {}
  }

  #takeUp(name: string, plugin: DevicePlugin): void {
    const { clock, logger } = this.#options.environment
    const before = this.#resources.get(name)
    const resource: OfferedResource = { plugin, devices: unhealthy(before?.devices), goneAtMs: undefined }
    this.#resources.set(name, resource)
    before?.plugin?.close()
    const isCurrent = () => this.#resources.get(name) === resource
    plugin.follow({
      onDevices: (devices) => {
        resource.devices = devices
        this.#write().catch((error: unknown) => logger.warn((error as Error).message))
      },
      onEnd: (error) => {
        plugin.close()
        if (!isCurrent() || this.#stopped) return
        logger.warn('a device plugin has gone', { resource: name, error })
        resource.plugin = undefined
        resource.devices = unhealthy(resource.devices)
        resource.goneAtMs = clock.monotonicMs()
      },
    })
  }

  #forgetGone(): void {
    const nowMs = this.#options.environment.clock.monotonicMs()
    for (const [name, { goneAtMs }] of this.#resources) {
      if (goneAtMs === undefined || nowMs - goneAtMs < pluginGoneMaxMs) continue
      this.#resources.delete(name)
      this.#gone.add(name)
    }
  }

  /** How many devices a container wants, of resources that plugins offer, or have offered. */
  #wishesOf({ resources }: Container): readonly (readonly [resource: string, count: number])[] {
    return Object.entries(resources?.limits ?? {}).flatMap(([name, amount]) => {
      const isOffered = this.#resources.has(name) || this.#allocations.has(name)
      return isOffered ? [[name, quantityValue(amount)] as const] : []
    })
  }

  async #allocateTo(
    podUid: string,
    container: Container,
    reusable: ReadonlyMap<string, readonly string[]>,
  ): Promise<void> {
    for (const [resource, count] of this.#wishesOf(container)) {
      const place = { podUid, container: container.name, resource }
      if (count === 0 || this.#allocations.of(place) !== undefined) continue
      const choice = (): DeviceChoice => ({
        resource,
        devices: this.#resources.get(resource)?.devices,
        inUse: this.#allocations.inUse(resource),
        reusable: reusable.get(resource) ?? [],
      })
      await this.#allocateOf(place, choice, count)
    }
  }

  async #allocateOf(
    place: Omit<Allocation, 'deviceIds' | 'parts'>,
    choice: () => DeviceChoice,
    count: number,
  ): Promise<void> {
    const plugin = () => {
      const found = this.#resources.get(place.resource)?.plugin
      if (found === undefined) throw new Error(`unknown Device Plugin ${place.resource}`)
      return found
    }
    const { taken, available } = offeredDevices(choice(), count)
    const preferred = taken.length === count ? [] : await plugin().preferred([...available, ...taken], taken, count)
    // Others may have got some meanwhile. From here to the next line nobody does.
    const deviceIds = chosenDevices(offeredDevices(choice(), count), preferred, count)
    this.#allocations.set({ ...place, deviceIds, parts: undefined })
    const parts = await plugin().allocate(deviceIds)
    this.#allocations.set({ ...place, deviceIds, parts })
  }

  /** One write at a time, each with what is so when it begins: who wants one before that has the same. */
  #write(): Promise<void> {
    const write = async () => {
      this.#nextWrite = undefined
      const registered = [...this.#resources].map(
        ([name, { devices }]) => [name, [...devices].flatMap(([id, isHealthy]) => (isHealthy ? [id] : []))] as const,
      )
      await writeCheckpoint(this.#checkpoint, { allocations: this.#allocations.all(), registered: new Map(registered) })
    }
    if (this.#nextWrite !== undefined) return this.#nextWrite
    const written = this.#writing.then(write).catch((error: Error) => {
      throw new Error(`failed to write checkpoint file "${checkpointName}": ${error.message}`)
    })
    this.#nextWrite = written
    this.#writing = written.catch(() => {})
    return written
  }
}

const unhealthy = (devices: DeviceHealth = new Map()): DeviceHealth =>
  new Map([...devices.keys()].map((id) => [id, false] as const))

/** Sockets of an earlier agent and of plugins that knew it: plugins make theirs anew when they register again. */
async function removeSockets(directory: string): Promise<void> {
  for (const entry of await readdir(directory, { withFileTypes: true }))
    if (!entry.isDirectory() && entry.name !== checkpointName) await rm(join(directory, entry.name), { force: true })
}
