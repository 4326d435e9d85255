import { DriverConnection } from '../driver/driver-connection.ts'
import { Turns } from '../turns.ts'
import { nodeMethods } from '../wire/methods.ts'
import { type Announcement, announceDriver, announceRoom, withdrawDriver } from './announce-driver.ts'
import { type PluginHandler, PluginRegistry, type TakenPlugin } from './plugin-registry.ts'
import { csiPlugin, versionsProblem } from './plugin-versions.ts'

export interface RegisteredDriver extends TakenPlugin {
  readonly connection: DriverConnection
}

export interface RegistryOptions extends Announcement {
  /** Where drivers put sockets to be found by. */
  readonly directory: string
  /** Aborted when nobody is to be asked any more. */
  readonly signal?: AbortSignal | undefined
  /** Told of each driver that is there from now on. */
  readonly onRegistered?: (name: string) => void
  /** Plugins of other types that register in the same directory, by type. Absent: they are refused. */
  readonly otherPlugins?: ReadonlyMap<string, PluginHandler> | undefined
}

/** The CSI drivers of a node, of which its CSINode and its Node say that they are there. */
export class DriverRegistry {
  readonly #options: RegistryOptions
  readonly #plugins: PluginRegistry
  /** Names of drivers that the cluster has been told of, and may have to be told that they are gone. */
  readonly #announced = new Set<string>()
  /** The node says one thing after the other. */
  readonly #turns = new Turns()

  constructor(options: RegistryOptions) {
    this.#options = options
    const drivers: PluginHandler = {
      noun: 'a driver of volumes',
      problem: (_name, _endpoint, versions) => versionsProblem(versions),
      take: (name, endpoint) => this.#take(name, endpoint),
      registered: (name) => options.onRegistered?.(name),
      names: () => [...this.#announced],
      withdraw: (name) => this.#withdraw(name),
    }
    this.#plugins = new PluginRegistry({
      ...options,
      handlers: new Map([...(options.otherPlugins ?? []), [csiPlugin, drivers]]),
    })
  }

  /** Follows the directory from then on. */
  start(): Promise<void> {
    return this.#plugins.start()
  }

  /** Undefined where no such driver is registered. Of several that are called so, the one that came last. */
  driver(name: string): RegisteredDriver | undefined {
    return this.#plugins.plugin(csiPlugin, name) as RegisteredDriver | undefined
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
    this.#plugins.stop()
  }

  /** Registers who has come, and forgets who has gone. Resolves when all have been asked, and never rejects. */
  look(): Promise<void> {
    return this.#plugins.look()
  }

  async #take(name: string, endpoint: string): Promise<RegisteredDriver> {
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
      return { name, connection, close: () => connection.close() }
    } catch (error) {
      connection.close()
      throw error
    }
  }

  async #withdraw(name: string): Promise<void> {
    await this.#turns.take('announce', async () => {
      if (!this.#announced.has(name)) return
      await withdrawDriver(this.#options, name)
      this.#announced.delete(name)
    })
  }
}
