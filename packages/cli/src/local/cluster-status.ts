import { lstat, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { connectionOf, createHttpClient, loadKubeconfig } from '@coracle/client'
import type { Host } from '../host.ts'
import { type ClusterPlace, clustersDirectory, ownKubeconfig } from './cluster-place.ts'
import { runningServer } from './running-server.ts'
import { readServerRecord, type ServerRecord } from './server-record.ts'

export type ClusterState =
  | 'running'
  | 'starting'
  | 'stopping'
  /** It runs, and has not answered in time. */
  | 'silent'
  | 'stopped'
  /** It has ended without having been stopped. */
  | 'killed'

/** How a cluster of this machine is. What does not apply, or cannot be told, is absent. */
export interface ClusterStatus {
  readonly name: string
  readonly state: ClusterState
  readonly directory: string
  readonly url?: string
  readonly pid?: number
  /** The host it runs on, where that is another. */
  readonly host?: string
  readonly startedAt?: string
  readonly stoppedAt?: string
  readonly version?: string
  readonly store?: ServerRecord['store']
  readonly runtime?: ServerRecord['runtime']
  readonly detached?: boolean
  readonly nodes?: number
  readonly pods?: number
  readonly objects?: number
  readonly memoryBytes?: number
  readonly cpuSeconds?: number
  readonly diskBytes: number
}

/** A server that has not answered by then is silent. */
const answerMs = 3_000
/** Of a directory with more files than this the size is not found out to the last. */
const filesMax = 100_000

/** Finds out how a cluster is. What it says of itself is asked with the rights of its own kubeconfig. */
export async function clusterStatus(host: Host, place: ClusterPlace): Promise<ClusterStatus> {
  const { name, directory } = place
  const server = runningServer(place, host.processes)
  const record = readServerRecord(directory)
  const about = { name, directory, diskBytes: await diskBytesOf(place) }
  if (server === undefined) {
    const isKilled = record !== undefined && record.stoppedAt === undefined
    const { version, store, runtime, stoppedAt } = record ?? {}
    return {
      ...about,
      state: isKilled ? 'killed' : 'stopped',
      ...withoutAbsent({ version, store, runtime, stoppedAt }),
    }
  }
  const pid = server.type === 'process' ? server.process.pid : server.type === 'elsewhere' ? server.pid : undefined
  const running = withoutAbsent({ pid, host: server.type === 'elsewhere' ? server.host : undefined })
  // Until it is ready, the record is that of the server before.
  if (record === undefined || record.pid !== pid) return { ...about, ...running, state: 'starting' }
  const { url, version, store, runtime, startedAt, isDetached: detached } = record
  const known = { ...about, ...running, url, version, store, runtime, startedAt, detached }
  if (record.stoppedAt !== undefined) return { ...known, state: 'stopping' }
  const measured = await askServer(host, place)
  return measured === undefined ? { ...known, state: 'silent' } : { ...known, ...measured, state: 'running' }
}

type Measured = Pick<ClusterStatus, 'nodes' | 'pods' | 'objects' | 'memoryBytes' | 'cpuSeconds'>

async function askServer({ environment }: Host, place: ClusterPlace): Promise<Measured | undefined> {
  const deadline = new AbortController()
  const timer = environment.clock.setTimer(answerMs, () => deadline.abort(), { keepsProcess: true })
  try {
    const config = await loadKubeconfig([ownKubeconfig(place)])
    const { name, home } = place
    // The kubeconfig of a home may have another context as the current one.
    const connection = await connectionOf(config, { ...environment, ...(home === undefined ? {} : { context: name }) })
    const client = createHttpClient({ ...environment, ...connection })
    try {
      return measuredIn(await client.rawGet('/metrics', deadline.signal))
    } finally {
      await client.close()
    }
  } catch {
    return undefined
  } finally {
    timer.cancel()
  }
}

function measuredIn(metrics: string): Measured {
  const counts = [...metrics.matchAll(/^apiserver_resource_objects\{group="([^"]*)",resource="([^"]*)"\} (\S+)$/gm)]
  const countOf = (wanted: string) => counts.find(([, group, resource]) => group === '' && resource === wanted)?.[3]
  const processValue = (name: string) => new RegExp(`^${name} (\\S+)$`, 'm').exec(metrics)?.[1]
  return withoutAbsent({
    nodes: numberOf(countOf('nodes')),
    pods: numberOf(countOf('pods')),
    objects: counts.length === 0 ? undefined : counts.reduce((sum, [, , , count]) => sum + Number(count), 0),
    memoryBytes: numberOf(processValue('process_resident_memory_bytes')),
    cpuSeconds: numberOf(processValue('process_cpu_seconds_total')),
  })
}

const numberOf = (text: string | undefined): number | undefined => (text === undefined ? undefined : Number(text))

/** What the files of a cluster take on the disk, those of others in its home not counted. */
async function diskBytesOf({ directory, home }: ClusterPlace): Promise<number> {
  const others = directory === home ? clustersDirectory(home) : undefined
  let bytes = 0
  let files = 0
  const directories = [directory]
  for (let next = directories.pop(); next !== undefined && files < filesMax; next = directories.pop()) {
    const parent = next
    for (const entry of await readdir(parent, { withFileTypes: true }).catch(() => [])) {
      const path = join(parent, entry.name)
      files += 1
      if (entry.isDirectory()) {
        if (path !== others) directories.push(path)
      } else bytes += await allocatedBytes(path)
    }
  }
  return bytes
}

/** Files may have holes, and go while they are counted. */
async function allocatedBytes(path: string): Promise<number> {
  try {
    return (await lstat(path)).blocks * 512
  } catch {
    return 0
  }
}

function withoutAbsent<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never
}
