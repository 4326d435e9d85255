import { constants } from 'node:os'
import type { Timer } from '@coracle/environment'
import type { ContainerConfig, ContainerRuntimeStatus, ContainerUser } from '../runtime.ts'
import type { LogWatcher } from './log-watcher.ts'
import { isAlive, type ProcessIdentity, signalGroup } from './process-identity.ts'
import type { ContainerRecord, ExitRecord } from './record-store.ts'

/** A container in the runtime's hands: what is on disk of it, and what only this life knows. */
export interface HeldContainer {
  record: ContainerRecord
  exit: ExitRecord | undefined
  message: string | undefined
  /** Leader of the process group while it runs. */
  leader: ProcessIdentity | number | undefined
  log: LogWatcher | undefined
  /** Resolves when all output of its processes is in its log; undefined where an earlier life has started it. */
  logWritten: Promise<void> | undefined
  /** Resolves when it has its view, or will not have it, with why; undefined where it has none, or an earlier life has started it. */
  beginning: Promise<string | undefined> | undefined
  adopted: boolean
  /** When a stop turns into a kill. */
  killAtMs: number
  killTimer: Timer | undefined
  /** Goes off when it has run long enough to count as ready; undefined where no time is to pass for that, or it has. */
  settleTimer: Timer | undefined
  readonly waiters: (() => void)[]
  /** Keeps its input open, until the first client that was attached has gone. */
  inputHolderFd: number | undefined
  /** Whether a client was attached to it. */
  wasAttached: boolean
  /** Up to where its log has been read from the beginning, at the furthest. */
  logReadTo: number
}

export function hold(record: ContainerRecord): HeldContainer {
  return {
    record,
    exit: undefined,
    message: record.startError,
    leader: undefined,
    log: undefined,
    logWritten: undefined,
    beginning: undefined,
    adopted: false,
    killAtMs: Number.POSITIVE_INFINITY,
    killTimer: undefined,
    settleTimer: undefined,
    waiters: [],
    inputHolderFd: undefined,
    wasAttached: false,
    logReadTo: 0,
  }
}

export function isRunning(held: HeldContainer): boolean {
  return held.record.startedAtMs !== undefined && held.exit === undefined
}

export function statusOf(held: HeldContainer): ContainerRuntimeStatus {
  const { id, sandboxId, podUid, config, user, createdAtMs, startedAtMs, startError } = held.record
  const { name, attempt, image } = config
  const common = {
    id,
    sandboxId,
    podUid,
    name,
    attempt,
    image,
    imageRef: image,
    createdAtMs,
    ...(config.stopSignal === undefined ? {} : { stopSignal: config.stopSignal }),
    ...(process.platform === 'linux' ? { user: user === undefined ? ownUser() : shown(user) } : {}),
  }
  if (startedAtMs === undefined) return { ...common, state: 'created' }
  const unready = held.settleTimer !== undefined
  if (held.exit === undefined) return { ...common, state: 'running', startedAtMs, ...(unready ? { unready } : {}) }
  const { exitCode, finishedAtMs } = held.exit
  const message = startError ?? held.message
  return {
    ...common,
    state: 'exited',
    startedAtMs,
    exitCode,
    finishedAtMs,
    reason: startError !== undefined ? 'StartError' : exitCode === 0 ? 'Completed' : 'Error',
    ...(message === undefined || message === '' ? {} : { message }),
  }
}

/** The process that leads the container's session and group; undefined where it is not certain to be there. */
export function leaderOf({ leader }: HeldContainer): number | undefined {
  if (leader === undefined || typeof leader === 'number') return leader
  // The host may have given an adopted shim's id to someone else in the meantime.
  return isAlive(leader) ? leader.pid : undefined
}

export function signalLeader(held: HeldContainer, signal: NodeJS.Signals | number): void {
  const leader = leaderOf(held)
  if (leader !== undefined) signalGroup(leader, signal)
}

/** The number of the signal that a container is to end with; SIGTERM where it does not say, or this host has none of that name. */
export function stopSignalOf({ stopSignal = 'SIGTERM' }: Pick<ContainerConfig, 'stopSignal'>): number {
  const name = stopSignal === 'SIGCLD' ? 'SIGCHLD' : stopSignal
  if (Object.hasOwn(constants.signals, name)) return constants.signals[name as NodeJS.Signals]
  // Node has no names for these. The C library keeps those before 34 to itself.
  const [, end, offset = '0'] = /^SIGRT(MIN|MAX)(?:[+-](\d+))?$/.exec(name) ?? []
  if (end === undefined || process.platform !== 'linux') return constants.signals.SIGTERM
  return end === 'MIN' ? 34 + Number(offset) : 64 - Number(offset)
}

const shown = ({ uid, gid, supplementalGroups }: ContainerUser): ContainerUser => ({ uid, gid, supplementalGroups })

let own: ContainerUser | undefined

/** Whoever runs the node agent. */
function ownUser(): ContainerUser {
  own ??= {
    uid: process.getuid?.() ?? 0,
    gid: process.getgid?.() ?? 0,
    supplementalGroups: process.getgroups?.() ?? [],
  }
  return own
}
