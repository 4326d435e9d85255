import { existsSync } from 'node:fs'
import { mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Client } from '@coracle/client'
import type { NodeDrivers, PluginHandler } from '@coracle/csi'
import { type Environment, LoadOnce } from '@coracle/environment'
import { type DirectoryWatch, watchDirectory } from '@coracle/environment/watch-directory'
import type { KubeletOptions, VolumeDrivers } from '@coracle/kubelet'
import type { ClaimedDevices } from '@coracle/kubelet/devices'
import type { RootDirectory } from './node-runtime.ts'

export interface VolumeDriversOptions extends RootDirectory {
  readonly client: Client
  readonly environment: Environment
  readonly nodeName: string
  /** Whether containers are isolated: a driver of devices can do nothing for others. */
  readonly isolates: boolean
}

/** What the agent of a node whose containers are real is told of volumes. */
export function volumesOfNode(
  options: VolumeDriversOptions,
): Pick<KubeletOptions, 'volumesDirectory' | 'volumeDrivers' | 'claimedDevices'> {
  const volumesDirectory = podsDirectoryOf(options)
  if (!options.isolates) return { volumesDirectory, volumeDrivers: volumeDrivers(options, undefined).drivers }
  const claims = new LoadOnce(() => openClaims(options))
  const { drivers, ready } = volumeDrivers(options, claims)
  return { volumesDirectory, volumeDrivers: drivers, claimedDevices: claimedDevices(options, claims, ready) }
}

const podsDirectoryOf = ({ rootDirectory }: VolumeDriversOptions): string => join(rootDirectory, 'pods')

/** Devices that pods have by claims, and the drivers that prepare them. */
async function openClaims(options: VolumeDriversOptions) {
  const { environment } = options
  const { ClaimPreparer, DeviceDrivers, driverType } = await environment.clock.hold(import('@coracle/kubelet/devices'))
  const drivers = new DeviceDrivers(options)
  const preparer = new ClaimPreparer({ path: claimsPath(options), driver: (name) => drivers.driver(name) })
  const plugins: ReadonlyMap<string, PluginHandler> = new Map([[driverType, drivers]])
  return { preparer, drivers, plugins }
}

const claimsPath = ({ rootDirectory }: VolumeDriversOptions): string => join(rootDirectory, 'claimed-devices.json')

/** Loaded with the first pod that has such. `ready` resolves when drivers that are there have registered. */
function claimedDevices(
  options: VolumeDriversOptions,
  claims: LoadOnce<Awaited<ReturnType<typeof openClaims>>>,
  ready: () => Promise<unknown>,
): ClaimedDevices {
  const preparer = async () => (await claims.get()).preparer
  const isNeeded = () => claims.begun !== undefined || existsSync(claimsPath(options))
  return {
    async prepare(...what) {
      await ready()
      return (await preparer()).prepare(...what)
    },
    async cdiNames(pod, container) {
      return container.resources?.claims === undefined ? [] : (await preparer()).cdiNames(pod, container)
    },
    async unprepare(podUid) {
      if (!isNeeded() || !(await (await preparer()).podUids()).includes(podUid)) return
      await ready()
      await (await preparer()).unprepare(podUid)
    },
    podUids: async () => (isNeeded() ? (await preparer()).podUids() : []),
  }
}

/** CSI drivers on a node: what looks after them is loaded when one registers, or a pod has something of one. So is what devices are claimed by. */
function volumeDrivers(
  options: VolumeDriversOptions,
  claims: LoadOnce<Awaited<ReturnType<typeof openClaims>>> | undefined,
): { readonly drivers: VolumeDrivers; readonly ready: () => Promise<unknown> } {
  const { rootDirectory, owner, environment } = options
  const registryDirectory = join(rootDirectory, 'plugins_registry')
  const podsDirectory = podsDirectoryOf(options)
  let signal: AbortSignal | undefined
  let watch: DirectoryWatch | undefined
  const drivers = new LoadOnce(async (): Promise<NodeDrivers> => {
    const { startNodeDrivers } = await environment.clock.hold(import('@coracle/csi'))
    const otherPlugins = (await claims?.get())?.plugins ?? new Map()
    const started = await startNodeDrivers({ ...options, registryDirectory, podsDirectory, signal, otherPlugins })
    watch?.close()
    return started
  })
  const loaded = (): Promise<NodeDrivers> => drivers.get()
  const loadInBackground = (): void => {
    loaded().catch((error: unknown) => environment.logger.error('drivers of volumes cannot be used', { error }))
  }
  const volumes: VolumeDrivers = {
    async start(stopping) {
      signal = stopping
      if (owner !== undefined) {
        const { takeRootDirectory } = await environment.clock.hold(import('./take-root-directory.ts'))
        await takeRootDirectory(rootDirectory, owner)
      }
      await mkdir(registryDirectory, { recursive: true, mode: 0o750 })
      // It is told as well when the directory goes.
      const look = async () => {
        if ((await readdir(registryDirectory).catch(() => [])).length > 0) loadInBackground()
      }
      watch = watchDirectory(registryDirectory, environment.clock, () => void look())
      await look()
    },
    mount: async (...what) => (await loaded()).mount(...what),
    repeats: async (driver) => (await loaded()).repeats(driver),
    repeat: async (...what) => (await loaded()).repeat(...what),
    async unmount(podUid) {
      // What is loaded may know of the pod what is not on disk.
      if (drivers.begun !== undefined || existsSync(join(podsDirectory, podUid, 'volumes')))
        await (await loaded()).unmount(podUid)
    },
    async stop(stopOptions) {
      watch?.close()
      const started = await drivers.begun?.catch(() => undefined)
      await started?.stop(stopOptions)
      const opened = await claims?.begun?.catch(() => undefined)
      opened?.drivers.stop()
    },
  }
  return { drivers: volumes, ready: loaded }
}
