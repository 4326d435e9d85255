import type { PersistentVolume, Pod, Volume } from '@coracle/api'
import type { Client } from '@coracle/client'
import type { Environment } from '@coracle/environment'
import { AllocatableUpdates } from './registration/allocatable-updates.ts'
import { DriverRegistry } from './registration/driver-registry.ts'
import type { PluginHandler } from './registration/plugin-registry.ts'
import { type BroughtVolume, DriverVolumes } from './volumes/driver-volumes.ts'
import type { VolumePlaces } from './volumes/volume-paths.ts'

/** What the drivers of a node are made from. */
export interface NodeDriversOptions extends VolumePlaces {
  /** Acts as the node. */
  readonly client: Client
  readonly environment: Environment
  readonly nodeName: string
  /** Where drivers put the sockets by which they are found. */
  readonly registryDirectory: string
  /** Plugins of other types that register there, by type. Absent: they are refused. */
  readonly otherPlugins?: ReadonlyMap<string, PluginHandler>
  /** Aborted when the node agent is about to stop: what drivers have been asked for is given up then, and what is not done yet stays so. */
  readonly signal?: AbortSignal | undefined
}

/** The CSI drivers of a node, and the volumes that its pods have of them. */
export interface NodeDrivers {
  /** Brings a volume of a pod, which may be a persistent one, to the node. May be asked again where it is there. */
  mount(pod: Pod, volume: Volume, persistent: PersistentVolume | undefined): Promise<BroughtVolume>
  /** Whether a driver wants to be asked again, from time to time, for volumes that are there (`requiresRepublish`). */
  repeats(driver: string): Promise<boolean>
  /** Asks it again for a volume that a pod has. Gives what is wrong with that, if anything is. */
  repeat(pod: Pod, volume: Volume, persistent: PersistentVolume | undefined): Promise<string | undefined>
  /** Takes the volumes of a pod away. Rejects where that cannot be done now: it is to be asked again. */
  unmount(podUid: string): Promise<void>
  /** Stops following drivers. With `unmounts` all volumes are taken away before, as on a node that is switched off. */
  stop(options: { readonly unmounts: boolean }): Promise<void>
}

/** For so long it is waited for drivers that are there at the start and take long to say who they are. */
const firstLookMaxMs = 10_000

/** Registers the drivers that are there. Resolves when they have been asked, or take too long; others are registered as they come. */
export async function startNodeDrivers(options: NodeDriversOptions): Promise<NodeDrivers> {
  const registry = new DriverRegistry({
    ...options,
    directory: options.registryDirectory,
    onRegistered: (name) => updates.follow(name),
  })
  const tellRoom = (name: string) => registry.tellRoom(name)
  const isRegistered = (name: string) => registry.driver(name) !== undefined
  const updates = new AllocatableUpdates({ ...options, isRegistered, update: tellRoom })
  const volumes = new DriverVolumes({ ...options, driver: (name) => registry.driver(name), tellRoom })
  await registry.start()
  updates.start()
  await atMost(firstLookMaxMs, registry.look(), options.environment)
  await volumes
    .tellInUse()
    .catch((error: unknown) =>
      options.environment.logger.warn('it could not be told which volumes are in use', { error }),
    )
  return {
    mount: (...what) => volumes.mount(...what),
    repeats: (driver) => volumes.repeats(driver),
    repeat: (...what) => volumes.repeat(...what),
    unmount: (podUid) => volumes.unmount(podUid),
    async stop({ unmounts }) {
      if (unmounts) await volumes.unmountAll()
      await updates.stop()
      registry.stop()
    },
  }
}

/** Resolves with the work, or after this time. */
function atMost(timeMs: number, work: Promise<void>, { clock }: Environment): Promise<void> {
  return new Promise((resolve) => {
    const timer = clock.setTimer(timeMs, resolve)
    void work.finally(() => {
      timer.cancel()
      resolve()
    })
  })
}
