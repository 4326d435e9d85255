import { chmod, lstat, mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'

/** Names of volumes become names of directories: nothing that could lead elsewhere. */
const namePattern = /^[a-z0-9][a-z0-9.-]{0,252}$/

/**
 * Directories below the data directory that are volumes, for each node one that holds them: `kubelet/<node>/volumes/<volume>`. Containers
 * may write to all of it, so nothing of what is found there is believed: links are not followed.
 */
export class LocalVolumeDirectories {
  readonly #dataDirectory: string

  constructor(dataDirectory: string) {
    this.#dataDirectory = resolve(dataDirectory)
  }

  /** Makes the directory of a volume, where it is not there yet, and gives its path. */
  async create(nodeName: string, volumeName: string): Promise<string> {
    const path = this.#pathOf(nodeName, volumeName)
    await mkdir(this.#rootOf(nodeName), { recursive: true, mode: 0o700 })
    await this.#checkRoot(nodeName)
    if (!(await isThere(path))) await this.#make(path)
    await checkDirectory(path)
    return path
  }

  /**
   * Whoever a container runs as may write to its volume, as with upstream's provisioners of local paths; who has it may close it to others. What it
   * lies in is closed to all others of the host.
   */
  async #make(path: string): Promise<void> {
    const fresh = await mkdtemp(join(dirname(path), '.new-'))
    await chmod(fresh, 0o777)
    await rename(fresh, path)
  }

  /**
   * Removes the directory of a volume and all that is in it; what links in it point to stays. That it is gone already is fine. Rejects
   * where `path`, which the volume says, is not where that directory is: such a path is never removed.
   */
  async remove(nodeName: string, volumeName: string, path: string): Promise<void> {
    const own = this.#pathOf(nodeName, volumeName)
    if (path !== own) {
      throw new Error(
        `volume ${volumeName} is not deleted: it says it is ${path}, and the directory made for it is ${own}`,
      )
    }
    if (!(await isThere(own))) return
    await this.#checkRoot(nodeName)
    await checkDirectory(own)
    await rm(own, { recursive: true, force: true })
  }

  #rootOf(nodeName: string): string {
    return join(this.#dataDirectory, 'kubelet', nodeName, 'volumes')
  }

  #pathOf(nodeName: string, volumeName: string): string {
    if (!namePattern.test(volumeName))
      throw new Error(`${JSON.stringify(volumeName)} cannot be the name of a directory`)
    return join(this.#rootOf(nodeName), volumeName)
  }

  async #checkRoot(nodeName: string): Promise<void> {
    const root = this.#rootOf(nodeName)
    await checkDirectory(join(root, '..'))
    await checkDirectory(root)
  }
}

async function isThere(path: string): Promise<boolean> {
  try {
    await lstat(path)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false
    throw error
  }
}

async function checkDirectory(path: string): Promise<void> {
  if (!(await lstat(path)).isDirectory())
    throw new Error(`${path} is not a directory: it was replaced by something else`)
}
