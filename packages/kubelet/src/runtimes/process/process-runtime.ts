import type { ChildProcess } from 'node:child_process'
import { constants } from 'node:os'
import { dirname, join } from 'node:path'
import type { Duplex } from 'node:stream'
import type { CommandStreams } from '@coracle/client/streaming'
import { type Environment, TurnLimiter } from '@coracle/environment'
import type { LogReadOptions } from '../../log-options.ts'
import type {
  ContainerConfig,
  ContainerRuntimeStatus,
  ContainerStats,
  ContainerStoppedEvent,
  ContainerStorage,
  ExecResult,
  PodSandboxConfig,
  PodSandboxStatus,
  Runtime,
} from '../runtime.ts'
import { nodeAddressPool } from './address-ranges.ts'
import { AdoptedContainers } from './adopted-containers.ts'
import type { Command } from './command.ts'
import { ContainerCommands } from './container-commands.ts'
import { ContainerSetup } from './container-setup.ts'
import { attachStreams, closeInput, hasInput } from './container-streams.ts'
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
import type { HostImages } from './host-images.ts'
import { readLog } from './log-reader.ts'
import { removeLog } from './log-segments.ts'
import { LogWatcher } from './log-watcher.ts'
import { MarkedProcesses } from './marked-processes.ts'
import { makePipes, PipeSupply } from './pipes.ts'
import { forwardPort } from './port-forward.ts'
import { hasEnded, isAlive, signalGroup } from './process-identity.ts'
import { sessionUsage } from './process-usage.ts'
import { runsAsRoot } from './process-user.ts'
import { type ContainerRecord, RecordStore } from './record-store.ts'
import { runBeside } from './run-beside.ts'
import { Sandboxes } from './sandboxes.ts'
import { startShim } from './start-shim.ts'
import { prepareTerminationMessage, terminationMessage } from './termination-message.ts'
import { prepareView } from './view/container-view.ts'
import { privateMountsProblem } from './view/private-mounts.ts'

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
 * It refuses what it cannot do: volumes at absolute paths, where the host does not let it give containers mounts of their own; and
 * containers without a command, unless `images` says what their image runs.
 */
export function createProcessRuntime(options: ProcessRuntimeOptions): Runtime {
  return new ProcessRuntime(options)
}

/**
 * A container without probes is ready when it has run for this long; a program that cannot start has ended by then. Upstream's node agent
 * looks at containers once a second, and so does not show such programs as ready either.
 */
export const settleMs = 500
/** A container can still be attached to for this long after its end: its status takes a moment to tell that it has ended. */
const attachGraceMs = 1_000
/** How long a container whose processes have ended waits for the last of its log, which is a matter of milliseconds. */
const logEndMaxMs = 1_000
/** Exit code of containers whose end nobody saw: as if they had been killed. */
const killedExitCode = 128 + constants.signals.SIGKILL
/** Exit code of containers whose command could not be run; what containerd reports. */
const startErrorExitCode = 128

class ProcessRuntime implements Runtime {
  readonly name = 'process'
  readonly version = '0.1.0'
  readonly runsProcesses = true
  readonly supportsGroupsPolicy?: boolean
  readonly #environment: Environment
  readonly #records: RecordStore
  readonly #sandboxes: Sandboxes
  readonly #setup: ContainerSetup
  readonly #commands: ContainerCommands
  readonly #containers = new Map<string, HeldContainer>()
  /** Starting a process blocks this one for milliseconds: one is started in each turn of the event loop, and other work goes on between. */
  readonly #spawnTurns: TurnLimiter
  /** Spreads reading of all processes of the host over turns in the same way. */
  readonly #statTurns: TurnLimiter
  readonly #processes: MarkedProcesses
  readonly #pipes: PipeSupply
  readonly #listeners = new Set<(event: ContainerStoppedEvent) => void>()
  readonly #adopted: AdoptedContainers
  #closed = false

  constructor({ environment, dataDirectory, nodeName, images = new Map() }: ProcessRuntimeOptions) {
    const directory = join(dataDirectory, 'kubelet')
    if (runsAsRoot()) this.supportsGroupsPolicy = true
    this.#environment = environment
    this.#spawnTurns = new TurnLimiter(environment.clock, 1)
    this.#statTurns = new TurnLimiter(environment.clock, 1)
    this.#processes = new MarkedProcesses(environment)
    this.#records = new RecordStore(join(directory, nodeName))
    this.#pipes = new PipeSupply(this.#records.streamsDirectory)
    this.#sandboxes = new Sandboxes(environment, this.#records, nodeAddressPool(directory, nodeName))
    this.#setup = new ContainerSetup({ environment, records: this.#records, directory, images })
    this.#commands = new ContainerCommands(this.#records, this.#sandboxes)
    this.#adopted = new AdoptedContainers({
      clock: environment.clock,
      records: this.#records,
      containers: () => this.#containers.values(),
      onEnded: (held) => void this.#endWithAll(held, killedExitCode),
    })
    this.#takeUpAll()
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
    return this.#sandboxes.list(podUid)
  }

  async runPodSandbox(config: PodSandboxConfig): Promise<PodSandboxStatus> {
    // Upstream's words. Without root no user namespace is needed: a pod's root is only whoever runs the node agent.
    if (config.ownUsers === true && runsAsRoot())
      throw new Error("can't set `spec.hostUsers: false`, runtime does not support user namespaces")
    return this.#sandboxes.create(config)
  }

  async stopPodSandbox(id: string): Promise<void> {
    if (this.#sandboxes.get(id)?.ready !== true) return
    const running = this.#containersOf(id).filter(isRunning)
    await Promise.all(running.map((held) => this.stopContainer(held.record.id, 0)))
    this.#sandboxes.stop(id)
  }

  async removePodSandbox(id: string): Promise<void> {
    await this.stopPodSandbox(id)
    const sandbox = this.#sandboxes.get(id)
    if (sandbox === undefined) return
    for (const held of this.#containersOf(id)) await this.removeContainer(held.record.id)
    this.#sandboxes.remove(sandbox)
  }

  #containersOf(sandboxId: string): readonly HeldContainer[] {
    return [...this.#containers.values()].filter(({ record }) => record.sandboxId === sandboxId)
  }

  // --- Containers ---------------------------------------------------------------------------------------------------

  async listContainers(podUid?: string): Promise<readonly ContainerRuntimeStatus[]> {
    const all = [...this.#containers.values()]
    return (podUid === undefined ? all : all.filter(({ record }) => record.podUid === podUid)).map(statusOf)
  }

  async createContainer(sandboxId: string, config: ContainerConfig): Promise<string> {
    const record = this.#setup.create(this.#sandboxes.ready(sandboxId), config)
    this.#containers.set(record.id, hold(record))
    return record.id
  }

  // --- Starting ------------------------------------------------------------------------------------------------------

  async startContainer(id: string, signal?: AbortSignal): Promise<void> {
    await this.#spawnTurns.take()
    signal?.throwIfAborted()
    const held = this.#held(id)
    const { record } = held
    const startedAtMs = this.#environment.clock.now()
    try {
      const { config } = record
      if (hasInput(config)) await makePipes([this.#records.inputPath(id)])
      const { command, messagePath } = this.#commands.main(record)
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

  /**
   * Resolves when a container has its view, or will never have it. What it waits for may hang for ever, such as a network file system: the
   * signal has the container killed.
   */
  async #begun(held: HeldContainer, signal: AbortSignal | undefined): Promise<void> {
    if (held.beginning === undefined) return
    const kill = (): void => signalLeader(held, 'SIGKILL')
    signal?.addEventListener('abort', kill, { once: true })
    if (signal?.aborted === true) kill()
    await held.beginning
    signal?.removeEventListener('abort', kill)
  }

  #spawn(held: HeldContainer, command: Command, pipe: string | undefined): void {
    const { child, pid, inputHolderFd, logWritten, beginning } = startShim(held.record, command, pipe, this.#records)
    held.inputHolderFd = inputHolderFd
    held.logWritten = logWritten
    held.leader = pid
    held.beginning = beginning
    this.#followChild(held, child, pid)
    held.log = this.#watchLog(held.record.logPath)
    this.#letSettle(held, settleMs)
  }

  /** A container that no probe asks is ready after `forMs`, and the node agent is told to look at it again. */
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

  // --- Ending --------------------------------------------------------------------------------------------------------

  /** A container has ended when all its processes have, also those that went their own way. */
  async #endWithAll(held: HeldContainer, exitCode: number): Promise<void> {
    // The host may soon give this process id to another process.
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

  async stopContainer(id: string, timeoutMs: number): Promise<void> {
    const held = this.#containers.get(id)
    if (held === undefined || !isRunning(held)) return
    const { clock } = this.#environment
    const killAtMs = clock.monotonicMs() + timeoutMs
    const isFirst = held.killAtMs === Number.POSITIVE_INFINITY
    if (killAtMs < held.killAtMs) {
      held.killAtMs = killAtMs
      held.killTimer?.cancel()
      held.killTimer = clock.setTimer(timeoutMs, () => signalLeader(held, 'SIGKILL'))
    }
    if (timeoutMs <= 0) signalLeader(held, 'SIGKILL')
    else if (isFirst) signalLeader(held, stopSignalOf(held.record.config))
    if (held.adopted) this.#adopted.poll()
    if (isRunning(held)) await new Promise<void>((resolve) => held.waiters.push(resolve))
  }

  async removeContainer(id: string): Promise<void> {
    const held = this.#containers.get(id)
    if (held === undefined) return
    if (isRunning(held)) throw new Error(`container ${id} is running: stop it first`)
    this.#containers.delete(id)
    // It runs on where processes that the container left behind still have the output open.
    const writer = this.#records.logWriter(id)
    if (writer !== undefined && isAlive(writer)) signalGroup(writer.pid, 'SIGKILL')
    removeLog(held.record.logPath)
    this.#records.removeContainer(id)
  }

  // --- Usage ---------------------------------------------------------------------------------------------------------

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

  // --- Commands, streams and logs ------------------------------------------------------------------------------------

  async execSync(id: string, command: readonly string[], signal: AbortSignal): Promise<ExecResult> {
    await this.#spawnTurns.take()
    return runBeside(await this.#commands.beside(this.#held(id), command), signal)
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
    return execWithStreams(await this.#commands.beside(this.#held(id), command), tty, streams, parts, signal)
  }

  async attach(id: string, streams: CommandStreams, signal: AbortSignal): Promise<void> {
    const held = this.#held(id)
    const { config, logPath } = held.record
    const { clock } = this.#environment
    // A client that saw it run a moment ago still gets its last output.
    const endedAtMs = held.exit?.finishedAtMs ?? Number.NEGATIVE_INFINITY
    const hasJustEnded = clock.now() - endedAtMs < attachGraceMs
    if (!isRunning(held) && !hasJustEnded) throw new Error(`container ${id} is not running`)
    // The only client of an input misses no output: it also gets what was written before it came. kubectl reads the log just before it
    // attaches; what it has read there is not sent again.
    const isOnly = config.stdinOnce === true && !held.wasAttached
    held.wasAttached = true
    const options = { follow: true, timestamps: false, ...(isOnly ? { from: held.logReadTo } : { tailLines: 0 }) }
    // As in containerd: when the client stops sending, an input for one client ends; otherwise, and with a terminal, only the client's
    // visit does, and the container runs on.
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
    return forwardPort(this.#sandboxes.ready(sandboxId).addresses[0] ?? '127.0.0.1', port, stream, signal)
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
    this.#adopted.close()
    for (const held of this.#containers.values()) {
      held.killTimer?.cancel()
      held.settleTimer?.cancel()
      held.log?.close()
      this.#endInput(held)
    }
    this.#listeners.clear()
  }

  // --- Taking up what an earlier node agent has left -----------------------------------------------------------------

  #takeUpAll(): void {
    this.#sandboxes.load()
    for (const record of this.#records.containers()) this.#takeUp(record)
    this.#adopted.start()
  }

  #takeUp(record: ContainerRecord): void {
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
      // A shim that starts only now finds the recorded exit, and gives up.
      const late = identity ?? this.#records.identity(record.id)
      if (late !== undefined && isAlive(late)) signalGroup(late.pid, 'SIGKILL')
      void this.#processes.killAll(record.id)
    }
  }

  // --- Shared --------------------------------------------------------------------------------------------------------

  #endInput(held: HeldContainer): void {
    closeInput(held.inputHolderFd)
    held.inputHolderFd = undefined
  }

  #held(id: string): HeldContainer {
    const held = this.#containers.get(id)
    if (held === undefined) throw new Error(`container ${id} not found`)
    return held
  }
}

/** The record without what is needed only until a view is made. */
const withoutRebuilt = (record: ContainerRecord): ContainerRecord =>
  record.view === undefined
    ? record
    : { ...record, view: { ...record.view, plan: { ...record.view.plan, rebuilt: [] } } }

/** Whether a log is read from its beginning to its present end. */
const isWhole = ({ follow, tailLines, sinceTimeMs, limitBytes }: LogReadOptions): boolean =>
  !follow && tailLines === undefined && sinceTimeMs === undefined && limitBytes === undefined
