import { existsSync } from 'node:fs'
import { mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Client } from '@coracle/client'
import type { NodeDrivers } from '@coracle/csi'
import { type Environment, LoadOnce } from '@coracle/environment'
import { type DirectoryWatch, watchDirectory } from '@coracle/environment/watch-directory'
import type { KubeletOptions, VolumeDrivers } from '@coracle/kubelet'
import type { RootDirectory } from './node-runtime.ts'

export interface VolumeDriversOptions extends RootDirectory {
  readonly client: Client
  readonly environment: Environment
  readonly nodeName: string
}

/** What the agent of a node whose containers are real is told of volumes. */
export const volumesOfNode = (
  options: VolumeDriversOptions,
): Pick<KubeletOptions, 'volumesDirectory' | 'volumeDrivers'> => ({
  volumesDirectory: podsDirectoryOf(options),
  volumeDrivers: volumeDrivers(options),
})

const podsDirectoryOf = ({ rootDirectory }: VolumeDriversOptions): string => join(rootDirectory, 'pods')

/** CSI drivers on a node: what looks after them is loaded when one registers, or a pod has something of one. */
function volumeDrivers(options: VolumeDriversOptions): VolumeDrivers {
  const { rootDirectory, owner, environment } = options
  const registryDirectory = join(rootDirectory, 'plugins_registry')
  const podsDirectory = podsDirectoryOf(options)
  let signal: AbortSignal | undefined
  let watch: DirectoryWatch | undefined
  const drivers = new LoadOnce(async (): Promise<NodeDrivers> => {
    const { startNodeDrivers } = await environment.clock.hold(import('@coracle/csi'))
    const started = await startNodeDrivers({ ...options, registryDirectory, podsDirectory, signal })
    watch?.close()
    return started
  })
  const loaded = (): Promise<NodeDrivers> => drivers.get()
  const loadInBackground = (): void => {
    loaded().catch((error: unknown) => environment.logger.error('drivers of volumes cannot be used', { error }))
  }
  return {
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
    },
  }
}
