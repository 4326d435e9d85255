import { createReadStream, createWriteStream, renameSync, rmSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { constants, createGunzip, createGzip } from 'node:zlib'
import { formatTime, type KubernetesObject } from '@coracle/api'
import {
  type FillOptions,
  fillDirectory,
  readSnapshot,
  readStoredState,
  type SnapshotEnd,
  SnapshotError,
  type SnapshotReader,
  StateReading,
  StorePresentError,
  writeSnapshot,
} from '@coracle/cluster'
import { CliError } from '../cli-error.ts'
import type { Host } from '../host.ts'
import {
  type ClusterPlace,
  ownKubeconfig,
  type PlaceFlags,
  placeFlagText,
  placeToFind,
  placeToStart,
} from '../local/cluster-place.ts'
import { removeImportRecord } from '../local/import-record.ts'
import { runningServer } from '../local/running-server.ts'
import { Progress } from '../output/progress.ts'
import { ownVersion } from '../own-version.ts'
import { type ConnectionFlags, withSessionOverAll } from '../session.ts'
import { tellStateReport } from './state-report.ts'

export interface SaveFlags extends PlaceFlags, ConnectionFlags {}

export interface RestoreFlags extends PlaceFlags {
  readonly overwrite?: boolean
}

type Pages = AsyncIterable<readonly KubernetesObject[]>

/** `coracle snapshot save FILE`: all objects of a cluster in one file, compressed, for its owner alone. */
export async function saveSnapshot(host: Host, file: string, flags: SaveFlags): Promise<void> {
  const { name, dataDir, ...connection } = flags
  const isLocal = name !== undefined || dataDir !== undefined
  const place = isLocal ? placeToFind(host, flags) : undefined
  if (place !== undefined && runningServer(place, host.processes) === undefined) {
    await readStoredState(host.environment, place.directory, ({ revision, pages }) =>
      save(host, file, place.directory, pages, () => ({ revision, gaps: [] })),
    )
    return
  }
  const own = place === undefined ? {} : { kubeconfig: ownKubeconfig(place), context: place.name }
  await withSessionOverAll(host, { ...connection, ...own }, async ({ client, server }) => {
    const resources = await client.discover()
    const reading = new StateReading({ client, resources }, { clock: host.environment.clock, events: true })
    await save(host, file, server, objectsOf(reading), () => reading)
    for (const { resource, message } of reading.gaps) host.stderr.write(`Warning: ${resource} not saved: ${message}\n`)
  })
}

async function* objectsOf(reading: StateReading): Pages {
  for await (const { objects } of reading.pages()) yield objects
}

async function save(host: Host, file: string, source: string, pages: Pages, end: () => SnapshotEnd): Promise<void> {
  const path = resolve(host.workingDirectory, file)
  // A name of its own: another may have a file of that name, or have made one to read what is written there.
  const aside = `${path}.${host.environment.random.string(8, '0123456789abcdef')}.new`
  const progress = new Progress(host, 'saving objects')
  let saved = 0
  const counted = async function* (): Pages {
    for await (const page of pages) {
      saved += page.length
      progress.say(`saving objects: ${saved}`)
      yield page
    }
  }
  const header = { savedAt: formatTime(host.environment.clock.now()), program: ownVersion(), source }
  const endOf = (): SnapshotEnd => {
    const { revision, gaps } = end()
    return { revision, gaps: gaps.map(({ resource, message }) => ({ resource, message })) }
  }
  try {
    await pipeline(
      writeSnapshot(header, counted(), endOf),
      createGzip({ level: constants.Z_BEST_SPEED }),
      createWriteStream(aside, { flags: 'wx', mode: 0o600, flush: true }),
    )
    renameSync(aside, path)
  } finally {
    progress.end()
    rmSync(aside, { force: true })
  }
  host.stdout.write(`${saved} objects saved to ${file}\n`)
}

/** `coracle snapshot restore FILE`: the same objects in a data directory, for a cluster that goes on with them. */
export async function restoreSnapshot(host: Host, file: string, flags: RestoreFlags): Promise<void> {
  const place = placeToStart(host, flags)
  const path = resolve(host.workingDirectory, file)
  const progress = new Progress(host, 'restoring objects')
  try {
    const { pages } = await openSnapshot(path)
    const report = await fillPlace(host, place, pages, { overwrite: flags.overwrite === true }, progress)
    removeImportRecord(place.directory)
    progress.end()
    host.stdout.write(
      `${report.written} objects restored into ${place.shown}: start it with \`coracle up${placeFlagText(place)}\`\n`,
    )
    tellStateReport(host, report)
  } catch (error) {
    throw error instanceof SnapshotError ? new CliError(`${file}: ${error.message}`) : error
  } finally {
    progress.end()
  }
}

/** Puts objects into the data directory of a cluster; what stands in the way is said with what to do. */
export async function fillPlace(
  { environment }: Host,
  place: ClusterPlace,
  pages: Pages,
  options: Pick<FillOptions, 'overwrite' | 'beforeReplacing'>,
  progress: Progress,
) {
  let read = 0
  const counted = async function* (): Pages {
    for await (const page of pages) {
      read += page.length
      progress.say(`writing objects: ${read}`)
      yield page
    }
  }
  try {
    return await fillDirectory({ environment, dataDir: place.directory, ...options }, counted())
  } catch (error) {
    if (error instanceof StorePresentError) {
      throw new CliError(
        `${place.shown} has objects of a cluster already: choose another place with --name, or give --overwrite to have them go`,
      )
    }
    if (error instanceof Error && error.name === 'DirectoryInUseError') {
      throw new CliError(
        `a cluster runs in ${place.shown}: stop it with \`coracle down${placeFlagText(place)}\` before`,
      )
    }
    throw error
  }
}

/** Compressed or not. */
async function openSnapshot(path: string): Promise<SnapshotReader> {
  const isCompressed = (await firstByte(path)) === gzipFirstByte
  return readSnapshot(isCompressed ? uncompressed(createReadStream(path)) : createReadStream(path))
}

const gzipFirstByte = 0x1f

async function firstByte(path: string): Promise<number | undefined> {
  const file = await open(path).catch((error: unknown) => {
    throw new CliError(`cannot read ${path}: ${error instanceof Error ? error.message : error}`)
  })
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(1), 0, 1)
    return bytesRead === 0 ? undefined : buffer[0]
  } finally {
    await file.close()
  }
}

async function* uncompressed(file: Readable): AsyncGenerator<Uint8Array> {
  const stream = createGunzip()
  file.on('error', (error) => stream.destroy(error)).pipe(stream)
  try {
    yield* stream
  } catch (error) {
    const isDamaged = error instanceof Error && 'code' in error && String(error.code).startsWith('Z_')
    throw isDamaged ? new SnapshotError(`it is not as it was written: ${error.message}`) : error
  }
}
