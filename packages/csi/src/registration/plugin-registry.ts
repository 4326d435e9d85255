import type { Environment, Logger, Timer } from '@coracle/environment'
import { type DirectoryWatch, watchDirectory } from '@coracle/environment/watch-directory'
import { DriverConnection } from '../driver/driver-connection.ts'
import { Turns } from '../turns.ts'
import { registrationMethods } from '../wire/methods.ts'
import { type FoundSocket, makeSocketDirectory, socketsIn } from './socket-directory.ts'

/** How long those who register have to answer: upstream's dialTimeoutDuration. */
const registrationTimeoutMs = 10_000
/** Who could not be registered is tried again after this, which doubles each time up to the longest. */
const retryFirstMs = 1_000
const retryMaxMs = 60_000
/** Sockets in the directory of registration that are looked at, at most. */
const socketsMax = 256

/** A plugin that its node uses. */
export interface TakenPlugin {
  readonly name: string
  /** It has gone, or the node has no use for it any more. */
  close(): void
}

/** What plugins of one type are to their node. */
export interface PluginHandler {
  /** Such a plugin, in a sentence of the log: `a driver of volumes`. */
  readonly noun: string
  /** Why one that speaks these versions is not taken, in the words of upstream's kubelet; undefined where it may be. */
  problem(name: string, endpoint: string, versions: readonly string[]): string | undefined
  /** Takes one up. Rejects where it cannot be used. */
  take(name: string, endpoint: string, versions: readonly string[]): Promise<TakenPlugin>
  /** Told of one that is there from now on. */
  registered(name: string): void
  /** Those that were taken up, or may have been, and have not been withdrawn. */
  names(): readonly string[]
  /** Nothing of this name is registered any more. Rejects where the cluster cannot be told that now: it is called again later. */
  withdraw(name: string): Promise<void>
}

/** Who has a socket in the directory. */
interface Registration {
  readonly identity: string
  /** The type and the name that it is known to register, or that were registered at this socket before it. */
  key: PluginKey | undefined
  /** Resolves when it is known whether it is taken. Undefined: nobody asks at the moment. */
  asking: Promise<void> | undefined
  /** Undefined: it has not been taken. */
  plugin: TakenPlugin | undefined
  /** Why it was not taken, as was told last. */
  told: string
}

interface PluginKey {
  readonly type: string
  readonly name: string
}

export interface PluginRegistryOptions {
  readonly environment: Environment
  /** Where plugins put sockets to be found by. */
  readonly directory: string
  /** By the type that plugins register as, such as `CSIPlugin`. Others are refused. */
  readonly handlers: ReadonlyMap<string, PluginHandler>
  /** Aborted when nobody is to be asked any more. */
  readonly signal?: AbortSignal | undefined
}

/**
 * The plugins of a node: those whose registrars have sockets in its directory, as upstream's plugin watcher finds them. Each is asked by
 * itself: one that does not answer keeps nobody else waiting.
 */
export class PluginRegistry {
  readonly #options: PluginRegistryOptions
  readonly #logger: Logger
  readonly #registrations = new Map<string, Registration>()
  readonly #turns = new Turns()
  #watch: DirectoryWatch | undefined
  /** The next look, until it begins. */
  #nextLook: Promise<void> | undefined
  #retryMs = retryFirstMs
  #retry: Timer | undefined
  #isStopped = false

  constructor(options: PluginRegistryOptions) {
    this.#options = options
    this.#logger = options.environment.logger
  }

  /** Follows the directory from then on. */
  async start(): Promise<void> {
    const { directory, environment } = this.#options
    await makeSocketDirectory(directory)
    this.#watch = watchDirectory(directory, environment.clock, () => void this.look())
  }

  /** Undefined where no such plugin is registered. Of several that are called so, the one that came last. */
  plugin(type: string, name: string): TakenPlugin | undefined {
    return [...this.#registrations.values()].findLast((each) => each.plugin?.name === name && each.key?.type === type)
      ?.plugin
  }

  stop(): void {
    this.#isStopped = true
    this.#retry?.cancel()
    this.#watch?.close()
    for (const { plugin } of this.#registrations.values()) plugin?.close()
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
    const former = new Map<string, PluginKey | undefined>()
    for (const [path, { identity, key, plugin }] of this.#registrations) {
      if (isThere.has(`${path} ${identity}`)) continue
      this.#registrations.delete(path)
      former.set(path, key)
      plugin?.close()
    }
    for (const socket of found) this.#ask(socket, former.get(socket.path))
    await this.#settle()
  }

  /** Has one that is not registered yet asked. */
  #ask(socket: FoundSocket, former: PluginKey | undefined): void {
    const known = this.#registrations.get(socket.path)
    if (this.#isStopped || known?.plugin !== undefined || known?.asking !== undefined) return
    const { identity } = socket
    const fresh = { identity, key: former, asking: undefined, plugin: undefined, told: '' }
    const registration: Registration = known ?? fresh
    this.#registrations.set(socket.path, registration)
    registration.asking = this.#register(socket.path, registration).then(() => {
      registration.asking = undefined
      return this.#settle()
    })
  }

  /** Withdraws plugins that have gone, and looks again later where something is left to be done. */
  async #settle(): Promise<void> {
    for (const gone of this.#gone()) await this.#withdraw(gone)
    const registrations = [...this.#registrations.values()]
    const isIncomplete =
      registrations.some(({ plugin, asking }) => plugin === undefined && asking === undefined) ||
      this.#gone().length > 0
    if (this.#isStopped || !isIncomplete) {
      this.#retry?.cancel()
      this.#retry = undefined
      if (registrations.every(({ plugin }) => plugin !== undefined)) this.#retryMs = retryFirstMs
      return
    }
    if (this.#retry !== undefined) return
    this.#retry = this.#options.environment.clock.setTimer(this.#retryMs, () => {
      this.#retry = undefined
      void this.look()
    })
    this.#retryMs = Math.min(2 * this.#retryMs, retryMaxMs)
  }

  #gone(): readonly PluginKey[] {
    const known = [...this.#options.handlers].flatMap(([type, handler]) =>
      handler.names().map((name) => ({ type, name })),
    )
    return known.filter((key) => !this.#isExpected(key))
  }

  /** Whether the plugin is registered, or may be in a moment. */
  #isExpected({ type, name }: PluginKey): boolean {
    return [...this.#registrations.values()].some(
      ({ key, plugin, asking }) =>
        key?.type === type && key.name === name && (plugin !== undefined || asking !== undefined),
    )
  }

  /** Never rejects. */
  async #register(path: string, registration: Registration): Promise<void> {
    const { environment, signal, handlers } = this.#options
    const registrar = new DriverConnection(path, environment.clock)
    const limits = { timeoutMs: registrationTimeoutMs, signal }
    try {
      const { type, name, endpoint, supportedVersions } = await registrar.call(registrationMethods.getInfo, {}, limits)
      registration.key = { type, name }
      const handler = handlers.get(type)
      const taken =
        handler === undefined
          ? `RegisterPlugin error -- no handler registered for plugin type: ${type} at socket ${path}`
          : await taking(handler, name, endpoint || path, supportedVersions)
      if (typeof taken !== 'string' && !this.#keep(path, registration, taken)) return
      const error = typeof taken === 'string' ? taken : ''
      if (error !== '') this.#warn(`${handler?.noun ?? 'a plugin'} was not registered`, path, registration, error)
      // One that cannot be told is registered all the same, as upstream.
      const status = { pluginRegistered: error === '', error }
      await registrar.call(registrationMethods.notifyRegistrationStatus, status, limits)
    } catch (error) {
      if (this.#isStopped || signal?.aborted === true) return
      this.#warn('a plugin could not be asked', path, registration, String(error))
    } finally {
      registrar.close()
    }
  }

  /** Tells once why one is not taken: a plugin that was killed leaves a socket, which is asked again and again. */
  #warn(message: string, socket: string, registration: Registration, error: string): void {
    if (registration.told === error) return
    registration.told = error
    this.#logger.warn(message, { socket, error })
  }

  /** False where whoever has registered the plugin has gone meanwhile. */
  #keep(path: string, registration: Registration, plugin: TakenPlugin): boolean {
    if (this.#isStopped || this.#registrations.get(path) !== registration) {
      plugin.close()
      return false
    }
    registration.plugin = plugin
    const handler = this.#options.handlers.get(registration.key?.type ?? '')
    this.#logger.info(`${handler?.noun} is registered`, { driver: plugin.name })
    handler?.registered(plugin.name)
    return true
  }

  async #withdraw(key: PluginKey): Promise<void> {
    const handler = this.#options.handlers.get(key.type)
    try {
      await this.#turns.take(`withdraw ${key.type} ${key.name}`, async () => {
        if (this.#isStopped || this.#isExpected(key) || handler?.names().includes(key.name) !== true) return
        await handler.withdraw(key.name)
        this.#logger.info(`${handler.noun} has gone`, { driver: key.name })
      })
    } catch (error) {
      this.#logger.warn(`it could not be told that ${handler?.noun} has gone`, { driver: key.name, error })
    }
  }
}

/** Rejects for nothing that the plugin may have done: why it is not taken is a sentence. */
async function taking(
  handler: PluginHandler,
  name: string,
  endpoint: string,
  versions: readonly string[],
): Promise<TakenPlugin | string> {
  const problem = handler.problem(name, endpoint, versions)
  if (problem !== undefined) return `RegisterPlugin error -- plugin validation failed with err: ${problem}`
  try {
    return await handler.take(name, endpoint, versions)
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    return `RegisterPlugin error -- plugin registration failed with err: ${why}`
  }
}
