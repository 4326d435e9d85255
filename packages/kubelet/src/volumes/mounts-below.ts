import { readFile, realpath } from 'node:fs/promises'

/**
 * The mount points at a path and below it, without links, deepest first, which is the order to unmount them in. None where the host does not say what is
 * mounted, as macOS.
 */
export async function mountsBelow(path: string): Promise<readonly string[]> {
  const text = await readFile('/proc/self/mountinfo', 'utf8').catch(() => '')
  const real = text === '' ? undefined : await realpath(path).catch(() => undefined)
  if (real === undefined) return []
  return parseMountPoints(text)
    .filter((point) => point === real || point.startsWith(`${real}/`))
    .toReversed()
}

/** Whether something is mounted at a path. */
export const isMountPoint = async (path: string): Promise<boolean> =>
  (await mountsBelow(path)).includes(await realpath(path))

/** Mount points as proc(5) has them, oldest first: blanks, line breaks and backslashes in them are octal. */
export function parseMountPoints(mountinfo: string): readonly string[] {
  return mountinfo.split('\n').flatMap((line) => {
    const point = line.split(' ')[4]
    return point === undefined ? [] : [unescaped(point)]
  })
}

/** What is escaped is bytes, each an ASCII character of its own: others are as they are. */
const unescaped = (text: string): string =>
  text.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)))
