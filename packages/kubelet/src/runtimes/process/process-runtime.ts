import type { ChildProcess, IOType } from 'node:child_process'
import { chownSync, closeSync, type FSWatcher, fchownSync, mkdirSync, openSync, watch, writeFileSync } from 'node:fs'
import { constants } from 'node:os'
import { dirname, join, sep } from 'node:path'
import { type Duplex, Readable } from 'node:stream'
import { isTokenMount } from '@coracle/api'
import type { CommandStreams } from '@coracle/client/streaming'
import { type Environment, type Timer, TurnLimiter } from '@coracle/environment'
import type { AddressPool } from '../../addresses.ts'
import type { LogReadOptions } from '../../log-options.ts'
import {
  type ContainerConfig,
  ContainerConfigError,
  type ContainerRuntimeStatus,
  type ContainerStats,
  type ContainerStoppedEvent,
  type ContainerStorage,
  type EnvironmentVariable,
  type ExecResult,
  type Mount,
  type PodSandboxConfig,
  type PodSandboxStatus,
  type Runtime,
} from '../runtime.ts'
import { nodeAddressPool } from './address-ranges.ts'
import { besideCommand, type Command, type ContainerIdentity, commandOf, directoryOf } from './command.ts'
import { attachStreams, closeInput, hasInput, openInput } from './container-streams.ts'
import { execWithStreams } from './exec-streams.ts'
import {
  type HeldContainer,
  hold,
  isRunning,
  leaderOf,
  signalLeader,
  statusOf,
  stopSignalOf,
} from './held-container.ts'
import { asImageSays, type HostImages } from './host-images.ts'
import { launch } from './launch.ts'
import { readLog } from './log-reader.ts'
import { removeLog } from './log-segments.ts'
import { LogWatcher } from './log-watcher.ts'
import { startLogWriter } from './log-writer.ts'
import { MarkedProcesses } from './marked-processes.ts'
import { isInView, needsView, placeMounts } from './mounts.ts'
import { closedDirectory, openPassage } from './passage.ts'
import { makePipes, PipeSupply } from './pipes.ts'
import { podGroup } from './pod-group.ts'
import { forwardPort } from './port-forward.ts'
import { hasEnded, isAlive, signalGroup } from './process-identity.ts'
import { sessionUsage } from './process-usage.ts'
import { asItsUser, groupsOf, type ProcessUser, processUser, runsAsRoot } from './process-user.ts'
import { type ContainerRecord, RecordStore, type SandboxRecord } from './record-store.ts'
import { runBeside } from './run-beside.ts'
import { shimScript } from './shim.ts'
import { onTerminal } from './terminal.ts'
import {
  prepareTerminationMessage,
  terminationMessage,
  terminationMessagePath,
  terminationMessageVariable,
} from './termination-message.ts'
import { type ContainerView, createView, prepareView, viewFiles } from './view/container-view.ts'
import {
  beforeShim,
  type EnteredView,
  joiningView,
  makingView,
  type ViewUser,
  viewReport,
  viewReportFd,
} from './view/enter-view.ts'
import { ownViewUser, privateMountsProblem } from './view/private-mounts.ts'

export interface ProcessRuntimeOptions {
  readonly environment: Environment
  /** Directory of the whole cluster's data; the runtime keeps to `kubelet/<node>` in it. */
  readonly dataDirectory: string
  readonly nodeName: string
  /** Programs of this host that images stand for; none by default. */
  readonly images?: HostImages
}

/**
 * Containers as plain processes of this host, each in a session of its own: no root, no images, no isolation. They
 * outlive the node agent, and the next one on the same directory takes them up as they are: same id, same start time,
 * and the exit codes of those that ended in between.
 *
 * What it cannot do it refuses: volumes at absolute paths where the host does not let it give containers mounts of their own, and containers that
 * leave the command to an image that nothing is said of.
 */
export function createProcessRuntime(options: ProcessRuntimeOptions): Runtime {
  return new ProcessRuntime(options)
}

/** Tells a container the address that its pod has to itself, for servers to listen on; pods on the node's network have none. */
const podAddressVariable = 'CORACLE_POD_IP'
/**
 * A container that no probe asks is ready when it has run for this long, which a program that cannot start does not. Upstream's node
 * agent looks at containers once a second, and so does not see those either.
 */
export const settleMs = 500
/** How often containers are checked on that an earlier node agent started: their deaths are told to nobody here. */
const adoptedPollMs = 1_000
/** The same while one of them is being stopped. */
const stoppingPollMs = 20
/** For so long after its end a container can be attached to: its status takes a moment to tell that it has ended. */
const attachGraceMs = 1_000
/** How long a container whose processes have ended waits for the last of its log, which is a matter of milliseconds. */
const logEndMaxMs = 1_000
/** Exit codes of containers of which nobody saw the end: as if they had been killed. */
const killedExitCode = 128 + constants.signals.SIGKILL
/** Exit code of containers whose command could not be run; what containerd reports. */
const startErrorExitCode = 128

class ProcessRuntime implements Runtime {
  readonly name = 'process'
  readonly version = '0.1.0'
  readonly runsProcesses = true
  readonly supportsGroupsPolicy?: boolean
  readonly #environment: Environment
  /** What all nodes of this data directory have on disk. */
  readonly #directory: string
  readonly #images: HostImages
  readonly #records: RecordStore
  readonly #addresses: AddressPool | undefined
  readonly #sandboxes = new Map<string, SandboxRecord>()
  readonly #containers = new Map<string, HeldContainer>()
  /**
   * Starting a process holds up all else for milliseconds: where hundreds are wanted at once, what else there is to do gets
   * its turn after each.
   */
  readonly #spawnTurns: TurnLimiter
  /** Looking at all processes of the host takes several turns as well. */
  readonly #statTurns: TurnLimiter
  readonly #processes: MarkedProcesses
  readonly #pipes: PipeSupply
  readonly #listeners = new Set<(event: ContainerStoppedEvent) => void>()
  #exitsWatcher: FSWatcher | undefined
  #pollTimer: Timer | undefined
  #closed = false

  constructor({ environment, dataDirectory, nodeName, images = new Map() }: ProcessRuntimeOptions) {
    const directory = join(dataDirectory, 'kubelet')
    if (runsAsRoot()) this.supportsGroupsPolicy = true
    this.#environment = environment
    this.#directory = directory
    this.#images = images
    this.#spawnTurns = new TurnLimiter(environment.clock, 1)
    this.#statTurns = new TurnLimiter(environment.clock, 1)
    this.#processes = new MarkedProcesses(environment)
    this.#records = new RecordStore(join(directory, nodeName))
    this.#pipes = new PipeSupply(this.#records.streamsDirectory)
    this.#addresses = nodeAddressPool(directory, nodeName)
    this.#adoptAll()
  }

  get hasPrivateMounts(): boolean {
    return privateMountsProblem() === undefined
  }

  subscribe(listener: (event: ContainerStoppedEvent) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  // --- Sandboxes ----------------------------------------------------------------------------------------------------

  async listPodSandboxes(podUid?: string): Promise<readonly PodSandboxStatus[]> {
    const all = [...this.#sandboxes.values()]
    return podUid === undefined ? all : all.filter((sandbox) => sandbox.podUid === podUid)
  }

  async runPodSandbox(config: PodSandboxConfig): Promise<PodSandboxStatus> {
    const { podUid, podName, podNamespace, attempt, hostname } = config
    // Upstream's words. Whoever else runs Coracle has nobody be root by that: all are who they are.
    if (config.ownUsers === true && runsAsRoot())
      throw new Error("can't set `spec.hostUsers: false`, runtime does not support user namespaces")
    const sandbox: SandboxRecord = {
      id: this.#newId(),
      podUid,
      podName,
      podNamespace,
      attempt,
      hostname,
      ready: true,
      createdAtMs: this.#environment.clock.now(),
      addresses: config.hostNetwork ? [] : [this.#takeAddress(config.preferredAddress)],
    }
    this.#records.writeSandbox(sandbox)
    this.#sandboxes.set(sandbox.id, sandbox)
    return sandbox
  }

  #takeAddress(preferred: string | undefined): string {
    if (this.#addresses === undefined) return '127.0.0.1'
    const address = this.#addresses.take(preferred)
    if (address === undefined) throw new Error('no free pod address is left on this node: delete pods that have ended')
    return address
  }

  async stopPodSandbox(id: string): Promise<void> {
    const sandbox = this.#sandboxes.get(id)
    if (sandbox === undefined || !sandbox.ready) return
    const running = [...this.#containers.values()].filter((held) => held.record.sandboxId === id && isRunning(held))
    await Promise.all(running.map((held) => this.stopContainer(held.record.id, 0)))
    const stopped = { ...sandbox, ready: false }
    this.#records.writeSandbox(stopped)
    this.#sandboxes.set(id, stopped)
    for (const address of sandbox.addresses) this.#addresses?.release(address)
  }

  async removePodSandbox(id: string): Promise<void> {
    await this.stopPodSandbox(id)
    const sandbox = this.#sandboxes.get(id)
    if (sandbox === undefined) return
    for (const held of [...this.#containers.values()]) {
      if (held.record.sandboxId === id) await this.removeContainer(held.record.id)
    }
    this.#sandboxes.delete(id)
    this.#records.removeSandbox(sandbox)
    const others = [...this.#sandboxes.values()].some(({ podUid }) => podUid === sandbox.podUid)
    if (!others) this.#records.removePod(sandbox)
  }

  // --- Containers ---------------------------------------------------------------------------------------------------

  async listContainers(podUid?: string): Promise<readonly ContainerRuntimeStatus[]> {
    const all = [...this.#containers.values()]
    return (podUid === undefined ? all : all.filter(({ record }) => record.podUid === podUid)).map(statusOf)
  }

  async createContainer(sandboxId: string, asked: ContainerConfig): Promise<string> {
    const sandbox = this.#sandboxes.get(sandboxId)
    if (sandbox?.ready !== true) throw new Error(`sandbox ${sandboxId} is not ready`)
    const config = asImageSays(asked, this.#images)
    if (!namesProgram(config)) throw new Error(commandRefusal(config))
    const user = this.#userOf(sandbox, config)
    const record: ContainerRecord = {
      id: this.#newId(),
      sandboxId,
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
    this.#containers.set(record.id, hold(viewed))
    return record.id
  }

  #viewOf({ id, workDirectory, config, user }: ContainerRecord, sandbox: SandboxRecord): ContainerView {
    const messagePath = this.#records.messagePath(id)
    mkdirSync(dirname(messagePath), { recursive: true, mode: 0o700 })
    writeFileSync(messagePath, '', { mode: 0o600 })
    // Without an address of its own a pod is the host, by name, too.
    const hostname = sandbox.addresses.length > 0 ? sandbox.hostname : undefined
    return createView(config, { workDirectory, messagePath }, user, hostname)
  }

  /** Who a container is: where it has volumes that were made for its pod, one of the group that may pass to them. */
  #userOf({ podUid }: SandboxRecord, { user: asked, mounts }: ContainerConfig): ProcessUser | undefined {
    const user = processUser(asked)
    const directory = this.#records.volumesDirectory(podUid)
    // Root passes anyway.
    if (user === undefined || user.uid === 0 || !mounts.some(({ hostPath }) => isBelow(directory, hostPath)))
      return user
    const group = podGroup(podUid)
    return group === undefined ? user : { ...user, podGroup: group }
  }

  /** Lets another user work in what is a container's own, and pass to those of its volumes that it sees where they are on the host. */
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

  async startContainer(id: string, signal?: AbortSignal): Promise<void> {
    await this.#spawnTurns.take()
    signal?.throwIfAborted()
    const held = this.#held(id)
    const { record } = held
    const startedAtMs = this.#environment.clock.now()
    try {
      const { config } = record
      if (hasInput(config)) await makePipes([this.#records.inputPath(id)])
      const { command, messagePath } = this.#commandOf(record)
      prepareTerminationMessage(messagePath, this.#records.messagePath(id), record)
      const pipe = config.tty === true ? undefined : await this.#pipes.take()
      const closeHandles = record.view && prepareView(record.view, this.#records.viewPaths(id), runsAsRoot())
      try {
        held.record = { ...withoutRebuilt(record), startedAtMs, messagePath }
        this.#records.writeContainer(held.record)
        this.#spawn(held, command, pipe)
        await this.#begun(held, signal)
      } finally {
        closeHandles?.()
      }
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error)
      held.record = { ...record, startedAtMs }
      this.#noteStartError(held, message)
      held.exit = this.#records.exit(id)
      throw error
    }
    const problem = await held.beginning
    if (problem === undefined) return
    if (isRunning(held)) await new Promise<void>((resolve) => held.waiters.push(resolve))
    signal?.throwIfAborted()
    throw new Error(problem)
  }

  /** Resolves when a container has its view, or has none and never will. What keeps it waiting may be away for ever: whoever gives it up has it killed. */
  async #begun(held: HeldContainer, signal: AbortSignal | undefined): Promise<void> {
    if (held.beginning === undefined) return
    const kill = (): void => signalLeader(held, 'SIGKILL')
    signal?.addEventListener('abort', kill, { once: true })
    if (signal?.aborted === true) kill()
    await held.beginning
    signal?.removeEventListener('abort', kill)
  }

  /** What a container runs, and the file for its last words on the host. */
  #commandOf(record: ContainerRecord): { readonly command: Command; readonly messagePath: string } {
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

  /** Output goes by the pipe, or straight to the log where there is none. */
  #spawn(held: HeldContainer, command: Command, pipe: string | undefined): void {
    const { id, logPath, config, view, user } = held.record
    const log = openSync(logPath, 'a', 0o600)
    const input = hasInput(config) ? openInput(this.#records.inputPath(id), config) : undefined
    held.inputHolderFd = input?.holderFd
    let output = log
    try {
      if (pipe !== undefined) {
        const writer = startLogWriter(pipe, log, this.#records.logWriterPath(id))
        output = writer.outputFd
        held.logWritten = writer.end
      }
      // Who is given its output and its input may want to open them again by name, as /dev/stdout.
      if (command.user !== undefined) {
        const { uid, gid } = command.user
        for (const handle of input === undefined ? [output] : [output, input.childFd]) fchownSync(handle, uid, gid)
      }
      const files = [this.#records.identityPath(id), this.#records.exitPath(id)]
      const shim = ['-c', shimScript, 'coracle-shim', ...files, String(stopSignalOf(config))]
      const launched = config.tty === true ? onTerminal(command, this.#records.terminalPath(id)) : asItsUser(command)
      const argv = [...(view === undefined ? [] : beforeShim(viewUser(user))), '/bin/sh', ...shim, ...launched.argv]
      const stdio: (IOType | number)[] = [input?.childFd ?? 'ignore', output, 'ignore', output]
      if (view !== undefined) stdio.push('pipe')
      const child = launch({ ...launched, argv }, stdio)
      // Without a listener a failure would take the whole process down; it shows in the missing id.
      child.on('error', () => {})
      if (child.pid === undefined)
        throw new Error('failed to start container: this host starts no more processes or has no more descriptors')
      held.leader = child.pid
      const report = child.stdio[viewReportFd]
      if (report instanceof Readable) held.beginning = viewReport(report)
      this.#followChild(held, child, child.pid)
    } finally {
      closeSync(log)
      if (output !== log) closeSync(output)
      if (input !== undefined) closeSync(input.childFd)
    }
    held.log = this.#watchLog(logPath)
    this.#letSettle(held, settleMs)
  }

  #letSettle(held: HeldContainer, forMs: number): void {
    const { id, podUid, config } = held.record
    if (forMs <= 0 || (config.probes ?? []).length > 0) return
    held.settleTimer = this.#environment.clock.setTimer(forMs, () => {
      held.settleTimer = undefined
      this.#tell({ podUid, containerId: id })
    })
  }

  #tell(event: ContainerStoppedEvent): void {
    for (const listener of this.#listeners) listener(event)
  }

  #watchLog(path: string): LogWatcher {
    const { clock, logger } = this.#environment
    return new LogWatcher(path, clock, (error) => logger.error('container log not looked after', { path, error }))
  }

  #followChild(held: HeldContainer, child: ChildProcess, leader: number): void {
    child.unref()
    child.once('exit', (code, signal) => {
      // A shim that was killed leaves its group behind.
      signalGroup(leader, 'SIGKILL')
      if (this.#closed) return
      void this.#endWithAll(held, signal === null ? (code ?? 0) : 128 + constants.signals[signal])
    })
  }

  /** A container has ended when all its processes have, also those that went their own way. */
  async #endWithAll(held: HeldContainer, exitCode: number): Promise<void> {
    // Its number may soon be another's.
    held.leader = undefined
    await this.#processes.killAll(held.record.id)
    if (held.logWritten !== undefined) await this.#atMost(logEndMaxMs, held.logWritten)
    const problem = await held.beginning
    if (this.#closed) return
    if (problem !== undefined) this.#noteStartError(held, problem)
    this.#ended(held, exitCode)
  }

  #noteStartError(held: HeldContainer, startError: string): void {
    held.record = { ...held.record, startError }
    const { id } = held.record
    try {
      this.#records.writeContainer(held.record)
      this.#records.writeExit(id, startErrorExitCode)
    } catch (error) {
      this.#environment.logger.error('failed start of container not recorded', { container: id, error })
    }
  }

  async #atMost(timeoutMs: number, end: Promise<void>): Promise<void> {
    const late = Promise.withResolvers<void>()
    const timer = this.#environment.clock.setTimer(timeoutMs, late.resolve)
    await Promise.race([end, late.promise])
    timer.cancel()
  }

  /** `exitCode` counts only where the shim has recorded none. */
  #ended(held: HeldContainer, exitCode: number): void {
    if (held.exit !== undefined) return
    const { id, podUid } = held.record
    this.#recordExit(id, exitCode)
    held.exit = this.#records.exit(id) ?? {
      exitCode,
      finishedAtMs: this.#environment.clock.now(),
    }
    held.killTimer?.cancel()
    held.settleTimer?.cancel()
    held.log?.close()
    held.log = undefined
    this.#endInput(held)
    if (held.record.startError === undefined) held.message = this.#messageOf(held.record, held.exit.exitCode)
    for (const resume of held.waiters.splice(0)) resume()
    this.#tell({ podUid, containerId: id })
  }

  async stopContainer(id: string, timeoutMs: number): Promise<void> {
    const held = this.#containers.get(id)
    if (held === undefined || !isRunning(held)) return
    const { clock } = this.#environment
    const killAtMs = clock.monotonicMs() + timeoutMs
    const first = held.killAtMs === Number.POSITIVE_INFINITY
    if (killAtMs < held.killAtMs) {
      held.killAtMs = killAtMs
      held.killTimer?.cancel()
      held.killTimer = clock.setTimer(timeoutMs, () => signalLeader(held, 'SIGKILL'))
    }
    if (timeoutMs <= 0) signalLeader(held, 'SIGKILL')
    else if (first) signalLeader(held, stopSignalOf(held.record.config))
    if (held.adopted) this.#poll()
    if (isRunning(held)) await new Promise<void>((resolve) => held.waiters.push(resolve))
  }

  async removeContainer(id: string): Promise<void> {
    const held = this.#containers.get(id)
    if (held === undefined) return
    if (isRunning(held)) throw new Error(`container ${id} is running: stop it first`)
    this.#containers.delete(id)
    // Where something that the container has left behind may still write.
    const writer = this.#records.logWriter(id)
    if (writer !== undefined && isAlive(writer)) signalGroup(writer.pid, 'SIGKILL')
    removeLog(held.record.logPath)
    this.#records.removeContainer(id)
  }

  async containerStats(ids: readonly string[]): Promise<ReadonlyMap<string, ContainerStats>> {
    const leaders = new Map<number, string>()
    for (const id of ids) {
      const held = this.#containers.get(id)
      const leader = held === undefined || !isRunning(held) ? undefined : leaderOf(held)
      if (leader !== undefined) leaders.set(leader, id)
    }
    const usage = await sessionUsage(new Set(leaders.keys()), this.#statTurns)
    return new Map([...usage].map(([leader, stats]) => [leaders.get(leader) ?? '', stats]))
  }

  async containerStorage(podUid: string): Promise<readonly ContainerStorage[]> {
    const found = new Map<string, ContainerStorage>()
    for (const { record } of this.#containers.values()) {
      const { config, logPath, sandboxId } = record
      const sandbox = record.podUid === podUid ? this.#sandboxes.get(sandboxId) : undefined
      if (sandbox === undefined) continue
      const layerDirectory = this.#records.workDirectory(sandbox, config)
      found.set(config.name, { name: config.name, logDirectory: dirname(logPath), layerDirectory })
    }
    return [...found.values()]
  }

  async execSync(id: string, command: readonly string[], signal: AbortSignal): Promise<ExecResult> {
    await this.#spawnTurns.take()
    return runBeside(await this.#besideCommand(id, command), signal)
  }

  async exec(
    id: string,
    command: readonly string[],
    tty: boolean,
    streams: CommandStreams,
    signal: AbortSignal,
  ): Promise<number> {
    await this.#spawnTurns.take()
    const parts = { clock: this.#environment.clock, directory: this.#records.streamsDirectory }
    return execWithStreams(await this.#besideCommand(id, command), tty, streams, parts, signal)
  }

  async attach(id: string, streams: CommandStreams, signal: AbortSignal): Promise<void> {
    const held = this.#held(id)
    const { config, logPath } = held.record
    const { clock } = this.#environment
    // Who has just seen it run finds its end, as a moment ago.
    const endedAtMs = held.exit?.finishedAtMs ?? Number.NEGATIVE_INFINITY
    const hasJustEnded = clock.now() - endedAtMs < attachGraceMs
    if (!isRunning(held) && !hasJustEnded) throw new Error(`container ${id} is not running`)
    // The one client that the input is for misses nothing: of what was written before it gets what nobody has read as log, which
    // kubectl does just before it attaches.
    const isOnly = config.stdinOnce === true && !held.wasAttached
    held.wasAttached = true
    const options = { follow: true, timestamps: false, ...(isOnly ? { from: held.logReadTo } : { tailLines: 0 }) }
    // As containerd does: the end of what the client sends is the end of an input that is for one client, and otherwise of the
    // client's visit. Who leaves a terminal leaves what runs on it.
    const leaving = new AbortController()
    const endsInput = config.stdinOnce === true && config.tty !== true
    const attached = {
      config,
      inputPath: this.#records.inputPath(id),
      terminalPath: this.#records.terminalPath(id),
      output: readLog(logPath, options, held.log, AbortSignal.any([signal, leaving.signal])),
      onInputEnd: () => (endsInput ? this.#endInput(held) : leaving.abort()),
    }
    const { stdin: _nobodyReads, ...outputs } = streams
    await attachStreams(attached, isRunning(held) ? streams : outputs)
  }

  async portForward(sandboxId: string, port: number, stream: Duplex, signal: AbortSignal): Promise<void> {
    const sandbox = this.#sandboxes.get(sandboxId)
    if (sandbox?.ready !== true) throw new Error(`sandbox ${sandboxId} is not ready`)
    return forwardPort(sandbox.addresses[0] ?? '127.0.0.1', port, stream, signal)
  }

  readLog(id: string, options: LogReadOptions, signal: AbortSignal): AsyncIterable<Uint8Array> {
    const held = this.#held(id)
    const onRead = (end: number) => {
      held.logReadTo = Math.max(held.logReadTo, end)
    }
    return readLog(held.record.logPath, { ...options, ...(isWhole(options) ? { onRead } : {}) }, held.log, signal)
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#exitsWatcher?.close()
    this.#pollTimer?.cancel()
    for (const held of this.#containers.values()) {
      held.killTimer?.cancel()
      held.settleTimer?.cancel()
      held.log?.close()
      this.#endInput(held)
    }
    this.#listeners.clear()
  }

  // --- Taking up what an earlier life has left ------------------------------------------------------------------------

  #adoptAll(): void {
    for (const sandbox of this.#records.sandboxes()) {
      this.#sandboxes.set(sandbox.id, sandbox)
      if (sandbox.ready) for (const address of sandbox.addresses) this.#addresses?.claim(address)
    }
    for (const record of this.#records.containers()) this.#adopt(record)
    if (this.#adopted().length === 0) return
    this.#exitsWatcher = watchOrNothing(this.#records.exitsDirectory, () => this.#checkAdopted())
    this.#poll()
  }

  #adopt(record: ContainerRecord): void {
    const held = hold(record)
    this.#containers.set(record.id, held)
    held.exit = this.#records.exit(record.id)
    if (held.exit !== undefined && record.startError === undefined)
      held.message = this.#messageOf(record, held.exit.exitCode)
    if (record.startedAtMs === undefined) return
    if (held.exit !== undefined) return void this.#processes.killAll(record.id)
    const identity = this.#records.identity(record.id)
    if (identity !== undefined && !hasEnded(identity)) {
      held.leader = identity
      held.adopted = true
      held.log = this.#watchLog(record.logPath)
      this.#letSettle(held, record.startedAtMs + settleMs - this.#environment.clock.now())
    } else {
      this.#ended(held, killedExitCode)
      // Its shim may come up only now; from here on it finds that it has been given up.
      const late = identity ?? this.#records.identity(record.id)
      if (late !== undefined && isAlive(late)) signalGroup(late.pid, 'SIGKILL')
      void this.#processes.killAll(record.id)
    }
  }

  #recordExit(id: string, exitCode: number): void {
    try {
      if (this.#records.exit(id) === undefined) this.#records.writeExit(id, exitCode)
    } catch (error) {
      // The next node agent will take the container for killed; this one knows better.
      this.#environment.logger.error('exit of container not recorded', { container: id, error })
    }
  }

  #messageOf(record: ContainerRecord, exitCode: number): string {
    try {
      return terminationMessage(record, exitCode)
    } catch (error) {
      return `Error on reading termination message: ${error instanceof Error ? error.message : String(error)}`
    }
  }

  #adopted(): readonly HeldContainer[] {
    return [...this.#containers.values()].filter((held) => held.adopted && isRunning(held))
  }

  #poll(): void {
    this.#pollTimer?.cancel()
    const adopted = this.#adopted()
    if (adopted.length === 0 || this.#closed) return
    const stopping = adopted.some(({ killAtMs }) => killAtMs !== Number.POSITIVE_INFINITY)
    this.#pollTimer = this.#environment.clock.setTimer(stopping ? stoppingPollMs : adoptedPollMs, () => {
      this.#checkAdopted()
      this.#poll()
    })
  }

  #checkAdopted(): void {
    for (const held of this.#adopted()) {
      const { id } = held.record
      const identity = held.leader
      if (identity === undefined || typeof identity === 'number') continue
      // A shim that left no exit code was killed.
      if (this.#records.exit(id) !== undefined || hasEnded(identity)) void this.#endWithAll(held, killedExitCode)
    }
  }

  // --- Odds and ends --------------------------------------------------------------------------------------------------

  /** A command to run in a container: in its environment, its directory, and known as a part of it. */
  async #besideCommand(id: string, command: readonly string[]): Promise<Command> {
    const held = this.#held(id)
    await held.beginning
    const { config, workDirectory, view, user } = held.record
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

  #endInput(held: HeldContainer): void {
    closeInput(held.inputHolderFd)
    held.inputHolderFd = undefined
  }

  #held(id: string): HeldContainer {
    const held = this.#containers.get(id)
    if (held === undefined) throw new Error(`container ${id} not found`)
    return held
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

  #newId(): string {
    return this.#environment.random.string(64, '0123456789abcdef')
  }
}

/** Whoever runs the node agent, and whom a container is to be. */
const viewUser = (user: ProcessUser | undefined): ViewUser => ({ ...ownViewUser(), other: user })

/** What is of no use once a view is made. */
const withoutRebuilt = (record: ContainerRecord): ContainerRecord =>
  record.view === undefined
    ? record
    : { ...record, view: { ...record.view, plan: { ...record.view.plan, rebuilt: [] } } }

const isBelow = (directory: string, path: string | undefined): boolean => path?.startsWith(directory + sep) === true

/** Whether all that has been written is read, once. */
const isWhole = ({ follow, tailLines, sinceTimeMs, limitBytes }: LogReadOptions): boolean =>
  !follow && tailLines === undefined && sinceTimeMs === undefined && limitBytes === undefined

/**
 * Arguments alone are what is run, as with an image that has no entry point; but options alone are those of an entry
 * point, and there is none here.
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

function watchOrNothing(directory: string, onChange: () => void): FSWatcher | undefined {
  try {
    const watcher = watch(directory, { persistent: false }, onChange)
    // Polling goes on.
    watcher.on('error', () => watcher.close())
    return watcher
  } catch {
    return undefined
  }
}
