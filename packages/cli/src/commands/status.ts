import { humanDuration, parseTime } from '@coracle/api'
import { CliError, SilentError } from '../cli-error.ts'
import type { Host } from '../host.ts'
import { type PlaceFlags, placesHere, placeToFind } from '../local/cluster-place.ts'
import { type ClusterStatus, clusterStatus } from '../local/cluster-status.ts'
import { alignTabs, tableAlignment } from '../output/align.ts'
import { serialize } from '../output/serialize.ts'

export interface StatusFlags extends PlaceFlags {
  readonly output?: 'json' | 'yaml'
}

/** `coracle status`: how the clusters of this directory are, or the one that is named. Exit code 1 where none of them runs. */
export async function status(host: Host, flags: StatusFlags): Promise<void> {
  const isOne = flags.name !== undefined || flags.dataDir !== undefined
  const places = isOne ? [placeToFind(host, flags)] : placesHere(host)
  const clusters = await Promise.all(places.map((place) => clusterStatus(host, place)))
  if (flags.output !== undefined) host.stdout.write(await serialize({ clusters }, flags.output))
  else if (clusters.length === 0) throw new CliError('no cluster was ever started here: begin with `coracle up`')
  else host.stdout.write(tableOf(clusters, host.environment.clock.now()))
  if (clusters.every(({ state }) => state === 'stopped' || state === 'killed')) throw new SilentError()
}

const headers = ['NAME', 'STATE', 'URL', 'PID', 'UPTIME', 'NODES', 'PODS', 'OBJECTS', 'MEMORY', 'DISK']

function tableOf(clusters: readonly ClusterStatus[], nowMs: number): string {
  const rows = clusters.map((cluster) => cellsOf(cluster, nowMs))
  return `${alignTabs([headers, ...rows].map((row) => row.join('\t')).join('\n'), tableAlignment)}\n`
}

function cellsOf(cluster: ClusterStatus, nowMs: number): readonly string[] {
  const { name, state, host, url, pid, startedAt, nodes, pods, objects, memoryBytes, diskBytes } = cluster
  const cells = [
    name,
    host === undefined ? state : `${state} on ${host}`,
    url,
    pid,
    startedAt === undefined ? undefined : humanDuration(nowMs - parseTime(startedAt)),
    nodes,
    pods,
    objects,
    memoryBytes === undefined ? undefined : bytesText(memoryBytes),
    bytesText(diskBytes),
  ]
  return cells.map((cell) => `${cell ?? '-'}`)
}

function bytesText(bytes: number): string {
  const mebibytes = bytes / 2 ** 20
  return mebibytes < 1024 ? `${Math.ceil(mebibytes)}Mi` : `${(mebibytes / 1024).toFixed(1)}Gi`
}
