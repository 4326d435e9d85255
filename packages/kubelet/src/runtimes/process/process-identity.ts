import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

/** Tells a process from any other, also from a later one with the same id. */
export interface ProcessIdentity {
  readonly pid: number
  /** When it started, in the host's own words: only good for comparison. */
  readonly startedAt: string
}

/** Reads what a shim wrote about itself; undefined where that is not complete. */
export function parseIdentity(text: string): ProcessIdentity | undefined {
  const [pidText = '', line = '', boot = '', end] = text.split('\n')
  const pid = Number(pidText)
  if (end === undefined || !Number.isInteger(pid) || pid <= 1) return undefined
  const startedAt = boot === '' ? line.trim() : inWords(boot, parseStat(line))
  return startedAt === undefined || startedAt === '' ? undefined : { pid, startedAt }
}

/** Whether this very process is certain to be there. A zombie is not. */
export const isAlive = (identity: ProcessIdentity): boolean => look(identity) === 'alive'

/** Whether this very process is certain to be gone. */
export const hasEnded = (identity: ProcessIdentity): boolean => look(identity) === 'ended'

/** Unknown where the system does not tell, as when no file descriptor is left: nobody must act on that. */
function look({ pid, startedAt }: ProcessIdentity): 'alive' | 'ended' | 'unknown' {
  try {
    return startTimeOf(pid) === startedAt ? 'alive' : 'ended'
  } catch {
    return 'unknown'
  }
}

/** Sends a signal to all of a process group; false where there is none any more. */
export function signalGroup(groupId: number, signal: NodeJS.Signals | number): boolean {
  try {
    process.kill(-groupId, signal)
    return true
  } catch {
    return false
  }
}

/** Undefined without such a process; throws where that cannot be told. */
function startTimeOf(pid: number): string | undefined {
  if (process.platform === 'linux') {
    const stat = readStat(pid)
    return stat === undefined || stat.state === 'Z' || stat.state === 'X' ? undefined : inWords(bootId(), stat)
  }
  try {
    const text = execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], {
      encoding: 'utf8',
    }).trim()
    return text === '' ? undefined : text
  } catch (error) {
    // ps has looked, and found none.
    if (error instanceof Error && 'status' in error && typeof error.status === 'number') return undefined
    throw error
  }
}

interface Stat {
  readonly state: string
  /** Clock ticks since the host was started: says nothing without the id of that start. */
  readonly startTicks: string
}

function inWords(boot: string, stat: Stat | undefined): string | undefined {
  return stat === undefined ? undefined : `${boot}/${stat.startTicks}`
}

/** proc(5): the name in parentheses may hold anything; what follows the last one is fields 3 and up. */
function parseStat(line: string): Stat | undefined {
  const fields = line.slice(line.lastIndexOf(')') + 2).split(' ')
  const [state] = fields
  const ticks = fields[19]
  return state === undefined || ticks === undefined ? undefined : { state, startTicks: ticks }
}

function readStat(pid: number): Stat | undefined {
  try {
    return parseStat(readFileSync(`/proc/${pid}/stat`, 'latin1'))
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ESRCH'))
      return undefined
    throw error
  }
}

let cachedBootId: string | undefined

function bootId(): string {
  cachedBootId ??= readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim()
  return cachedBootId
}
