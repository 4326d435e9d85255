import { glob, readdir, readFile, stat } from 'node:fs/promises'
import { extname, join, resolve } from 'node:path'
import { compareText } from '@coracle/api'
import { CliError } from '../cli-error.ts'
import type { Host } from '../host.ts'
import { hasPairs } from '../resources/resource-arguments.ts'
import type { Kustomization } from './kustomization.ts'
import type { Manifest, Reading, ReadManifests, UnreadableDocument } from './parse-manifests.ts'
import { readEntries } from './read-entries.ts'

/** Flags of every command that reads manifests. */
export interface ManifestFlags {
  /** Files, directories, patterns such as `*.yaml`, URLs, or `-` for standard input. */
  readonly filename: readonly string[]
  readonly recursive?: boolean
  readonly kustomize?: Kustomization
}

/** Whether flags name files, or what may be in their place. */
export const hasFiles = ({ filename, kustomize }: ManifestFlags): boolean =>
  filename.length > 0 || kustomize !== undefined

/** What becomes of the objects of files. */
export interface ManifestUse extends Reading {
  /** Arguments of the command that name objects: there may be none beside files. */
  readonly args?: readonly string[]
}

/** The files, URLs and `-` that flags name. Rejects as `loadReadable` does where they are not there. */
export const filesNamed = (host: Host, { filename, recursive = false }: ManifestFlags): Promise<readonly string[]> =>
  host.environment.clock.hold(expandAll(host, filename, recursive))

/** Throws CliErrors, in kubectl's words, where a kustomization stands beside files. */
export function requireOneSource({ filename, recursive = false, kustomize }: ManifestFlags): void {
  if (kustomize === undefined) return
  const refusals = [
    ...(filename.length > 0 ? ['only one of -f or -k can be specified'] : []),
    ...(recursive ? ["the -k flag can't be used with -f or -R"] : []),
  ]
  if (refusals.length > 0) throw new AggregateError(refusals.map((text) => new CliError(text)))
}

/** Whether what flags name is in one file; standard input is none. */
export async function isOneFile(host: Host, flags: ManifestFlags): Promise<boolean> {
  const files = hasFiles(flags) ? await filesNamed(host, flags) : []
  return files.length === 1 && files[0] !== '-'
}

/** What is said where standard input is to be read for two things. */
export const inputTwiceText = 'standard input cannot be used for multiple arguments'

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
  flags: ManifestFlags,
  use: ManifestUse = {},
): Promise<readonly Manifest[]> {
  const { manifests, failures } = await loadReadable(host, flags, use)
  if (failures.length > 0) throw failures[0]
  return manifests
}

/**
 * The same for commands that go on, as kubectl does, with what can be read where something else in the files cannot. Rejects
 * with CliErrors where files themselves are not there, all of which are told together, and where arguments stand beside them.
 * No time passes meanwhile for a change that is only played.
 */
export const loadReadable = (host: Host, flags: ManifestFlags, use: ManifestUse = {}): Promise<ReadManifests> =>
  host.environment.clock.hold(readSources(host, flags, use))

async function readSources(
  host: Host,
  flags: ManifestFlags,
  { args = [], ...reading }: ManifestUse,
): Promise<ReadManifests> {
  const sources = await requireSources(host, flags, args)
  const { kustomize } = flags
  if (kustomize !== undefined) {
    const { kustomizationRefusal } = await import('./kustomization.ts')
    return readEntries([{ failure: await kustomizationRefusal(host, kustomize) }])
  }
  const entries: (Manifest | UnreadableDocument)[] = []
  for (const source of sources) {
    try {
      const { text, name } = await loadSource(host, source)
      // The parser, and all that is known of kinds: only who has files needs them.
      const { readManifests } = await import('./parse-manifests.ts')
      for (const entry of readManifests(text, name, reading).entries) entries.push(entry)
    } catch (failure) {
      entries.push({ failure })
    }
  }
  const read = readEntries(entries)
  for (const manifest of read.manifests) warnOfFormerVersion(host, manifest)
  return read
}

/** The files, URLs and `-` that flags name. Rejects as `loadReadable` does where they are not there, or arguments stand beside them. */
export async function requireSources(
  host: Host,
  flags: ManifestFlags,
  args: readonly string[],
): Promise<readonly string[]> {
  requireOneSource(flags)
  const sources = await filesNamed(host, flags)
  if (hasFiles(flags)) requireFilesAlone(args)
  return sources
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
  readonly name: string
}

/** Throws a CliError where there are arguments beside files. */
function requireFilesAlone(args: readonly string[]): void {
  if (args.length === 0) return
  throw new CliError(
    hasPairs(args)
      ? 'resource/name arguments cannot be provided when a path is specified'
      : 'when paths, URLs, or stdin is provided as input, you may not specify resource arguments as well',
  )
}

const isUrl = (path: string): boolean => /^https?:\/\//.test(path)

/**
 * The files, URLs and `-` that are meant: patterns and directories as what they stand for. Rejects with all that are not there; and, as
 * kubectl does, on a directory without manifests where it comes first.
 */
async function expandAll(host: Host, filename: readonly string[], recursive: boolean): Promise<readonly string[]> {
  const sources: string[] = []
  const failures: unknown[] = []
  for (const path of filename) {
    if (path === '-' && sources.includes('-')) {
      failures.push(new CliError(inputTwiceText))
    } else if (path === '-' || isUrl(path)) sources.push(path)
    else {
      try {
        for (const each of await matching(host, path)) {
          sources.push(...(await filesOf(host, each, recursive)))
          if (sources.length === 0 && failures.length === 0) throw noManifests(each)
        }
      } catch (error) {
        failures.push(error)
      }
    }
  }
  if (failures.length > 0) throw failures.length === 1 ? failures[0] : new AggregateError(failures)
  return sources
}

const noManifests = (path: string): CliError =>
  new CliError(`error reading [${path}]: recognized file extensions are [${[...extensions].join(' ')}]`)

async function loadSource(host: Host, source: string): Promise<SourceText> {
  if (source === '-') return { text: await host.readStdin(), name: 'STDIN' }
  if (!isUrl(source)) return { text: await readManifest(host, source), name: source }
  const { readUrl } = await import('./read-url.ts')
  return { text: await readUrl(source, manifestBytesMax, () => tooLarge(source)), name: source }
}

/** The paths that a pattern such as `*.yaml` matches, in order; a path that is there stands for itself. */
async function matching(host: Host, pattern: string): Promise<readonly string[]> {
  const { workingDirectory } = host
  const found: string[] = []
  if (pattern !== '' && (await isThere(host, pattern))) return [pattern]
  if (!/[*?[]/.test(pattern)) throw new CliError(`the path "${pattern}" does not exist`)
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

function isThere({ workingDirectory }: Host, path: string): Promise<boolean> {
  return stat(resolve(workingDirectory, path)).then(
    () => true,
    (error: NodeJS.ErrnoException) => error.code !== 'ENOENT',
  )
}

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
