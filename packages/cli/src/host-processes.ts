import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

/** What is known of a process of this host. */
export interface HostProcess {
  readonly pid: number
  /** Process id of its parent. */
  readonly parent: number
  /** Its session: another one where somebody has detached it. */
  readonly session: string
  /** When it started, for comparison: ids are used again. */
  readonly started: string
  /** Its program and arguments, with spaces or NULs between them. */
  readonly command: string
}

export interface HostProcesses {
  /** Undefined for a process that has ended, whether or not anybody has noticed. */
  read(pid: number): HostProcess | undefined
  /** Whether it still runs; true where the system does not tell, as when no file descriptor is left. Costs next to nothing. */
  isAlive(process: HostProcess): boolean
  /** Sends a signal. Throws the system's error where that is not allowed; does nothing where the process has ended. */
  signal(process: HostProcess, signal: NodeJS.Signals): void
}

/** Processes as Linux has them in /proc. */
export const procProcesses: HostProcesses = {
  read(pid) {
    try {
      const stat = readStat(pid)
      return stat && { pid, ...stat, command: readFileSync(`/proc/${pid}/cmdline`, 'utf8') }
    } catch {
      return undefined
    }
  },
  isAlive({ pid, started }) {
    try {
      return readStat(pid)?.started === started
    } catch (error) {
      return !hasCode(error, 'ENOENT', 'ESRCH')
    }
  },
  signal: sendSignal,
}

function sendSignal(this: HostProcesses, target: HostProcess, signal: NodeJS.Signals): void {
  // Not to another process that has got the id since.
  if (this.read(target.pid)?.started !== target.started) return
  try {
    process.kill(target.pid, signal)
  } catch (error) {
    if (!hasCode(error, 'ESRCH')) throw error
  }
}

/** Undefined for a zombie. Throws where there is no such process, and where the system does not tell. */
function readStat(pid: number): Pick<HostProcess, 'parent' | 'session' | 'started'> | undefined {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
  // The name in parentheses may hold anything; the state and the numbers come after it.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const [state = '', parent = '', , session = ''] = fields
  if (state === 'Z' || state === 'X') return undefined
  return { parent: Number(parent), session, started: fields[19] ?? '' }
}

const hasCode = (error: unknown, ...codes: readonly string[]): boolean =>
  error instanceof Error && 'code' in error && codes.includes(String(error.code))

/** Processes as `ps` tells of them. Not every `ps` knows sessions; the terminal, or that there is none, stands for them. */
export const psProcesses: HostProcesses = {
  read(pid) {
    try {
      const columns = ['stat=', 'ppid=', 'tty=', 'lstart=', 'command='].flatMap((column) => ['-o', column])
      const options = { encoding: 'utf8', env: { ...process.env, LC_ALL: 'C' } } as const
      const line = execFileSync('ps', [...columns, '-p', String(pid)], options)
      const found = /^\s*(\S+)\s+(\d+)\s+(\S+)\s+((?:\S+\s+){4}\S+)\s+(.*)/.exec(line)
      if (found === null) return undefined
      const [, state = '', parent = '', session = '', started = '', command = ''] = found
      return state.startsWith('Z') ? undefined : { pid, parent: Number(parent), session, started, command }
    } catch {
      return undefined
    }
  },
  isAlive({ pid }) {
    try {
      process.kill(pid, 0)
      return true
    } catch (error) {
      // EPERM: it is there, and somebody else's.
      return hasCode(error, 'EPERM')
    }
  },
  signal: sendSignal,
}

/** The processes of this host. */
export const hostProcesses: HostProcesses = process.platform === 'linux' ? procProcesses : psProcesses
