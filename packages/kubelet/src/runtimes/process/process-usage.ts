import { readdirSync, readFileSync } from 'node:fs'
import type { TurnLimiter } from '@coracle/environment'
import type { ContainerStats } from '../runtime.ts'

/** Processes looked at in one turn of the event loop. */
const processesPerTurnMax = 64

/** The unit of CPU times in /proc: 100 in a second, whatever the kernel counts in (`man 5 proc`, sysconf(_SC_CLK_TCK)). */
const tickMs = 10

/**
 * What the processes of sessions use together, by the id of the process that leads each. CPU time of processes that have ended
 * counts with those that waited for them. Memory is what is resident: pages that processes share count for each. One walk
 * through /proc, for all of them; where there is none (macOS) nothing is found.
 */
export async function sessionUsage(
  leaders: ReadonlySet<number>,
  turns: TurnLimiter,
): Promise<ReadonlyMap<number, ContainerStats>> {
  const found = new Map<number, ContainerStats>()
  for (const [index, pid] of processIds().entries()) {
    if (index % processesPerTurnMax === processesPerTurnMax - 1) await turns.take()
    const stat = readOrUndefined(`/proc/${pid}/stat`)
    if (stat === undefined) continue
    const { session, cpuMs } = parseStat(stat)
    if (!leaders.has(session)) continue
    const { cpuMs: otherMs, memoryBytes } = found.get(session) ?? { cpuMs: 0, memoryBytes: 0 }
    found.set(session, { cpuMs: otherMs + cpuMs, memoryBytes: memoryBytes + residentBytes(pid) })
  }
  return found
}

function processIds(): readonly number[] {
  try {
    return readdirSync('/proc').map(Number).filter(Number.isInteger)
  } catch {
    return []
  }
}

/** proc(5): the name in parentheses may hold anything; what follows the last one is fields 3 and up. */
function parseStat(text: string): { readonly session: number; readonly cpuMs: number } {
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  const ticks = fields.slice(11, 15).reduce((sum, each) => sum + Number(each), 0)
  return { session: Number(fields[3]), cpuMs: ticks * tickMs }
}

function residentBytes(pid: number): number {
  const kibibytes = /^VmRSS:\s*(\d+) kB$/m.exec(readOrUndefined(`/proc/${pid}/status`) ?? '')?.[1]
  return Number(kibibytes ?? 0) * 1024
}

/** Processes end while they are looked for. */
function readOrUndefined(path: string): string | undefined {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return undefined
  }
}
