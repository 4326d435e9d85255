import { readFile, stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { CliError, SummaryError } from '../cli-error.ts'
import type { Host } from '../host.ts'
import { type ManifestFlags, manifestBytesMax } from '../manifests/load-manifests.ts'
import { type ConnectionFlags, withSession } from '../session.ts'

export interface RawRequestFlags extends ConnectionFlags, ManifestFlags {
  readonly output?: string
}

/**
 * Sends what the file holds, or nothing where none is named, to a path of the server as it is, and prints the answer as it
 * is. Rejects with a CliError, in kubectl's words, where other flags contradict that.
 */
export async function rawRequest(
  host: Host,
  method: 'POST' | 'PUT' | 'DELETE',
  path: string,
  flags: RawRequestFlags,
): Promise<void> {
  checkRawFlags(path, flags)
  const [file] = flags.filename
  const body = file === undefined ? undefined : await readBody(host, file)
  await withSession(host, flags, async ({ client }) => {
    const sent = body === undefined ? {} : { body, contentType: 'application/json' }
    const answer = await client.request({ method, path, accept: 'application/json, */*', ...sent })
    host.stdout.write(answer.body)
  })
}

function checkRawFlags(path: string, { filename, recursive, output }: RawRequestFlags): void {
  if (filename.length > 1) throw new CliError('--raw can only use a single local file or stdin')
  if (/^https?:\/\//.test(filename[0] ?? '')) throw new CliError('--raw cannot read from a url')
  if (recursive === true) throw new CliError('--raw and --recursive are mutually exclusive')
  if (output) throw new CliError('--raw and --output are mutually exclusive')
  checkRawPath(path)
}

/** Throws a CliError where `--raw` names no path. */
export function checkRawPath(path: string): void {
  if (path.startsWith('/')) return
  throw new CliError(`--raw must be a valid URL path: parse ${JSON.stringify(path)}: invalid URI for request`)
}

async function readBody(host: Host, file: string): Promise<string> {
  if (file === '-') return host.readStdin()
  const path = resolve(host.workingDirectory, file)
  try {
    const { size } = await stat(path)
    if (size > manifestBytesMax) throw new CliError(`${file} is larger than ${manifestBytesMax / 1024 / 1024} MiB`)
    return await readFile(path, 'utf8')
  } catch (error) {
    if (error instanceof CliError) throw error
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code === 'ENOENT') throw new CliError(`open ${file}: no such file or directory`)
    // kubectl opens a directory as a file, and fails when it sends what that holds.
    if (code === 'EISDIR') throw new SummaryError(`Unable to connect to the server: read ${file}: is a directory`)
    throw new CliError(`cannot read "${file}": ${error}`)
  }
}
