import { glob, readdir, readFile, stat } from 'node:fs/promises'
import { extname, join, resolve } from 'node:path'
import { compareText } from '@coracle/api'
import { CliError } from '../cli-error.ts'
import type { Host } from '../host.ts'
import { type Manifest, type ReadManifests, readManifests } from './parse-manifests.ts'

/** Flags of every command that reads manifests. */
export interface ManifestFlags {
  /** Files, directories, patterns such as `*.yaml`, URLs, or `-` for standard input. */
  readonly filename: readonly string[]
  readonly recursive?: boolean
}

/** What becomes of the objects of files. */
export interface ManifestUse {
  /** They are written: what is wrong with one is told as kubectl's validation tells it. */
  readonly isWritten?: boolean
  /** The command has words of its own where there are none. */
  readonly mayBeNone?: boolean
}

/** Files larger than this are refused. */
export const manifestBytesMax = 64 * 1024 * 1024

/** Files of a directory that are read; others lie beside them. */
const extensions = new Set(['.json', '.yaml', '.yml'])

/**
 * The objects of all files named, in order. A directory stands for the JSON and YAML files in it, in order of their
 * names. Rejects with a CliError that names the file where one cannot be read or parsed, before anything is sent; and where there
 * are files, and no objects in them, unless there may be none.
 */
export async function loadManifests(
  host: Host,
  flags: ManifestFlags,
  use: ManifestUse = {},
): Promise<readonly Manifest[]> {
  const { manifests, failures } = await loadReadable(host, flags, use)
  if (failures.length > 0) throw failures[0]
  return manifests
}

/**
 * The same for commands that go on, as kubectl does, with what can be read where something else in the files cannot. Rejects
 * with a CliError where a file itself is not there.
 */
export async function loadReadable(
  host: Host,
  { filename, recursive = false }: ManifestFlags,
  { isWritten = false, mayBeNone = false }: ManifestUse = {},
): Promise<ReadManifests> {
  const manifests: Manifest[] = []
  const failures: unknown[] = []
  for (const path of filename) {
    for (const { text, source } of await loadPath(host, path, recursive)) {
      const read = readManifests(text, source, isWritten)
      manifests.push(...read.manifests)
      failures.push(...read.failures)
    }
  }
  for (const manifest of manifests) warnOfFormerVersion(host, manifest)
  if (filename.length > 0 && manifests.length === 0 && failures.length === 0 && !mayBeNone) {
    throw new CliError(`no objects found in ${filename.join(', ')}`)
  }
  return { manifests, failures }
}

/** Does something with the objects that can be read, and rejects in the end with what failed and what could not be read. */
export async function withReadable(
  host: Host,
  flags: ManifestFlags,
  use: ManifestUse,
  act: (manifests: readonly Manifest[]) => Promise<void>,
): Promise<void> {
  const { manifests, failures } = await loadReadable(host, flags, use)
  if (failures.length === 0) return act(manifests)
  const errors = [...failures]
  if (manifests.length > 0) {
    await act(manifests).catch((error: unknown) => {
      errors.push(...(error instanceof AggregateError ? error.errors : [error]))
    })
  }
  throw new AggregateError(errors)
}

function warnOfFormerVersion(host: Host, { object, source, formerVersion }: Manifest): void {
  if (formerVersion === undefined) return
  const { apiVersion, kind, metadata } = object
  host.stderr.write(
    `Warning: ${source}: ${kind} ${metadata.name ?? ''} is written in ${formerVersion}, which is served no more; it is read as ${apiVersion}\n`,
  )
}

/** What a file holds, and what messages call it. */
interface SourceText {
  readonly text: string
  readonly source: string
}

async function loadPath(host: Host, path: string, recursive: boolean): Promise<readonly SourceText[]> {
  if (path === '') throw new CliError('the name of a file is empty: give -f a file, a directory, a URL or -')
  if (path === '-') return [{ text: await host.readStdin(), source: 'STDIN' }]
  if (/^https?:\/\//.test(path)) return [{ text: await readUrl(path), source: path }]
  const texts: SourceText[] = []
  for (const each of await matching(host, path)) {
    const files = await filesOf(host, each, recursive)
    if (files.length === 0) {
      throw new CliError(`error reading [${each}]: recognized file extensions are [${[...extensions].join(' ')}]`)
    }
    for (const source of files) texts.push({ text: await readManifest(host, source), source })
  }
  return texts
}

async function readUrl(url: string): Promise<string> {
  const response = await fetch(url).catch((error: unknown) => {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
    throw new CliError(`unable to read URL "${url}": ${cause instanceof Error ? cause.message : cause}`)
  })
  const { status, statusText } = response
  if (!response.ok) throw new CliError(`unable to read URL "${url}", server reported ${status} ${statusText}`)
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length
    if (bytes > manifestBytesMax) throw tooLarge(url)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

/** The paths that a pattern such as `*.yaml` matches, in order; a path that is none stands for itself. */
async function matching({ workingDirectory }: Host, pattern: string): Promise<readonly string[]> {
  if (!/[*?[]/.test(pattern)) return [pattern]
  const found: string[] = []
  for await (const path of glob(pattern, { cwd: workingDirectory })) found.push(path)
  if (found.length === 0) throw new CliError(`the path "${pattern}" does not exist`)
  return found.sort(compareText)
}

async function filesOf(host: Host, path: string, recursive: boolean): Promise<readonly string[]> {
  if (!(await about(host, path)).isDirectory()) return [path]
  const entries = await readdir(resolve(host.workingDirectory, path), { withFileTypes: true })
  const files: string[] = []
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const child = join(path, entry.name)
    if (entry.isDirectory() && recursive) files.push(...(await filesOf(host, child, true)))
    else if (!entry.isDirectory() && extensions.has(extname(entry.name))) files.push(child)
  }
  return files
}

async function readManifest(host: Host, path: string): Promise<string> {
  const { size } = await about(host, path)
  if (size > manifestBytesMax) throw tooLarge(path)
  return readFile(resolve(host.workingDirectory, path), 'utf8').catch((error: unknown) => {
    throw unreadable(path, error)
  })
}

const tooLarge = (path: string): CliError =>
  new CliError(`${path} is larger than ${manifestBytesMax / 1024 / 1024} MiB`)

function about(host: Host, path: string) {
  return stat(resolve(host.workingDirectory, path)).catch((error: unknown) => {
    throw unreadable(path, error)
  })
}

function unreadable(path: string, error: unknown): CliError {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (code === 'ENOENT') return new CliError(`the path "${path}" does not exist`)
  return new CliError(`cannot read "${path}": ${error instanceof Error ? error.message : error}`)
}
