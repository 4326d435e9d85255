import { resourceSlices } from '@coracle/api'
import type { Client } from '@coracle/client'
import type { Environment, Timer } from '@coracle/environment'
import { DeviceDriver } from './device-driver.ts'
import { type Service, services } from './messages.ts'

/** The type that drivers of devices register as. */
export const driverType = 'DRAPlugin'
/** What a driver has offered is taken back when it has been gone for so long, as is tried again: upstream's wipingDelay. */
export const wipingDelayMs = 30_000

export interface DeviceDriversOptions {
  /** Acts as the node. */
  readonly client: Client
  readonly environment: Environment
  readonly nodeName: string
}

/** The drivers of devices that have registered with a node: what a registry of plugins has to know of their type. */
export class DeviceDrivers {
  readonly noun = 'a driver of devices'
  readonly #options: DeviceDriversOptions
  /** Those that are there, by name, the one that came last at the end. */
  readonly #drivers = new Map<string, readonly DeviceDriver[]>()
  /** Those that have gone, and whose slices are to go. */
  readonly #wipes = new Map<string, Timer>()
  #stopped = false

  constructor(options: DeviceDriversOptions) {
    this.#options = options
  }

  /** Undefined where none of this name is registered. */
  driver(name: string): DeviceDriver | undefined {
    return this.#drivers.get(name)?.at(-1)
  }

  problem(name: string, endpoint: string, versions: readonly string[]): string | undefined {
    if (serviceOf(versions) !== undefined) return undefined
    const why =
      versions.length === 0
        ? 'empty list of supported gRPC services (aka supported versions)'
        : `none of services supported by the plugin (${quoted(versions)}) are supported by the kubelet (${quoted(services)})`
    return `invalid supported gRPC versions of DRA driver plugin ${name} at endpoint ${endpoint}: ${why}`
  }

  async take(name: string, endpoint: string, versions: readonly string[]): Promise<DeviceDriver> {
    const service = serviceOf(versions) ?? services[0]
    const driver = new DeviceDriver(name, endpoint, service, this.#options.environment.clock, () => {
      const all = this.#drivers.get(name)
      if (all !== undefined)
        this.#drivers.set(
          name,
          all.filter((each) => each !== driver),
        )
    })
    this.#drivers.set(name, [...(this.#drivers.get(name) ?? []), driver])
    return driver
  }

  registered(name: string): void {
    this.#wipes.get(name)?.cancel()
    this.#wipes.delete(name)
  }

  names(): readonly string[] {
    return [...this.#drivers.keys()]
  }

  /** One that is started anew is back in a moment, and finds its slices. */
  async withdraw(name: string): Promise<void> {
    this.#drivers.delete(name)
    this.#wipeLater(name)
  }

  #wipeLater(name: string): void {
    if (this.#stopped || this.#wipes.has(name)) return
    this.#wipes.set(
      name,
      this.#options.environment.clock.setTimer(wipingDelayMs, () => void this.#wipe(name)),
    )
  }

  stop(): void {
    this.#stopped = true
    for (const timer of this.#wipes.values()) timer.cancel()
    this.#wipes.clear()
  }

  /** Nobody is to be given devices that nobody prepares. Never rejects. */
  async #wipe(name: string): Promise<void> {
    this.#wipes.delete(name)
    if (this.#stopped || this.driver(name) !== undefined) return
    const { client, nodeName, environment } = this.#options
    const fieldSelector = `spec.driver=${name},spec.nodeName=${nodeName}`
    const because = `driver ${name} of devices is no longer registered with the node`
    try {
      await client.deleteCollection(resourceSlices, { fieldSelector }, { because })
    } catch (error) {
      environment.logger.warn('what a driver of devices has offered could not be taken back, will try again', {
        driver: name,
        error,
      })
      if (this.driver(name) === undefined) this.#wipeLater(name)
    }
  }
}

const serviceOf = (versions: readonly string[]): Service | undefined =>
  services.find((service) => versions.includes(service))

/** As Go's `%q` writes a list. */
const quoted = (texts: readonly string[]): string => `[${texts.map((text) => JSON.stringify(text)).join(' ')}]`
