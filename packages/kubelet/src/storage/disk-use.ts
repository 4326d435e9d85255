import { execFile } from 'node:child_process'
import type { DiskUse } from './storage-use.ts'

/** How long the program may take: it is ended then, and nothing is known. */
const measureMaxMs = 600_000
/** Of its output, a line for each path. */
const outputBytesMax = 1024 * 1024

/**
 * Ends `du` where it is told to end. The shell tells in its last two lines for how long it, and what it has started, have had a processor: a system
 * under load makes a program of the lowest priority wait many times as long.
 */
const script = 'trap "kill \\$!; exit" TERM; nice -n 19 du -s -k -x "$@" & wait; times'

/**
 * How many bytes of disk are taken by what is at each of these paths and below, on the same file system. Paths where nothing is are left out, and all of
 * them where that cannot be told. The program `du` walks through them, at the lowest priority: it takes nothing of this process, and counts
 * files with several names once.
 */
export async function diskUse(paths: readonly string[], signal: AbortSignal): Promise<DiskUse> {
  if (paths.length === 0) return { bytes: new Map(), workedMs: 0 }
  const options = { timeout: measureMaxMs, maxBuffer: outputBytesMax, signal }
  const output = await new Promise<string>((resolve) => {
    // What goes while it looks, and paths that are not there, it complains of in the end.
    execFile('sh', ['-c', script, 'sh', ...paths], options, (_, stdout) => resolve(stdout))
  })
  const lines = output.split('\n')
  return {
    bytes: new Map(
      lines.flatMap((line) => {
        const [, kibibytes, path] = /^(\d+)\t(.*)$/.exec(line) ?? []
        return kibibytes === undefined || path === undefined ? [] : [[path, Number(kibibytes) * 1024] as const]
      }),
    ),
    workedMs: lines.slice(-3).reduce((sum, line) => sum + processorMs(line), 0),
  }
}

/** What a line of `times` tells: `0m0.010s 1m2.250s`, and in some languages with a comma. */
const processorMs = (line: string): number =>
  [...line.matchAll(/(?<=^| )(\d+)m(\d+)[.,](\d+)s(?=$| )/g)].reduce(
    (sum, [, minutes, seconds, fraction]) => sum + Number(minutes) * 60_000 + Number(`${seconds}.${fraction}`) * 1000,
    0,
  )
