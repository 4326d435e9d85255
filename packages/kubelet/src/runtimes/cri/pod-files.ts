import { chmod, mkdir, open, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Random } from '@coracle/environment'
import { hostsFile } from '../../hosts/hosts-file.ts'
import type { Mount, PodSandboxConfig } from '../runtime.ts'

const hostsPath = '/etc/hosts'
const hexDigits = '0123456789abcdef'

/**
 * The files that the node agent makes for pods beside their volumes: the configuration of each sandbox, which the runtime wants to see again
 * with every container; host names; and a file for the last words of each container.
 */
export class PodFiles {
  readonly #directory: string
  readonly #random: Random

  constructor(directory: string, random: Random) {
    this.#directory = directory
    this.#random = random
  }

  async keepSandbox(config: PodSandboxConfig): Promise<void> {
    const path = this.#sandboxPath(config.podUid, config.attempt)
    await mkdir(dirname(path), { recursive: true, mode: 0o700 })
    await writeFile(`${path}.new`, JSON.stringify(config), { mode: 0o600 })
    await rename(`${path}.new`, path)
  }

  /** Undefined where it was made by another, or its file is gone. */
  async sandbox(podUid: string, attempt: number): Promise<PodSandboxConfig | undefined> {
    try {
      return JSON.parse(await readFile(this.#sandboxPath(podUid, attempt), 'utf8'))
    } catch {
      return undefined
    }
  }

  /** The pods that there are files of. Rejects where that cannot be found out: what they have is not to be given to others. */
  async pods(): Promise<readonly PodSandboxConfig[]> {
    const uids = await namesIn(this.#directory)
    const found = await Promise.all(uids.map((uid) => this.pod(uid)))
    return found.filter((config) => config !== undefined)
  }

  /** As one of its sandboxes has it; undefined where there are none. */
  async pod(podUid: string): Promise<PodSandboxConfig | undefined> {
    for (const name of await namesIn(join(this.#directory, podUid))) {
      const attempt = /^sandbox-(\d+)\.json$/.exec(name)?.[1]
      const config = attempt && (await this.sandbox(podUid, Number(attempt)))
      if (config) return config
    }
    return undefined
  }

  /** The host names of a pod, to be mounted; nothing where one of its volumes is mounted there. */
  async hosts(
    config: PodSandboxConfig,
    addresses: readonly string[],
    volumes: readonly Mount[],
  ): Promise<readonly Mount[]> {
    if (config.isolation === undefined || volumes.some(({ containerPath }) => containerPath === hostsPath)) return []
    if (!config.hostNetwork && addresses.length === 0) return []
    const path = join(this.#directory, config.podUid, 'etc-hosts')
    const nodeHosts = config.hostNetwork ? await readFile(hostsPath, 'utf8').catch(() => '') : undefined
    await writeFile(path, hostsFile({ ...config.isolation, hostname: config.hostname }, addresses, nodeHosts))
    // Whoever the containers run as.
    await chmod(path, 0o644)
    return [{ name: 'etc-hosts', containerPath: hostsPath, hostPath: path }]
  }

  /** An empty file for the last words of a container, to be mounted where it looks for it. */
  async lastWords(podUid: string, containerName: string, containerPath: string): Promise<Mount> {
    const path = join(this.#directory, podUid, 'containers', containerName, this.#random.string(8, hexDigits))
    await mkdir(dirname(path), { recursive: true, mode: 0o755 })
    await (await open(path, 'w')).close()
    await chmod(path, 0o666)
    return { name: 'termination-message', containerPath, hostPath: path }
  }

  async remove(podUid: string): Promise<void> {
    await rm(join(this.#directory, podUid), { recursive: true, force: true })
  }

  #sandboxPath(podUid: string, attempt: number): string {
    return join(this.#directory, podUid, `sandbox-${attempt}.json`)
  }
}

/** None where there is no such directory. */
async function namesIn(directory: string): Promise<readonly string[]> {
  try {
    return await readdir(directory)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return []
    throw error
  }
}
