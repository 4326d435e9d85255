import { readdirSync, readFileSync } from 'node:fs'
import { type Environment, sleep, TurnLimiter } from '@coracle/environment'

/** The variable that all processes of a container have, with its id: also those that have left its session. */
export const containerMark = 'CORACLE_CONTAINER_ID'

/** Processes looked at in one turn of the event loop. */
const processesPerTurnMax = 64
/** Between killing and looking again. */
const pauseMs = 5
/** Looks at a container's processes before they are given up: they do not die, or start others faster than these die. */
const looksMax = 200

/**
 * Kills what is left of containers that have ended, wherever it has gone: a signal to the group does not reach a process
 * that has started a session of its own. Such processes are known by the mark in their environment, which costs a walk
 * through /proc; containers that end together share one. Where there is no /proc (macOS) nothing is found.
 */
export class MarkedProcesses {
  readonly #environment: Environment
  readonly #turns: TurnLimiter
  #waiting = new Map<string, PromiseWithResolvers<void>>()
  #working = false

  constructor(environment: Environment) {
    this.#environment = environment
    this.#turns = new TurnLimiter(environment.clock, 1)
  }

  /** Resolves when nothing of the container runs any more, or it is clear that this cannot be had. */
  killAll(containerId: string): Promise<void> {
    const waiting = this.#waiting.get(containerId) ?? Promise.withResolvers<void>()
    this.#waiting.set(containerId, waiting)
    if (!this.#working) void this.#work()
    return waiting.promise
  }

  async #work(): Promise<void> {
    this.#working = true
    while (this.#waiting.size > 0) {
      // Whatever ends in this turn is looked for together.
      await this.#turns.take()
      await this.#turns.take()
      const batch = this.#waiting
      this.#waiting = new Map()
      await this.#killBatch(batch)
    }
    this.#working = false
  }

  async #killBatch(batch: ReadonlyMap<string, PromiseWithResolvers<void>>): Promise<void> {
    let left: ReadonlySet<string> = new Set(batch.keys())
    const killed = new Map<number, string>()
    for (let looks = 0; left.size > 0 && looks < looksMax; looks++) {
      if (looks > 0) await sleep(this.#environment.clock, pauseMs)
      // Where nothing can be read, as when no file descriptor is left, they may all be there.
      const alive = await this.#killOnce(left, killed).catch(() => left)
      for (const [id, { resolve }] of batch) if (!alive.has(id)) resolve()
      left = alive
    }
    for (const id of left) {
      this.#environment.logger.error('processes of a container that has ended do not end', { container: id })
      batch.get(id)?.resolve()
    }
  }

  /** Gives the containers of which something was found, or is still ending. */
  async #killOnce(ids: ReadonlySet<string>, killed: Map<number, string>): Promise<ReadonlySet<string>> {
    // A process that ends loses its environment before it is gone.
    const alive = new Set([...killed].filter(([pid, id]) => ids.has(id) && runs(pid)).map(([, id]) => id))
    for (const [index, pid] of processIds().entries()) {
      if (index % processesPerTurnMax === processesPerTurnMax - 1) await this.#turns.take()
      const id = markOf(pid)
      if (id === undefined || !ids.has(id)) continue
      alive.add(id)
      killed.set(pid, id)
      kill(pid)
    }
    return alive
  }
}

function processIds(): readonly number[] {
  return (readUnlessAbsent(() => readdirSync('/proc')) ?? []).map(Number).filter(Number.isInteger)
}

/** While a process is being launched, and its user changes, its variables have other names in front of them. */
const markPattern = new RegExp(`(?:^|\\0)(?:CORACLE_[A-Z]+_\\d+=)*${containerMark}=([0-9a-f]+)(?:\\0|$)`)

/** The container that a process says it belongs to. Processes of others, zombies and the kernel's own say nothing. */
function markOf(pid: number): string | undefined {
  const environment = readUnlessAbsent(() => readFileSync(`/proc/${pid}/environ`, 'latin1'))
  return environment === undefined ? undefined : markPattern.exec(environment)?.[1]
}

/** Whether a process is there, and is no zombie. */
function runs(pid: number): boolean {
  const stat = readUnlessAbsent(() => readFileSync(`/proc/${pid}/stat`, 'latin1'))
  // The state follows the name, in which anything may stand.
  return stat !== undefined && !'ZX'.includes(stat.charAt(stat.lastIndexOf(')') + 2))
}

/** What ends meanwhile, or belongs to others, is absent. Throws where the system does not tell. */
function readUnlessAbsent<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if (error instanceof Error && 'code' in error && absentCodes.has(String(error.code))) return undefined
    throw error
  }
}

const absentCodes: ReadonlySet<string> = new Set(['ENOENT', 'ESRCH', 'EACCES', 'EPERM'])

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended by itself.
  }
}
