import type { PersistentVolume, Pod, Volume } from '@coracle/api'
import type { MountedVolume } from './claimed-volumes.ts'

/** Why a volume is not there. */
export interface VolumeProblem {
  readonly problem: string
  /** Whether that is as it should be for a while yet. */
  readonly isWaiting: boolean
  /** The reason for which the node does not take the pod on, where that is so. */
  readonly refusal?: string
}

/** Drivers that bring volumes to a node, which is more than to find a directory there (`@coracle/csi`). */
export interface VolumeDrivers {
  /**
   * Takes up work. Resolves at once where there are no drivers. `stopping` is aborted before the agent waits for what is under way: what a
   * driver does not answer to ends then.
   */
  start(stopping: AbortSignal): Promise<void>
  /** Brings a volume of a pod, which may be a persistent one, or says why it is not there. May be asked again where it is there. */
  mount(pod: Pod, volume: Volume, persistent: PersistentVolume | undefined): Promise<MountedVolume | VolumeProblem>
  /** Whether a driver wants to be asked again, from time to time, for volumes that are there: what they hold may have changed. */
  repeats(driver: string): Promise<boolean>
  /** Asks it again for a volume that a pod has. Gives what is wrong with that, if anything is. */
  repeat(pod: Pod, volume: Volume, persistent: PersistentVolume | undefined): Promise<string | undefined>
  /** Takes those of a pod away. Rejects where that cannot be done now: it is to be asked again. */
  unmount(podUid: string): Promise<void>
  /** With `unmounts` all volumes are taken away before, as on a node that is switched off. */
  stop(options: { readonly unmounts: boolean }): Promise<void>
}
