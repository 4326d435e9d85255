import { chownSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, sep } from 'node:path'
import { isTokenMount } from '@coracle/api'
import type { Environment } from '@coracle/environment'
import { type ContainerConfig, ContainerConfigError, type Mount } from '../runtime.ts'
import { asImageSays, type HostImages } from './host-images.ts'
import { isInView, needsView, placeMounts } from './mounts.ts'
import { newId } from './new-id.ts'
import { closedDirectory, openPassage } from './passage.ts'
import { podGroup } from './pod-group.ts'
import { groupsOf, type ProcessUser, processUser } from './process-user.ts'
import type { ContainerRecord, RecordStore, SandboxRecord } from './record-store.ts'
import { type ContainerView, createView } from './view/container-view.ts'
import { privateMountsProblem } from './view/private-mounts.ts'

export interface ContainerSetupOptions {
  readonly environment: Environment
  readonly records: RecordStore
  /** What all nodes of the data directory have on disk. */
  readonly directory: string
  /** Programs of this host that images stand for. */
  readonly images: HostImages
}

/** Sets up what a container finds when it starts: its working directory, its volumes, and a view of the files where it needs one. */
export class ContainerSetup {
  readonly #environment: Environment
  readonly #records: RecordStore
  readonly #directory: string
  readonly #images: HostImages

  constructor({ environment, records, directory, images }: ContainerSetupOptions) {
    this.#environment = environment
    this.#records = records
    this.#directory = directory
    this.#images = images
  }

  /** Creates a container and records it. Throws where it names no program, or where its volumes cannot be where it wants them. */
  create(sandbox: SandboxRecord, asked: ContainerConfig): ContainerRecord {
    const config = asImageSays(asked, this.#images)
    if (!namesProgram(config)) throw new Error(commandRefusal(config))
    const user = this.#userOf(sandbox, config)
    const record: ContainerRecord = {
      id: newId(this.#environment.random),
      sandboxId: sandbox.id,
      podUid: sandbox.podUid,
      config,
      ...(user === undefined ? {} : { user }),
      createdAtMs: this.#environment.clock.now(),
      logPath: this.#records.logPath(sandbox, config),
      workDirectory: this.#records.workDirectory(sandbox, config),
    }
    mkdirSync(record.workDirectory, { recursive: true, mode: 0o700 })
    const wantsView = config.mounts.some(needsView)
    const problem = wantsView ? privateMountsProblem() : undefined
    const hasView = wantsView && problem === undefined
    const links = hasView ? config.mounts.filter((mount) => !isInView(mount)) : config.mounts
    if (user !== undefined) this.#admit(record, links, user)
    placeMounts({ ...config, mounts: links }, record.workDirectory, user, problem)
    const viewed = hasView ? { ...record, view: this.#viewOf(record, sandbox) } : record
    mkdirSync(dirname(record.logPath), { recursive: true, mode: 0o700 })
    this.#records.writeContainer(viewed)
    return viewed
  }

  /** The user of a container. One with volumes that were made for its pod is also in the group that may reach them. */
  #userOf({ podUid }: SandboxRecord, { user: asked, mounts }: ContainerConfig): ProcessUser | undefined {
    const user = processUser(asked)
    const directory = this.#records.volumesDirectory(podUid)
    // Root needs no group for that.
    if (user === undefined || user.uid === 0 || !mounts.some(({ hostPath }) => isBelow(directory, hostPath)))
      return user
    const group = podGroup(podUid)
    return group === undefined ? user : { ...user, podGroup: group }
  }

  /** Lets another user work in the container's own directories, and reach those of its volumes that are links to the host. */
  #admit({ id, podUid, workDirectory }: ContainerRecord, mounts: readonly Mount[], user: ProcessUser): void {
    chownSync(workDirectory, user.uid, user.gid)
    const messages = dirname(this.#records.messagePath(id))
    mkdirSync(messages, { recursive: true, mode: 0o700 })
    for (const path of [dirname(workDirectory), messages]) openPassage(this.#directory, path)
    const directory = this.#records.volumesDirectory(podUid)
    const gate = user.podGroup === undefined ? undefined : { directory, group: user.podGroup }
    const passing = { ...user, supplementalGroups: groupsOf(user) }
    for (const { name, hostPath, containerPath } of mounts) {
      if (hostPath === undefined) continue
      openPassage(this.#directory, dirname(hostPath), gate)
      const closed = isTokenMount(name, containerPath) ? undefined : closedDirectory(dirname(hostPath), passing)
      if (closed === undefined) continue
      throw new ContainerConfigError(
        `user ${user.uid} may not pass ${closed}, which leads to volume "${name}": let others pass it (chmod go+x ${closed}), ` +
          `or keep the data where they may (--data-dir)`,
      )
    }
  }

  #viewOf({ id, workDirectory, config, user }: ContainerRecord, sandbox: SandboxRecord): ContainerView {
    const messagePath = this.#records.messagePath(id)
    mkdirSync(dirname(messagePath), { recursive: true, mode: 0o700 })
    writeFileSync(messagePath, '', { mode: 0o600 })
    // A pod without an address of its own is on the host's network, and has the host's name.
    const hostname = sandbox.addresses.length > 0 ? sandbox.hostname : undefined
    return createView(config, { workDirectory, messagePath }, user, hostname)
  }
}

/**
 * Whether there is a program to run. Arguments without a command count, as with an image that has no entry point; but where the first is an
 * option, they are meant for an entry point, and there is none here.
 */
function namesProgram({ command, args }: ContainerConfig): boolean {
  return command.length > 0 || (args[0] !== undefined && !args[0].startsWith('-'))
}

function commandRefusal({ name, image }: ContainerConfig): string {
  return (
    `container "${name}" has no command: the process runtime records image "${image}" but does not unpack it. ` +
    `Set command to a program of this host, or say with --images what the image is`
  )
}

const isBelow = (directory: string, path: string | undefined): boolean => path?.startsWith(directory + sep) === true
