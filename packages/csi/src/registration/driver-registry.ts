import type { Logger, Timer } from '@coracle/environment'
import { type DirectoryWatch, watchDirectory } from '@coracle/environment/watch-directory'
import { DriverConnection } from '../driver/driver-connection.ts'
import { Turns } from '../turns.ts'
import { nodeMethods, registrationMethods } from '../wire/methods.ts'
import { type Announcement, announceDriver, announceRoom, withdrawDriver } from './announce-driver.ts'
import { registrationProblem } from './plugin-info.ts'
import { type FoundSocket, makeSocketDirectory, socketsIn } from './socket-directory.ts'

/** How long those who register have to answer: upstream's dialTimeoutDuration. */
const registrationTimeoutMs = 10_000
/** Who could not be registered is tried again after this, which doubles each time up to the longest. */
const retryFirstMs = 1_000
const retryMaxMs = 60_000
/** Sockets in the directory of registration that are looked at, at most. */
const socketsMax = 256

/** Who has a socket in the directory. */
interface Registration {
  readonly identity: string
  /** The driver that it is known to register, or that was registered at this socket before it. */
  name: string | undefined
  /** Resolves when it is known whether it is taken. Undefined: nobody asks at the moment. */
  asking: Promise<void> | undefined
  /** Undefined: it has not been taken. */
  driver: RegisteredDriver | undefined
  /** Why it was not taken, as was told last. */
  told: string
}

export interface RegisteredDriver {
  readonly name: string
  readonly connection: DriverConnection
}

export interface RegistryOptions extends Announcement {
  /** Where drivers put sockets to be found by. */
  readonly directory: string
  /** Aborted when nobody is to be asked any more. */
  readonly signal?: AbortSignal | undefined
  /** Told of each driver that is there from now on. */
  readonly onRegistered?: (name: string) => void
}

/**
 * The CSI drivers of a node: those whose registrars have sockets in its directory, as upstream's plugin watcher finds them. Each is asked by
 * itself: one that does not answer keeps nobody else waiting.
 */
export class DriverRegistry {
  readonly #options: RegistryOptions
  readonly #logger: Logger
  readonly #registrations = new Map<string, Registration>()
  /** Names of drivers that the cluster has been told of, and may have to be told that they are gone. */
  readonly #announced = new Set<string>()
  readonly #turns = new Turns()
  #watch: DirectoryWatch | undefined
  /** The next look, until it begins. */
  #nextLook: Promise<void> | undefined
  #retryMs = retryFirstMs
  #retry: Timer | undefined
  #isStopped = false

  constructor(options: RegistryOptions) {
    this.#options = options
    this.#logger = options.environment.logger
  }

  /** Follows the directory from then on. */
  async start(): Promise<void> {
    const { directory, environment } = this.#options
    await makeSocketDirectory(directory)
    this.#watch = watchDirectory(directory, environment.clock, () => void this.look())
  }

  /** Undefined where no such driver is registered. Of several that are called so, the one that came last. */
  driver(name: string): RegisteredDriver | undefined {
    return [...this.#registrations.values()].findLast(({ driver }) => driver?.name === name)?.driver
  }

  /** Asks a driver anew how many of its volumes fit on the node, and tells the cluster. Rejects where one of these is not to be reached. */
  async tellRoom(name: string): Promise<void> {
    const driver = this.driver(name)
    if (driver === undefined) return
    const { signal } = this.#options
    const { maxVolumesPerNode: maxVolumes } = await driver.connection.call(nodeMethods.getInfo, {}, { signal })
    await this.#turns.take('announce', async () => {
      if (this.driver(name) === driver) await announceRoom(this.#options, { name, maxVolumes })
    })
  }

  stop(): void {
    this.#isStopped = true
    this.#retry?.cancel()
    this.#watch?.close()
    for (const { driver } of this.#registrations.values()) driver?.connection.close()
  }

  /** Registers who has come, and forgets who has gone. Resolves when all have been asked, and never rejects. */
  async look(): Promise<void> {
    this.#nextLook ??= this.#turns.take('look', () => {
      this.#nextLook = undefined
      return this.#look()
    })
    await this.#nextLook
    await Promise.all([...this.#registrations.values()].map(({ asking }) => asking))
  }

  async #look(): Promise<void> {
    if (this.#isStopped) return
    const found = (await socketsIn(this.#options.directory)).slice(0, socketsMax)
    const isThere = new Set(found.map(({ path, identity }) => `${path} ${identity}`))
    const former = new Map<string, string | undefined>()
    for (const [path, { identity, name, driver }] of this.#registrations) {
      if (isThere.has(`${path} ${identity}`)) continue
      this.#registrations.delete(path)
      former.set(path, name)
      driver?.connection.close()
    }
    for (const socket of found) this.#ask(socket, former.get(socket.path))
    await this.#settle()
  }

  /** Has one that is not registered yet asked. */
  #ask(socket: FoundSocket, formerName: string | undefined): void {
    const known = this.#registrations.get(socket.path)
    if (this.#isStopped || known?.driver !== undefined || known?.asking !== undefined) return
    const { identity } = socket
    const fresh = { identity, name: formerName, asking: undefined, driver: undefined, told: '' }
    const registration: Registration = known ?? fresh
    this.#registrations.set(socket.path, registration)
    registration.asking = this.#register(socket.path, registration).then(() => {
      registration.asking = undefined
      return this.#settle()
    })
  }

  /** Tells of drivers that have gone, and looks again later where something is left to be done. */
  async #settle(): Promise<void> {
    for (const name of this.#announced) if (!this.#isExpected(name)) await this.#withdraw(name)
    const registrations = [...this.#registrations.values()]
    const isIncomplete =
      registrations.some(({ driver, asking }) => driver === undefined && asking === undefined) ||
      [...this.#announced].some((name) => !this.#isExpected(name))
    if (this.#isStopped || !isIncomplete) {
      this.#retry?.cancel()
      this.#retry = undefined
      if (registrations.every(({ driver }) => driver !== undefined)) this.#retryMs = retryFirstMs
      return
    }
    if (this.#retry !== undefined) return
    this.#retry = this.#options.environment.clock.setTimer(this.#retryMs, () => {
      this.#retry = undefined
      void this.look()
    })
    this.#retryMs = Math.min(2 * this.#retryMs, retryMaxMs)
  }

  /** Whether the driver is registered, or may be in a moment. */
  #isExpected(name: string): boolean {
    return [...this.#registrations.values()].some(
      (each) => each.driver?.name === name || (each.asking !== undefined && each.name === name),
    )
  }

  /** Never rejects. */
  async #register(path: string, registration: Registration): Promise<void> {
    const { environment, signal } = this.#options
    const registrar = new DriverConnection(path, environment.clock)
    const limits = { timeoutMs: registrationTimeoutMs, signal }
    try {
      const info = await registrar.call(registrationMethods.getInfo, {}, limits)
      registration.name = info.name
      const driver = registrationProblem(info, path) ?? (await this.#take(info.name, info.endpoint || path))
      if (typeof driver !== 'string' && !this.#keep(path, registration, driver)) return
      const error = typeof driver === 'string' ? driver : ''
      if (error !== '') this.#warn('a driver of volumes was not registered', path, registration, error)
      // One that cannot be told is registered all the same, as upstream.
      const status = { pluginRegistered: error === '', error }
      await registrar.call(registrationMethods.notifyRegistrationStatus, status, limits)
    } catch (error) {
      if (this.#isStopped || signal?.aborted === true) return
      this.#warn('a driver of volumes could not be asked', path, registration, String(error))
    } finally {
      registrar.close()
    }
  }

  /** Tells once why one is not taken: a driver that was killed leaves a socket, which is asked again and again. */
  #warn(message: string, socket: string, registration: Registration, error: string): void {
    if (registration.told === error) return
    registration.told = error
    this.#logger.warn(message, { socket, error })
  }

  /** False where whoever has registered the driver has gone meanwhile. */
  #keep(path: string, registration: Registration, driver: RegisteredDriver): boolean {
    if (this.#isStopped || this.#registrations.get(path) !== registration) {
      driver.connection.close()
      return false
    }
    registration.driver = driver
    this.#logger.info('a driver of volumes is registered', { driver: driver.name })
    this.#options.onRegistered?.(driver.name)
    return true
  }

  /** Rejects for nothing that the driver may have done: why it is not taken is a sentence. */
  async #take(name: string, endpoint: string): Promise<RegisteredDriver | string> {
    const { environment, signal } = this.#options
    const connection = new DriverConnection(endpoint, environment.clock)
    try {
      const { nodeId, maxVolumesPerNode, accessibleTopology } = await connection.call(
        nodeMethods.getInfo,
        {},
        { signal },
      )
      if (nodeId === '') throw new Error('error adding CSI driver node info: driverNodeID must not be empty')
      const topology = accessibleTopology?.segments ?? {}
      const driver = { name, nodeId, maxVolumes: maxVolumesPerNode, topology }
      await this.#turns.take('announce', () => {
        this.#announced.add(name)
        return announceDriver(this.#options, driver)
      })
      return { name, connection }
    } catch (error) {
      connection.close()
      const why = error instanceof Error ? error.message : String(error)
      return `RegisterPlugin error -- plugin registration failed with err: ${why}`
    }
  }

  async #withdraw(name: string): Promise<void> {
    try {
      await this.#turns.take('announce', async () => {
        if (this.#isStopped || !this.#announced.has(name) || this.#isExpected(name)) return
        await withdrawDriver(this.#options, name)
        this.#announced.delete(name)
        this.#logger.info('a driver of volumes has gone', { driver: name })
      })
    } catch (error) {
      this.#logger.warn('it could not be told that a driver of volumes has gone', { driver: name, error })
    }
  }
}
