import type { EnvironmentVariable } from '../runtime.ts'
import { besideCommand, type Command, type ContainerIdentity, commandOf, directoryOf } from './command.ts'
import { type HeldContainer, leaderOf } from './held-container.ts'
import { isAlive } from './process-identity.ts'
import type { ProcessUser } from './process-user.ts'
import type { ContainerRecord, RecordStore } from './record-store.ts'
import type { Sandboxes } from './sandboxes.ts'
import { terminationMessagePath, terminationMessageVariable } from './termination-message.ts'
import { type ContainerView, viewFiles } from './view/container-view.ts'
import { type EnteredView, joiningView, makingView, type ViewUser } from './view/enter-view.ts'
import { ownViewUser } from './view/private-mounts.ts'

/** Tells a container the address that its pod has to itself, for servers to listen on; pods on the node's network have none. */
const podAddressVariable = 'CORACLE_POD_IP'

/** A container's own command, and the file on the host from which its termination message is read. */
export interface MainCommand {
  readonly command: Command
  readonly messagePath: string
}

/** Makes the commands that run in containers: with the container's environment, user, directory, and view of the files. */
export class ContainerCommands {
  readonly #records: RecordStore
  readonly #sandboxes: Sandboxes

  constructor(records: RecordStore, sandboxes: Sandboxes) {
    this.#records = records
    this.#sandboxes = sandboxes
  }

  /** What a container runs. Throws as `commandOf`. */
  main(record: ContainerRecord): MainCommand {
    const { id, config, view, user } = record
    const own = this.#records.messagePath(id)
    const files = view && viewFiles(view)
    const workDirectory = view?.workDirectory ?? record.workDirectory
    const directory = directoryOf(config, workDirectory, undefined, files)
    const ownMessage = { inside: view?.messagePath ?? own, onHost: own }
    const { inside, onHost } = terminationMessagePath(config, directory, ownMessage, files)
    const identity = this.#identityOf(record, { name: terminationMessageVariable, value: inside })
    const command = commandOf(config, workDirectory, identity)
    if (view === undefined) return { command, messagePath: onHost }
    const enter = (whole: Command) => makingView(whole, this.#entered(id, view), viewUser(user))
    return { command: { ...command, enter }, messagePath: onHost }
  }

  /** A command to run beside a container's own, once that has its view. Throws as `besideCommand`, and where the container has ended. */
  async beside(held: HeldContainer, command: readonly string[]): Promise<Command> {
    await held.beginning
    const { id, config, workDirectory, view, user } = held.record
    const identity = this.#identityOf(held.record)
    if (view === undefined) return besideCommand(config, workDirectory, identity, command)
    const beside = besideCommand(config, view.workDirectory, identity, command)
    const [shim, main] = [leaderOf(held), this.#records.main(id)]
    if (shim === undefined || main === undefined || !isAlive(main))
      throw new Error(`failed to exec in container: container ${id} is not running`)
    const enter = (whole: Command) =>
      joiningView(whole, this.#entered(id, view), viewUser(user), { shim, main: main.pid })
    return { ...beside, enter }
  }

  #entered(id: string, { inPlace, hostname }: ContainerView): EnteredView {
    const paths = this.#records.viewPaths(id)
    return { ...paths, hostname, ...(inPlace === true ? { root: undefined } : {}) }
  }

  #identityOf(
    { id, sandboxId, user, view }: ContainerRecord,
    ...more: readonly EnvironmentVariable[]
  ): ContainerIdentity {
    const { hostname = '', addresses: [address] = [] } = this.#sandboxes.get(sandboxId) ?? {}
    const own = address === undefined ? [] : [{ name: podAddressVariable, value: address }]
    return {
      id,
      variables: [{ name: 'HOSTNAME', value: hostname }, ...own, ...more],
      user,
      view: view && viewFiles(view),
    }
  }
}

/** Whoever runs the node agent, and the user that a container is to have. */
export const viewUser = (user: ProcessUser | undefined): ViewUser => ({ ...ownViewUser(), other: user })
