import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { readFile, realpath } from 'node:fs/promises'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** How long a mount may take: one that takes longer hangs. */
const mountTimeoutMs = 10_000

/**
 * The mount points at a path and below it, without links, deepest first, which is the order to unmount them in. None where the host does not say what is
 * mounted, as macOS.
 */
export async function mountsBelow(path: string): Promise<readonly string[]> {
  const text = await readFile('/proc/self/mountinfo', 'utf8').catch(() => '')
  const real = text === '' ? undefined : await realpath(path).catch(() => undefined)
  if (real === undefined) return []
  return parseMounts(text)
    .map(({ point }) => point)
    .filter((point) => point === real || point.startsWith(`${real}/`))
    .toReversed()
}

/** Whether something is mounted at a path. */
export const isMountPoint = async (path: string): Promise<boolean> =>
  (await mountsBelow(path)).includes(await realpath(path))

/** Something that is mounted. */
export interface Mounted {
  readonly point: string
  /** Of this mount, such as `ro` and `nosuid`. */
  readonly options: readonly string[]
}

/** What this process sees mounted; nothing where the host does not say that. */
export function mounted(): readonly Mounted[] {
  try {
    return parseMounts(readFileSync('/proc/self/mountinfo', 'utf8'))
  } catch {
    return []
  }
}

/** Mounts as proc(5) has them, oldest first: blanks, line breaks and backslashes in them are octal. */
export function parseMounts(mountinfo: string): readonly Mounted[] {
  return mountinfo.split('\n').flatMap((line) => {
    const [, , , , point, options = ''] = line.split(' ')
    return point === undefined ? [] : [{ point: unescaped(point), options: options.split(',') }]
  })
}

/** What is escaped is bytes, each an ASCII character of its own: others are as they are. */
const unescaped = (text: string): string =>
  text.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)))

/**
 * Unmounts all that is mounted at a path and below: also what containers have mounted in volumes and shared with the node
 * (`mountPropagation: Bidirectional`).
 */
export async function unmountBelow(path: string): Promise<void> {
  for (const point of await mountsBelow(path)) await unmount(point)
}

/** Unmounts what is mounted at a path: where it is still in use it goes from there at once, and for good when it no longer is. */
export async function unmount(path: string): Promise<void> {
  if ((await problemOfMount('umount', [path])) === undefined) return
  const problem = await problemOfMount('umount', ['-l', path])
  if (problem !== undefined) throw new Error(problem)
}

/** Runs `mount` or `umount`, or one of them by its path. Undefined where it could be done, or else why not, in the words of the program. */
export async function problemOfMount(program: string, args: readonly string[]): Promise<string | undefined> {
  try {
    await run(program, args, { timeout: mountTimeoutMs })
    return undefined
  } catch (error) {
    const { stderr = '', message } = error as Error & { readonly stderr?: string }
    return stderr.trim() || message
  }
}
