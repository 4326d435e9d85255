import { stat } from 'node:fs/promises'
import { basename, join, posix, resolve } from 'node:path'
import { PassThrough, type Readable, Transform, type TransformCallback, type Writable } from 'node:stream'
import { type Pod, pods } from '@coracle/api'
import { goQuoted } from '@coracle/api/go-text'
import { execInPod } from '@coracle/client/streaming'
import { CliError } from '../../cli-error.ts'
import { checkConnection } from '../../connection.ts'
import type { Host } from '../../host.ts'
import { type ConnectionFlags, type Session, withSession } from '../../session.ts'
import { writableOf } from '../connect-streams.ts'
import { containerFor, podKey } from '../exec.ts'
import { type FileSpec, parseFileSpec } from './file-spec.ts'
import { sendPacked } from './pack.ts'
import { archivePrefix, unpackFrom } from './unpack.ts'

export interface CopyFlags extends ConnectionFlags {
  readonly container?: string
  /** Whether owners and permissions are kept. */
  readonly preserve: boolean
  /** How often a copy from a container goes on that broke off; below zero: always. */
  readonly retries: number
}

/** `coracle cp PATH POD:PATH`, `coracle cp POD:PATH PATH` */
export async function copy(host: Host, args: readonly (string | undefined)[], flags: CopyFlags): Promise<void> {
  await checkConnection(host, flags)
  const [source, destination, ...more] = args
  if (source === undefined || destination === undefined || more.length > 0) {
    throw new CliError('source and destination are required')
  }
  const [from, to] = [parseFileSpec(source), parseFileSpec(destination)]
  if (from.pod !== undefined && to.pod !== undefined) {
    throw new CliError('one of src or dest must be a local file specification')
  }
  if (from.path === '' || to.path === '') throw new CliError('filepath can not be empty')
  if (from.pod === undefined && to.pod === undefined) {
    throw new CliError('one of src or dest must be a remote file specification')
  }
  if (from.pod === undefined && !(await isThere(host, from.path))) {
    throw new CliError(`${from.path} doesn't exist in local filesystem`)
  }
  await withSession(host, flags, async (session) => {
    const remote = await remoteOf(host, session, from.pod === undefined ? to : from, flags)
    if (from.pod === undefined) await copyToPod(host, remote, from, to, flags)
    else await copyFromPod(host, remote, from, to, flags)
  })
}

const isThere = async ({ workingDirectory }: Host, path: string): Promise<boolean> =>
  (await stat(resolve(workingDirectory, path)).catch(() => undefined)) !== undefined

/** Runs commands in the container that is copied to or from. */
interface Remote {
  run(
    command: readonly string[],
    streams: {
      readonly stdin?: Readable
      readonly stdout?: Writable
      readonly stderr?: Writable
      /** Ends it. */
      readonly signal?: AbortSignal
    },
  ): Promise<number>
  /** A command line that copies a path with all that is in it. */
  hintFor(path: string): string
}

async function remoteOf(host: Host, session: Session, spec: FileSpec, flags: CopyFlags): Promise<Remote> {
  const { namespace = session.namespace, pod: name = '' } = spec
  const pod = await session.client.get<Pod>(pods, { name, namespace })
  const container = containerFor(host, pod, flags)
  const { clock } = host.environment
  return {
    run: (command, streams) =>
      execInPod(session.client, clock, podKey(session, pod), { ...streams, container, command }),
    hintFor: (path) =>
      `coracle exec -n ${goQuoted(namespace)} ${goQuoted(name)} -- tar cf - ${goQuoted(path)} | tar xf -`,
  }
}

async function copyToPod(host: Host, remote: Remote, from: FileSpec, to: FileSpec, flags: CopyFlags): Promise<void> {
  const source = resolve(host.workingDirectory, from.path)
  // A folder that is there takes it in under its own name.
  const isFolder = (await remote.run(['test', '-d', to.path], { stdout: new PassThrough().resume() })) === 0
  const target = isFolder ? posix.join(to.path, basename(source)) : to.path.replace(/(?<=.)\/+$/, '')
  const kept = flags.preserve ? [] : ['--no-same-permissions', '--no-same-owner']
  const command = ['tar', ...kept, '-xmf', '-', '-C', posix.dirname(target)]
  const streams = { stdout: writableOf(host.stdout), stderr: writableOf(host.stderr) }
  const code = await sendPacked(source, posix.basename(target), (stdin, signal) =>
    remote.run(command, { ...streams, stdin, signal }),
  )
  if (code !== 0) throw new CliError(`command terminated with exit code ${code}`)
}

async function copyFromPod(host: Host, remote: Remote, from: FileSpec, to: FileSpec, flags: CopyFlags): Promise<void> {
  const given = resolve(host.workingDirectory, to.path)
  const isFolder =
    (await stat(given).catch(() => undefined))?.isDirectory() === true && /[/\\]$|^\.{1,2}$/.test(to.path)
  const destination = isFolder ? join(given, posix.basename(from.path)) : given
  const archive = new CountedBytes()
  const givenUp = new AbortController()
  const fetching = fetchArchive(host, remote, from.path, flags.retries, archive, givenUp.signal)
  fetching.catch((error: Error) => archive.destroy(error))
  const warn = (text: string) => host.stderr.write(`${text}\n`)
  const unpacking = unpackFrom(archive, {
    prefix: archivePrefix(from.path),
    destination,
    warn,
    hint: remote.hintFor(from.path),
  })
  unpacking.catch((error: Error) => givenUp.abort(error))
  const [fetched, unpacked] = await Promise.allSettled([fetching, unpacking])
  if (fetched.status === 'rejected') throw fetched.reason
  if (unpacked.status === 'rejected') throw unpacked.reason
}

/** Passes on what comes, and counts it. */
class CountedBytes extends Transform {
  bytes = 0

  override _transform(chunk: Buffer, _encoding: BufferEncoding, callback: TransformCallback): void {
    this.bytes += chunk.length
    callback(null, chunk)
  }
}

/** Has the container send an archive of a path; goes on where it broke off, unless it is given up. */
async function fetchArchive(
  host: Host,
  remote: Remote,
  path: string,
  retries: number,
  archive: CountedBytes,
  signal: AbortSignal,
): Promise<void> {
  for (let tries = 0; ; tries++) {
    const rest = `tar cf - ${quoted(path)} | tail -c+${archive.bytes + 1}`
    const command = retries === 0 ? ['tar', 'cf', '-', path] : ['sh', '-c', rest]
    try {
      const code = await remote.run(command, { stdout: archive, stderr: writableOf(host.stderr), signal })
      if (code !== 0) throw new CliError(`command terminated with exit code ${code}`)
      archive.end()
      return
    } catch (error) {
      if (signal.aborted || (retries >= 0 && tries >= retries)) throw error
      host.stderr.write(`Resuming copy at ${archive.bytes} bytes, retry ${tries + 1}/${retries}\n`)
    }
  }
}

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`
