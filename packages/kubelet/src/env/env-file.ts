import { closeSync, constants, realpathSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { openExactly } from '../volumes/exact-path.ts'

/** No file of variables is larger: what a process takes for its environment is less. */
export const envFileBytesMax = 1024 * 1024

/**
 * The value of a variable in a file of variables, which is in a volume; undefined where the file does not have it. Links have been followed when
 * its path was found. Rejects where it cannot be read, is no plain file, is too large, or breaks the format before the variable is found.
 */
export async function readEnvFile(path: string, key: string, volume: string): Promise<string | undefined> {
  const file = await openPlain(path, volume)
  try {
    return parseEnvFile(await contentOf(file), key)
  } finally {
    await file.close()
  }
}

/** A container may have put a pipe there, which must not be waited for, or by now a link to another's file, which must not be read. */
async function openPlain(path: string, volume: string): Promise<FileHandle> {
  const flags = constants.O_RDONLY | constants.O_NONBLOCK
  if (process.platform !== 'linux') return open(path, flags | constants.O_NOFOLLOW)
  const handle = openExactly(join(realpathSync(volume), relative(volume, path)))
  try {
    return await open(`/proc/self/fd/${handle}`, flags)
  } finally {
    closeSync(handle)
  }
}

async function contentOf(file: FileHandle): Promise<string> {
  if (!(await file.stat()).isFile()) throw new Error('it is not a file')
  // It may grow meanwhile: what it was said to have does not count.
  const bytes = Buffer.alloc(envFileBytesMax + 1)
  let length = 0
  for (;;) {
    const { bytesRead } = await file.read(bytes, length, bytes.length - length, length)
    length += bytesRead
    if (length > envFileBytesMax) throw new Error(`it has more than ${envFileBytesMax} bytes`)
    if (bytesRead === 0) return bytes.toString('utf8', 0, length)
  }
}

/**
 * The value of a variable in the text of a file of variables; undefined where it has none. The format is a part of the POSIX shell's
 * (https://kubernetes.io/docs/tasks/inject-data-application/define-environment-variable-via-file/): `NAME='value'`, the value as it
 * stands between the quotes, over several lines if need be; blank lines; comments after `#`. Throws where a line before the end of the
 * value breaks it. Pure.
 */
export function parseEnvFile(text: string, key: string): string | undefined {
  const lines = text.split('\n').map((line) => line.replace(/\r$/, ''))
  for (let index = 0; index < lines.length; index++) {
    const line = (lines[index] ?? '').replace(/^[ \t]+/, '')
    if (line === '' || line.startsWith('#')) continue
    const name = nameIn(line, index)
    const start = line.slice(name.length + 1)
    // As a shell has it, a value that begins with a blank is empty.
    if (/^[ \t]/.test(start)) {
      if (name === key) return undefined
      continue
    }
    if (!start.startsWith("'")) throw problem(index, 'a value must stand in single quotes')
    const { value, last } = quoted(lines, index, start.slice(1))
    if (name === key) return value === '' ? undefined : value
    index = last
  }
  return undefined
}

function nameIn(line: string, index: number): string {
  const end = line.indexOf('=')
  if (end < 0) throw problem(index, "there is no '='")
  const name = line.slice(0, end)
  if (name === '') throw problem(index, 'a variable has no name')
  if (/[ \t]$/.test(name)) throw problem(index, "there must be no blank before '='")
  return name
}

/** What stands from `rest` of a line to the quote that ends it, and the line that has it. */
function quoted(
  lines: readonly string[],
  first: number,
  rest: string,
): { readonly value: string; readonly last: number } {
  const parts: string[] = []
  let part = rest
  for (let last = first; ; ) {
    const end = part.indexOf("'")
    if (end >= 0) {
      const after = part.slice(end + 1).replace(/^[ \t]+/, '')
      if (after !== '' && !after.startsWith('#')) throw problem(last, 'something stands after the closing quote')
      return { value: [...parts, part.slice(0, end)].join('\n'), last }
    }
    parts.push(part)
    last++
    const next = lines[last]
    if (next === undefined) throw problem(first, 'a quote is not closed')
    part = next
  }
}

const problem = (index: number, what: string): Error => new Error(`line ${index + 1}: ${what}`)
