import { claimNameOf, type Pod, type Volume } from '@coracle/api'
import type { Client } from '@coracle/client'
import { type Environment, keepProcess, type Timer } from '@coracle/environment'
import { podKey, podUidOf } from '../pod/pod-name.ts'
import { boundVolume, type MountedVolume, type MountedVolumes } from './claimed-volumes.ts'
import { giveOrRefuse } from './mount-volumes.ts'
import type { VolumeDrivers } from './volume-drivers.ts'

/** How often drivers are asked again: upstream's sync period. */
export const repeatPeriodMs = 60_000

export interface VolumeRepeaterParts {
  readonly environment: Environment
  readonly client: Client
  readonly drivers: Pick<VolumeDrivers, 'repeats' | 'repeat'>
  /** Those of the node that have not ended, with where their volumes are. */
  readonly pods: () => readonly { readonly pod: Pod; readonly volumes: MountedVolumes }[]
  /** Whether volumes may be given to the groups of their pods. */
  readonly hasOwners: boolean
  /** Told once of what is wrong with a volume. */
  readonly onProblem: (pod: Pod, problem: string) => void
}

/**
 * Has drivers that want it (`requiresRepublish`) bring the volumes of pods again, as their contents, or the tokens of the pods, change. A driver that
 * does not answer holds up nothing but its own volume; pods go on with what they have. Nothing is done while no pod has a volume of a driver.
 */
export class VolumeRepeater {
  readonly #parts: VolumeRepeaterParts
  readonly #underWay = new Set<string>()
  /** What was told last, by volume. */
  readonly #told = new Map<string, string>()
  #timer: Timer | undefined
  #isStopped = false

  constructor(parts: VolumeRepeaterParts) {
    this.#parts = parts
  }

  /** A pod may have got a volume of a driver. */
  wake(): void {
    if (this.#isStopped || this.#timer !== undefined) return
    const timer = this.#parts.environment.clock.setTimer(repeatPeriodMs, () => this.#round(), { housekeeping: true })
    this.#timer = timer
  }

  stop(): void {
    this.#isStopped = true
    this.#timer?.cancel()
  }

  #round(): void {
    this.#timer = undefined
    const brought = this.#brought()
    const keys = new Set(brought.map(({ key }) => key))
    for (const key of this.#told.keys()) if (!keys.has(key)) this.#told.delete(key)
    const wanted = new Map<string, Promise<boolean>>()
    for (const each of brought) {
      const { driver } = each
      if (this.#underWay.has(each.key)) continue
      const isWanted = wanted.get(driver) ?? this.#parts.drivers.repeats(driver)
      wanted.set(driver, isWanted)
      void this.#repeat(each, isWanted)
    }
    if (brought.length > 0) this.wake()
  }

  #brought(): readonly BroughtVolume[] {
    return this.#parts.pods().flatMap(({ pod, volumes }) => {
      if (pod.metadata.deletionTimestamp !== undefined) return []
      return (pod.spec.volumes ?? []).flatMap((volume) => {
        const found = volumes.get(volume.name)
        const { driver } = found ?? {}
        const key = `${podUidOf(pod)} ${volume.name}`
        return found === undefined || driver === undefined ? [] : [{ key, pod, volume, found, driver }]
      })
    })
  }

  /** Never rejects. */
  async #repeat({ key, pod, volume, found }: BroughtVolume, isWanted: Promise<boolean>): Promise<void> {
    const { environment, client, drivers, hasOwners, onProblem } = this.#parts
    const release = keepProcess(environment.clock)
    this.#underWay.add(key)
    try {
      if (!(await isWanted)) return
      const claimName = claimNameOf(pod, volume)
      const persistent = claimName === undefined ? undefined : await boundVolume(pod, volume, claimName, client)
      const problem = await drivers.repeat(pod, volume, persistent)
      if (problem === undefined && hasOwners && found.keepsGroup !== true) await giveOrRefuse(volume, found, pod)
      if (problem !== undefined && this.#told.get(key) !== problem) onProblem(pod, problem)
      if (problem === undefined) this.#told.delete(key)
      else this.#told.set(key, problem)
    } catch (error) {
      if (this.#isStopped) return
      environment.logger.warn('a volume could not be brought again, trying later', { pod: podKey(pod), error })
    } finally {
      this.#underWay.delete(key)
      release()
    }
  }
}

interface BroughtVolume {
  readonly key: string
  readonly pod: Pod
  readonly volume: Volume
  readonly found: MountedVolume
  readonly driver: string
}
