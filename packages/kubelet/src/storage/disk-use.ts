import { execFile } from 'node:child_process'

/** How long the program may take: it is ended then, and nothing is known. */
const measureMaxMs = 600_000
/** Of its output, a line for each path. */
const outputBytesMax = 1024 * 1024

/**
 * How many bytes of disk are taken by what is at each of these paths and below, on the same file system. Paths where nothing is are left out, and all of
 * them where that cannot be told. The program `du` walks through them, at the lowest priority: it takes nothing of this process, and counts
 * files with several names once.
 */
export async function diskUse(paths: readonly string[], signal: AbortSignal): Promise<ReadonlyMap<string, number>> {
  if (paths.length === 0) return new Map()
  const options = { timeout: measureMaxMs, maxBuffer: outputBytesMax, signal }
  const output = await new Promise<string>((resolve) => {
    // What goes while it looks, and paths that are not there, it complains of in the end.
    execFile('nice', ['-n', '19', 'du', '-s', '-k', '-x', ...paths], options, (_, stdout) => resolve(stdout))
  })
  return new Map(
    output.split('\n').flatMap((line) => {
      const [, kibibytes, path] = /^(\d+)\t(.*)$/.exec(line) ?? []
      return kibibytes === undefined || path === undefined ? [] : [[path, Number(kibibytes) * 1024] as const]
    }),
  )
}
