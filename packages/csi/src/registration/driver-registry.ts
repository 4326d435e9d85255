import type { FSWatcher } from 'node:fs'
import type { Logger, Timer } from '@coracle/environment'
import { DriverConnection } from '../driver/driver-connection.ts'
import { Turns } from '../turns.ts'
import { nodeMethods, registrationMethods } from '../wire/methods.ts'
import { type Announcement, announceDriver, withdrawDriver } from './announce-driver.ts'
import { registrationProblem } from './plugin-info.ts'
import { type FoundSocket, socketsIn, watchDirectory } from './socket-directory.ts'

/** How long those who register have to answer: upstream's dialTimeoutDuration. */
const registrationTimeoutMs = 10_000
/** Who could not be registered is tried again after this, which doubles each time up to the longest. */
const retryFirstMs = 1_000
const retryMaxMs = 60_000
/** Sockets in the directory of registration that are looked at, at most. */
const socketsMax = 256

interface Registration {
  readonly identity: string
  /** Undefined: it has not been taken. */
  driver?: RegisteredDriver
}

export interface RegisteredDriver {
  readonly name: string
  readonly connection: DriverConnection
}

export interface RegistryOptions extends Announcement {
  /** Where drivers put sockets to be found by. */
  readonly directory: string
}

/** The CSI drivers of a node: those whose registrars have sockets in its directory, as upstream's plugin watcher finds them. */
export class DriverRegistry {
  readonly #options: RegistryOptions
  readonly #logger: Logger
  readonly #registrations = new Map<string, Registration>()
  readonly #turns = new Turns()
  #watcher: FSWatcher | undefined
  #retryMs = retryFirstMs
  #retry: Timer | undefined
  #isStopped = false

  constructor(options: RegistryOptions) {
    this.#options = options
    this.#logger = options.environment.logger
  }

  /** Follows the directory from then on. */
  async start(): Promise<void> {
    this.#watcher = await watchDirectory(this.#options.directory, () => void this.look())
  }

  /** Undefined where no such driver is registered. */
  driver(name: string): RegisteredDriver | undefined {
    return [...this.#registrations.values()].find(({ driver }) => driver?.name === name)?.driver
  }

  stop(): void {
    this.#isStopped = true
    this.#retry?.cancel()
    this.#watcher?.close()
    for (const { driver } of this.#registrations.values()) driver?.connection.close()
  }

  /** Registers who has come, and forgets who has gone. Resolves when all have been asked, and never rejects. */
  look(): Promise<void> {
    return this.#turns.take('look', async () => {
      if (this.#isStopped) return
      const found = (await socketsIn(this.#options.directory)).slice(0, socketsMax)
      const isThere = new Set(found.map(({ path, identity }) => `${path} ${identity}`))
      for (const [path, { identity, driver }] of this.#registrations) {
        if (isThere.has(`${path} ${identity}`)) continue
        this.#registrations.delete(path)
        if (driver !== undefined && !found.some((socket) => socket.path === path)) await this.#forget(driver)
        else driver?.connection.close()
      }
      const fresh = found.filter(({ path }) => this.#registrations.get(path)?.driver === undefined)
      await Promise.all(fresh.map((socket) => this.#register(socket)))
      this.#tryAgainLater(fresh.length)
    })
  }

  #tryAgainLater(count: number): void {
    const isWaiting = [...this.#registrations.values()].some(({ driver }) => driver === undefined)
    this.#retry?.cancel()
    if (this.#isStopped || !isWaiting) {
      this.#retryMs = retryFirstMs
      return
    }
    this.#retry = this.#options.environment.clock.setTimer(this.#retryMs, () => void this.look())
    if (count > 0) this.#retryMs = Math.min(2 * this.#retryMs, retryMaxMs)
  }

  async #register({ path, identity }: FoundSocket): Promise<void> {
    const registration: Registration = { identity }
    this.#registrations.set(path, registration)
    const { clock } = this.#options.environment
    const registrar = new DriverConnection(path, clock)
    try {
      const info = await registrar.call(registrationMethods.getInfo, {}, registrationTimeoutMs)
      const problem = registrationProblem(info, path)
      const driver = problem ?? (await this.#take(info.name, info.endpoint || path))
      const error = typeof driver === 'string' ? driver : ''
      await registrar.call(
        registrationMethods.notifyRegistrationStatus,
        { pluginRegistered: error === '', error },
        registrationTimeoutMs,
      )
      if (typeof driver === 'string') {
        this.#logger.warn('a driver of volumes was not registered', { socket: path, error })
        return
      }
      if (this.#isStopped) return driver.connection.close()
      registration.driver = driver
      this.#logger.info('a driver of volumes is registered', { driver: driver.name })
    } catch (error) {
      this.#logger.warn('a driver of volumes could not be asked', { socket: path, error: String(error) })
    } finally {
      registrar.close()
    }
  }

  /** Rejects for nothing that the driver may have done: why it is not taken is a sentence. */
  async #take(name: string, endpoint: string): Promise<RegisteredDriver | string> {
    const connection = new DriverConnection(endpoint, this.#options.environment.clock)
    try {
      const { nodeId, maxVolumesPerNode, accessibleTopology } = await connection.call(nodeMethods.getInfo, {})
      if (nodeId === '') throw new Error('error adding CSI driver node info: driverNodeID must not be empty')
      const topology = accessibleTopology?.segments ?? {}
      const driver = { name, nodeId, maxVolumes: maxVolumesPerNode, topology }
      await this.#turns.take('announce', () => announceDriver(this.#options, driver))
      return { name, connection }
    } catch (error) {
      connection.close()
      const why = error instanceof Error ? error.message : String(error)
      return `RegisterPlugin error -- plugin registration failed with err: ${why}`
    }
  }

  async #forget({ name, connection }: RegisteredDriver): Promise<void> {
    connection.close()
    this.#logger.info('a driver of volumes has gone', { driver: name })
    try {
      await this.#turns.take('announce', () => withdrawDriver(this.#options, name))
    } catch (error) {
      this.#logger.warn('it could not be told that a driver of volumes has gone', { driver: name, error })
    }
  }
}
