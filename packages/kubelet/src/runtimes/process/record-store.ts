import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ContainerConfig, PodSandboxStatus } from '../runtime.ts'
import { type ProcessIdentity, parseIdentity } from './process-identity.ts'
import type { ProcessUser } from './process-user.ts'
import type { ContainerView } from './view/container-view.ts'
import type { ViewPaths } from './view/enter-view.ts'

/** What is kept of a container on disk. Its identity and its exit are files of their own, written by its shim. */
export interface ContainerRecord {
  readonly id: string
  readonly sandboxId: string
  readonly podUid: string
  readonly config: ContainerConfig
  /** Who its processes are; absent: whoever runs the node agent. */
  readonly user?: ProcessUser
  /** The files that it sees; absent: those of the host. */
  readonly view?: ContainerView
  readonly createdAtMs: number
  readonly logPath: string
  readonly workDirectory: string
  /** Set before the process is started: a container with it may have a process, one without has none. */
  readonly startedAtMs?: number
  readonly startError?: string
  /** The file that the container's last words are read from. */
  readonly messagePath?: string
}

/** How a container ended. */
export interface ExitRecord {
  readonly exitCode: number
  readonly finishedAtMs: number
}

/** So much of a pod's name is in the name of a directory, which must have no more than 255 bytes; its uid tells pods apart. */
const nameInPathMax = 128

export type SandboxRecord = PodSandboxStatus & { readonly hostname: string }

/**
 * The runtime's memory on disk: what a later life needs to take up the containers of this one. Only the owner may read
 * it, since configurations hold secrets.
 */
export class RecordStore {
  readonly #directory: string

  constructor(directory: string) {
    this.#directory = directory
    // Left over by commands that an earlier life ran for clients, which have gone with it.
    rmSync(this.streamsDirectory, { recursive: true, force: true })
    for (const name of ['streams', 'sandboxes', 'containers', 'exits', 'logs', 'work']) {
      mkdirSync(join(directory, name), { recursive: true, mode: 0o700 })
    }
  }

  get exitsDirectory(): string {
    return join(this.#directory, 'exits')
  }

  /** Where pipes are to the commands that clients run, and those by which output goes to logs until they are open. */
  get streamsDirectory(): string {
    return join(this.#directory, 'streams')
  }

  /** The pipe that is a container's input. */
  inputPath(id: string): string {
    return join(this.#directory, 'containers', id, 'stdin')
  }

  /** Where a container with a terminal says which one it is. */
  terminalPath(id: string): string {
    return join(this.#directory, 'containers', id, 'terminal')
  }

  exitPath(id: string): string {
    return join(this.exitsDirectory, id)
  }

  identityPath(id: string): string {
    return join(this.#directory, 'containers', id, 'identity')
  }

  /** Where the view of a container is made, and what for. */
  viewPaths(id: string): ViewPaths & { readonly table: string } {
    const at = (name: string) => join(this.#directory, 'containers', id, name)
    return { root: at('root'), script: at('view.sh'), table: at('view.fstab'), main: at('main') }
  }

  /** The container's own process, where it has a view; undefined until it has. */
  main(id: string): ProcessIdentity | undefined {
    return readIdentity(this.viewPaths(id).main)
  }

  /** Where the writer of a container's log says which process it is. */
  logWriterPath(id: string): string {
    return join(this.#directory, 'containers', id, 'log-writer')
  }

  /** Where a container has its last words unless it names a place of its own. */
  messagePath(id: string): string {
    return join(this.#directory, 'containers', id, 'termination-log')
  }

  /** Where a run of a container logs to, laid out as below /var/log/pods. */
  logPath(sandbox: SandboxRecord, config: ContainerConfig): string {
    return join(this.#logDirectory(sandbox), config.name, `${config.attempt}.log`)
  }

  /** Where a container that names no working directory starts: a directory of its own that lives as long as its pod. */
  workDirectory(sandbox: SandboxRecord, config: ContainerConfig): string {
    return join(this.#directory, 'work', sandbox.podUid, config.name)
  }

  /** Where the node agent makes the volumes of a pod, which go with it (`KubeletOptions.volumesDirectory`). */
  volumesDirectory(podUid: string): string {
    return join(this.#directory, 'pods', podUid)
  }

  sandboxes(): readonly SandboxRecord[] {
    const directory = join(this.#directory, 'sandboxes')
    return readdirSync(directory).flatMap((name) => readJson<SandboxRecord>(join(directory, name)) ?? [])
  }

  containers(): readonly ContainerRecord[] {
    const directory = join(this.#directory, 'containers')
    return readdirSync(directory).flatMap(
      (id) => readJson<ContainerRecord>(join(directory, id, 'container.json')) ?? [],
    )
  }

  writeSandbox(sandbox: SandboxRecord): void {
    writeJson(join(this.#directory, 'sandboxes', `${sandbox.id}.json`), sandbox)
  }

  writeContainer(container: ContainerRecord): void {
    const directory = join(this.#directory, 'containers', container.id)
    mkdirSync(directory, { recursive: true, mode: 0o700 })
    writeJson(join(directory, 'container.json'), container)
  }

  removeContainer(id: string): void {
    rmSync(join(this.#directory, 'containers', id), {
      recursive: true,
      force: true,
    })
    rmSync(this.exitPath(id), { force: true })
  }

  removeSandbox(sandbox: SandboxRecord): void {
    rmSync(join(this.#directory, 'sandboxes', `${sandbox.id}.json`), {
      force: true,
    })
  }

  /** Removes what the containers of a pod have left: logs and working directories. */
  removePod(sandbox: SandboxRecord): void {
    rmSync(this.#logDirectory(sandbox), { recursive: true, force: true })
    rmSync(join(this.#directory, 'work', sandbox.podUid), {
      recursive: true,
      force: true,
    })
  }

  identity(id: string): ProcessIdentity | undefined {
    return readIdentity(this.identityPath(id))
  }

  logWriter(id: string): ProcessIdentity | undefined {
    return readIdentity(this.logWriterPath(id))
  }

  /** Undefined while the container runs, also while its shim is just writing. */
  exit(id: string): ExitRecord | undefined {
    const text = readText(this.exitPath(id))
    if (text === undefined || !text.endsWith('\n')) return undefined
    return {
      exitCode: Number(text.trim()),
      finishedAtMs: statSync(this.exitPath(id)).mtimeMs,
    }
  }

  /** For containers whose shim could not say how they ended. */
  writeExit(id: string, exitCode: number): void {
    writeFileSync(this.exitPath(id), `${exitCode}\n`)
  }

  #logDirectory({ podNamespace, podName, podUid }: SandboxRecord): string {
    return join(this.#directory, 'logs', `${podNamespace}_${podName.slice(0, nameInPathMax)}_${podUid}`)
  }
}

function writeJson(path: string, value: unknown): void {
  writeFileSync(`${path}.new`, JSON.stringify(value), { mode: 0o600 })
  renameSync(`${path}.new`, path)
}

/** A file that is being replaced or is damaged is as good as none. */
function readJson<T>(path: string): T | undefined {
  const text = path.endsWith('.json') ? readText(path) : undefined
  if (text === undefined) return undefined
  try {
    return JSON.parse(text) as T
  } catch {
    return undefined
  }
}

function readIdentity(path: string): ProcessIdentity | undefined {
  const text = readText(path)
  return text === undefined ? undefined : parseIdentity(text)
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}
