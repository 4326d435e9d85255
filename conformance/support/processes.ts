import { readdirSync, readFileSync } from 'node:fs'

/** A process of this host. */
export interface HostProcess {
  readonly pid: number
  /** Its command line, a word each. */
  readonly command: readonly string[]
}

/**
 * The processes that were started with this environment variable, as /proc has them: Linux only. Zombies are none.
 * A variable tells the processes of a test from all others of the host.
 */
export function processesWith(name: string, value: string): readonly HostProcess[] {
  return readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry))
    .filter((entry) => wordsOf(`/proc/${entry}/environ`).includes(`${name}=${value}`))
    .map((entry) => ({ pid: Number(entry), command: wordsOf(`/proc/${entry}/cmdline`) }))
}

/** Whether there is such a process; a zombie, which only waits to be noticed, is gone. */
export function isRunning(pid: number): boolean {
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'))
  } catch {
    return false
  }
}

function wordsOf(path: string): readonly string[] {
  try {
    return readFileSync(path, 'utf8').split('\0').slice(0, -1)
  } catch {
    return []
  }
}
