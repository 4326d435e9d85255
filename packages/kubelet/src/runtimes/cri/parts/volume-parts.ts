import { closeSync, mkdirSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Logger, Random } from '@coracle/environment'
import { canMount } from '../../../volumes/memory-volume.ts'
import { utilLinuxProgram } from '../../process/util-linux.ts'
import { type ContainerConfig, ContainerConfigError, type Mount } from '../../runtime.ts'
import { isPart, leadsTo, mountOpened, openPart, type PartOfVolume, unmountPart } from './part-mount.ts'

const mountPrograms: readonly string[] = ['/usr/bin/mount', '/bin/mount']

const hexDigits = '0123456789abcdef'

export interface VolumePartsOptions {
  /** Where parts are mounted, while a container is made. */
  readonly directory: string
  /** The roots of all files as the runtime's processes see them; undefined where it cannot be told which these are. */
  readonly runtimeRoots: () => Promise<readonly string[] | undefined>
  readonly random: Random
  readonly logger: Logger
}

/** Mounts of a container, in which parts of volumes are what they were when they were opened. */
export interface HeldMounts {
  readonly mounts: readonly Mount[]
  /** To be called once the container has its own, or never will. */
  release(): Promise<void>
}

/** The runtime does not see what the node agent mounts, as far as can be told. */
class NotSeenError extends Error {}

/**
 * Parts of volumes (`subPath`) for a runtime, which looks up by itself what a path leads to: a container that has the volume may put a link to
 * anywhere in the place of a part meanwhile (CVE-2021-25741). So a part is opened step by step, without links, and mounted at a path of the node agent's
 * own, which the runtime is given. The mounts are there until the container has been started.
 *
 * Where the runtime does not see such mounts, as it is in another mount namespace, containers would get empty directories. So for each of them it is looked
 * whether the runtime's processes find there what was opened. Where they never have parts are given by their own paths, which is said once.
 */
export class VolumeParts {
  readonly #options: VolumePartsOptions
  /** Whether the runtime has seen a part: then one that it does not see is an error. */
  #hasSeen = false
  /** Whether it has been said that parts are not held. */
  #isTold = false

  constructor(options: VolumePartsOptions) {
    this.#options = options
  }

  /** Unmounts what an earlier life of the node agent has left. */
  async clear(): Promise<void> {
    const names = await readdir(this.#options.directory).catch(() => [])
    await Promise.all(names.map((name) => this.#unmount(join(this.#options.directory, name))))
  }

  /** The mounts of a container as the runtime is to be given them. Rejects with a `ContainerConfigError` where a part is not what it was. */
  async hold({ name, mounts }: Pick<ContainerConfig, 'name' | 'mounts'>): Promise<HeldMounts> {
    const targets: string[] = []
    const release = async () => {
      await Promise.all(targets.map((target) => this.#unmount(target)))
    }
    try {
      const held: Mount[] = []
      for (const mount of mounts) held.push(isPart(mount) ? await this.#heldOf(name, mount, targets) : mount)
      return { mounts: held, release }
    } catch (error) {
      await release()
      if (!(error instanceof NotSeenError)) throw error
      if (!this.#isTold) this.#options.logger.warn(notHeld, { reason: error.message })
      this.#isTold = true
      return { mounts, release }
    }
  }

  /** Rejects with a `NotSeenError` where the runtime would not see it, and has seen none before, or else with a `ContainerConfigError`. */
  async #heldOf(container: string, mount: PartOfVolume, targets: string[]): Promise<Mount> {
    try {
      return await this.#held(mount, targets)
    } catch (error) {
      if (error instanceof NotSeenError && !this.#hasSeen) throw error
      const why = error instanceof Error ? error.message : String(error)
      throw new ContainerConfigError(
        `failed to prepare subPath for volumeMount "${mount.name}" of container "${container}": ${why}`,
      )
    }
  }

  /** Adds where it has mounted the part to `targets`. */
  async #held(mount: PartOfVolume, targets: string[]): Promise<Mount> {
    const { directory, random } = this.#options
    const program = (await canMount()) ? utilLinuxProgram(mountPrograms) : undefined
    if (program === undefined) throw new NotSeenError('to mount takes root on Linux, and util-linux')
    mkdirSync(directory, { recursive: true, mode: 0o700 })
    const target = join(directory, random.string(16, hexDigits))
    const handle = openPart(mount)
    try {
      targets.push(target)
      await mountOpened(handle, target, program)
      if (!(await leadsTo(handle, target))) throw new Error(`${target} has been changed`)
      await this.#checkSeen(handle, target)
      this.#hasSeen = true
      return { ...mount, hostPath: target }
    } finally {
      closeSync(handle)
    }
  }

  async #checkSeen(handle: number, target: string): Promise<void> {
    const roots = await this.#options.runtimeRoots()
    if (roots === undefined) throw new NotSeenError('it cannot be told which process the container runtime is')
    const areSeen = await Promise.all(roots.map((root) => leadsTo(handle, join(root, target))))
    if (!areSeen.every(Boolean)) throw new NotSeenError('the container runtime does not see mounts of this process')
  }

  async #unmount(target: string): Promise<void> {
    try {
      await unmountPart(target, utilLinuxProgram(mountPrograms) ?? 'mount')
    } catch (error) {
      this.#options.logger.warn('a part of a volume is still mounted', { path: target, error })
    }
  }
}

const notHeld =
  'a container that has a volume can have others see other files of this node in place of parts of it (subPath)'
