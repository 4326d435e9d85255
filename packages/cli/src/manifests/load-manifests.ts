import { glob, readdir, readFile, stat } from 'node:fs/promises'
import { extname, join, resolve } from 'node:path'
import { compareText } from '@coracle/api'
import { CliError } from '../cli-error.ts'
import type { Host } from '../host.ts'
import { type Manifest, parseManifests } from './parse-manifests.ts'

/** Flags of every command that reads manifests. */
export interface ManifestFlags {
  /** Files, directories, patterns such as `*.yaml`, URLs, or `-` for standard input. */
  readonly filename: readonly string[]
  readonly recursive?: boolean
}

/** Files larger than this are refused. */
export const manifestBytesMax = 64 * 1024 * 1024

/** Files of a directory that are read; others lie beside them. */
const extensions = new Set(['.json', '.yaml', '.yml'])

/**
 * The objects of all files named, in order. A directory stands for the JSON and YAML files in it, in order of their
 * names. Rejects with a CliError that names the file where one cannot be read or parsed, before anything is sent.
 */
export async function loadManifests(
  host: Host,
  { filename, recursive = false }: ManifestFlags,
): Promise<readonly Manifest[]> {
  const manifests: Manifest[] = []
  for (const path of filename) manifests.push(...(await loadPath(host, path, recursive)))
  for (const manifest of manifests) warnOfFormerVersion(host, manifest)
  if (filename.length > 0 && manifests.length === 0) throw new CliError(`no objects found in ${filename.join(', ')}`)
  return manifests
}

function warnOfFormerVersion(host: Host, { object, source, formerVersion }: Manifest): void {
  if (formerVersion === undefined) return
  const { apiVersion, kind, metadata } = object
  host.stderr.write(
    `Warning: ${source}: ${kind} ${metadata.name ?? ''} is written in ${formerVersion}, which is served no more; it is read as ${apiVersion}\n`,
  )
}

async function loadPath(host: Host, path: string, recursive: boolean): Promise<readonly Manifest[]> {
  if (path === '') throw new CliError('the name of a file is empty: give -f a file, a directory, a URL or -')
  if (path === '-') return parseManifests(await host.readStdin(), 'STDIN')
  if (/^https?:\/\//.test(path)) return parseManifests(await readUrl(path), path)
  const manifests: Manifest[] = []
  for (const each of await matching(host, path)) {
    for (const file of await filesOf(host, each, recursive)) {
      manifests.push(...parseManifests(await readManifest(host, file), file))
    }
  }
  return manifests
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
