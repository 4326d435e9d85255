import { readFileSync } from 'node:fs'

/**
 * When a process started, in the units of the system: with the process id it names one process, however often the id was
 * used. Undefined for a process that has ended, and where the system does not tell (only Linux does, in /proc).
 */
export function processStart(pid: number | 'self' = 'self'): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The program's name in parentheses may hold anything; the numbers come after it.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]
  } catch {
    return undefined
  }
}
