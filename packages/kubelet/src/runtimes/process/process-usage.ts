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
  const found = new Map<number, Used>()
  for (const [index, pid] of processIds().entries()) {
    if (index % processesPerTurnMax === processesPerTurnMax - 1) await turns.take()
    const stat = readOrUndefined(`/proc/${pid}/stat`)
    if (stat === undefined) continue
    const { session, ...used } = parseStat(stat)
    if (!leaders.has(session)) continue
    found.set(session, sum(found.get(session), { ...used, ...memoryOf(pid), processes: 1 }))
  }
  return new Map([...found].map(([session, used]) => [session, statsOf(used)]))
}

/** What processes have used. Not a number is what the kernel does not tell. */
interface Used {
  readonly cpuUserMs: number
  readonly cpuSystemMs: number
  readonly residentBytes: number
  readonly anonymousBytes: number
  readonly swapBytes: number
  readonly threads: number
  readonly processes: number
}

const sum = (one: Used | undefined, other: Used): Used =>
  one === undefined
    ? other
    : {
        cpuUserMs: one.cpuUserMs + other.cpuUserMs,
        cpuSystemMs: one.cpuSystemMs + other.cpuSystemMs,
        residentBytes: one.residentBytes + other.residentBytes,
        anonymousBytes: one.anonymousBytes + other.anonymousBytes,
        swapBytes: one.swapBytes + other.swapBytes,
        threads: one.threads + other.threads,
        processes: one.processes + other.processes,
      }

/** All that is resident counts as used and in use: which pages of files have not been needed for long is not told. */
function statsOf({ cpuUserMs, cpuSystemMs, residentBytes, ...used }: Used): ContainerStats {
  return {
    cpuMs: cpuUserMs + cpuSystemMs,
    cpuUserMs,
    cpuSystemMs,
    memoryBytes: residentBytes,
    memoryUsageBytes: residentBytes,
    ...(Number.isNaN(used.anonymousBytes) ? {} : { memoryRssBytes: used.anonymousBytes }),
    ...(Number.isNaN(used.swapBytes) ? {} : { memorySwapBytes: used.swapBytes }),
    processes: used.processes,
    threads: used.threads,
  }
}

function processIds(): readonly number[] {
  try {
    return readdirSync('/proc').map(Number).filter(Number.isInteger)
  } catch {
    return []
  }
}

/** proc(5): the name in parentheses may hold anything; what follows the last one is fields 3 and up. */
function parseStat(text: string) {
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  const ms = (own: number, waitedFor: number) => (Number(fields[own]) + Number(fields[waitedFor])) * tickMs
  return {
    session: Number(fields[3]),
    cpuUserMs: ms(11, 13),
    cpuSystemMs: ms(12, 14),
    threads: Number(fields[17]),
  }
}

const memoryLine = /^(VmRSS|RssAnon|VmSwap):\s*(\d+) kB$/gm

function memoryOf(pid: number): Pick<Used, 'residentBytes' | 'anonymousBytes' | 'swapBytes'> {
  const lines = (readOrUndefined(`/proc/${pid}/status`) ?? '').matchAll(memoryLine)
  const bytes = new Map([...lines].map(([, name, kibibytes]) => [name, Number(kibibytes) * 1024]))
  // A process that has ended and is not waited for yet has no memory.
  if (bytes.size === 0) return { residentBytes: 0, anonymousBytes: 0, swapBytes: 0 }
  return {
    residentBytes: bytes.get('VmRSS') ?? 0,
    anonymousBytes: bytes.get('RssAnon') ?? Number.NaN,
    swapBytes: bytes.get('VmSwap') ?? Number.NaN,
  }
}

/** Processes end while they are looked for. */
function readOrUndefined(path: string): string | undefined {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return undefined
  }
}
