import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { examineStore, holdsLmdbStore, lockDirectory, repairStore, type StoreReport, settleStore } from '@coracle/store'
import { CliError } from '../cli-error.ts'
import type { Host } from '../host.ts'
import {
  type ClusterPlace,
  clustersDirectory,
  type PlaceFlags,
  placeFlagText,
  placeToFind,
  wasUsed,
} from '../local/cluster-place.ts'
import { compareVersions } from '../local/compare-versions.ts'
import { readImportRecord } from '../local/import-record.ts'
import { type RunningServer, runningServer } from '../local/running-server.ts'
import { readServerRecord, type ServerRecord } from '../local/server-record.ts'
import { ownVersion } from '../own-version.ts'
import { holderText, portHolder } from '../up/port-holder.ts'

export interface DoctorFlags extends PlaceFlags {
  readonly repair?: boolean
}

/**
 * `coracle doctor`: says how a data directory was left and what is in the way of a start, and whether what is stored is whole; goes
 * on without what is not when it is told to.
 */
export async function doctor(host: Host, flags: DoctorFlags): Promise<void> {
  const { repair = false } = flags
  const place = placeToFind(host, flags)
  const server = runningServer(place, host.processes)
  if (server !== undefined) {
    const text = `a cluster runs in ${place.shown}${whoText(server)}: stop it with \`coracle down${placeFlagText(place)}\``
    if (repair) throw new CliError(`${text} before anything is repaired`)
    host.stdout.write(`${text} to have its store examined\n`)
    return
  }
  // Nothing is made there: who looks at what there is would take it for a cluster.
  if (wasNeverUsed(place)) {
    throw new CliError(
      `no cluster was ever started in ${place.shown}: begin with \`coracle up${placeFlagText(place)}\``,
    )
  }
  const store = join(place.directory, 'store')
  const record = readServerRecord(place.directory)
  for (const finding of findings(host, place, record)) host.stdout.write(`${finding}\n`)
  if (record !== undefined && record.store !== 'disk' && !holdsLmdbStore(store)) return
  const lock = lockDirectory(place.directory)
  try {
    settleStore(place.directory)
    const report = repair ? await repairStore(store) : await examineStore(store)
    host.stdout.write(describe(store, report))
    if (report.problems.length === 0) return
    if (repair) host.stdout.write('Repaired: the cluster goes on without what is damaged.\n')
    else {
      throw new CliError(
        `restore ${store} from a backup, or go on without what is damaged: coracle doctor${placeFlagText(place)} --repair`,
      )
    }
  } finally {
    lock.release()
  }
}

/** Whether there is no directory, or one that is empty or only holds named clusters. */
function wasNeverUsed(place: ClusterPlace): boolean {
  const { directory, home } = place
  if (wasUsed(place) || holdsLmdbStore(join(directory, 'store'))) return false
  if (!existsSync(directory) || readdirSync(directory).length === 0) return true
  return directory === home && existsSync(clustersDirectory(home))
}

function whoText(server: RunningServer): string {
  if (server.type === 'unknown') return ''
  return server.type === 'process'
    ? ` (process ${server.process.pid})`
    : ` (process ${server.pid} of host ${server.host})`
}

/** What the last server has left, where that is worth knowing. */
function findings(host: Host, place: ClusterPlace, record: ServerRecord | undefined): readonly string[] {
  if (record === undefined) return []
  const { version, store, stoppedAt, startedAt, url, runtime } = record
  const { port } = new URL(url)
  const holder = portHolder(Number(port), host.processes)
  const imported = readImportRecord(place.directory)
  return [
    ...(imported === undefined ? [] : [`the objects were imported from ${imported.source} at ${imported.importedAt}`]),
    ...(compareVersions(version, ownVersion()) > 0
      ? [`it was last used by version ${version}, which is newer than this one, ${ownVersion()}: use that one`]
      : []),
    ...(store === 'memory' ? ['objects were kept in memory the last time: they are gone'] : []),
    ...(store === 'etcd' ? ['objects were kept in an etcd the last time: start it with the same --store'] : []),
    ...(stoppedAt === undefined
      ? [
          `the server that was started at ${startedAt} has ended without having been stopped` +
            (runtime === 'process' ? ': its pods may run on, and the next start takes them up' : ''),
        ]
      : []),
    ...(holder === undefined ? [] : [`port ${port}, which it served on, is in use${holderText(holder)}`]),
  ]
}

function describe(store: string, { problems, safeRevision, isEndLost, highestRevision }: StoreReport): string {
  if (problems.length === 0) return `the store in ${store} is whole, up to revision ${safeRevision}\n`
  const end = isEndLost ? `; what came after is lost, ${highestRevision} is the last revision there is a trace of` : ''
  const lines = [
    `the store in ${store} is damaged:`,
    ...problems.map((problem) => `  ${problem}`),
    `everything else up to revision ${safeRevision} is whole${end}`,
  ]
  return `${lines.join('\n')}\n`
}
