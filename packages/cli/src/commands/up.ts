import { formatTime } from '@coracle/api'
import type { Cluster, DataDirectoryLostError } from '@coracle/cluster'
import { isDetached } from '../detached-program.ts'
import type { Host } from '../host.ts'
import { type ClusterPlace, placeToStart } from '../local/cluster-place.ts'
import { shareKubeconfig } from '../local/common-kubeconfig.ts'
import { readServerRecord, type ServerRecord, writeServerRecord } from '../local/server-record.ts'
import { ownVersion } from '../own-version.ts'
import { followActivity } from '../up/activity.ts'
import { checkFlags } from '../up/check-flags.ts'
import { choosePort } from '../up/choose-port.ts'
import { imagesOf } from '../up/cluster-flags.ts'
import { containerRuntimeOf } from '../up/container-runtime-flags.ts'
import { changesOfUse } from '../up/former-use.ts'
import { interruption } from '../up/interruption.ts'
import { nodesOf } from '../up/nodes-flags.ts'
import { hasNpmTakenFile } from '../up/npm-flags.ts'
import { podsText } from '../up/pods-text.ts'
import { tellReady } from '../up/ready.ts'
import { Reporter } from '../up/reporter.ts'
import { formerVersionsOf } from '../up/runtime-config-flag.ts'
import { withBoundedLog } from '../up/server-log.ts'
import { serviceRangeOf } from '../up/service-range-flag.ts'
import { type ShownFlags, startServer } from '../up/start-server.ts'
import { stopServer, stopWithoutDirectory } from '../up/stop-server.ts'
import type { UpFlags } from '../up/up-flags.ts'

/**
 * `coracle up`: a cluster in this process until it is interrupted; with `--detach` in another that outlives this one. `args`
 * are those of the whole command, and `show` tells its flags, with what was chosen, as `/flagz` shows them.
 */
export async function up(host: Host, args: readonly string[], flags: UpFlags, show: ShownFlags['show']): Promise<void> {
  checkFlags(flags)
  const place = placeToStart(host, flags)
  // These throw on mistakes, which are told before anything is touched.
  nodesOf(place, flags)
  await imagesOf(flags, host.workingDirectory)
  formerVersionsOf(flags)
  serviceRangeOf(flags)
  containerRuntimeOf(flags, host.workingDirectory)
  if (flags.detach !== true) return serve(host, place, { ...flags, show }, false)
  if (isDetached(host.variables)) return serve(withBoundedLog(host, place.directory), place, { ...flags, show }, true)
  // Mistakes in manifests are told here, too, and not by the server in the background.
  if (!flags.filename.includes('-')) await readManifests(host, flags)
  const { upDetached } = await import('../up/detach.ts')
  await upDetached(host, args, place, flags)
}

/** `isKept`: the server is a detached one, and what it tells goes to its log. */
async function serve(host: Host, place: ClusterPlace, flags: ShownFlags, isKept: boolean): Promise<void> {
  const manifests = await readManifests(host, flags)
  const reporter = new Reporter(host, { isJson: flags.output === 'json', isKept })
  // A start that is interrupted is stopped in order, too: containers of an earlier server may run.
  const interrupted = interruption(host)
  const lost = Promise.withResolvers<DataDirectoryLostError>()
  const { port, note } = await choosePort(host, place, flags)
  const former = readServerRecord(place.directory)
  const cluster = await startServer({ host, place, flags, port, reporter, onLost: lost.resolve })
  try {
    await serveUntil(Promise.race([interrupted.then(() => undefined), lost.promise]), {
      host,
      place,
      flags,
      isKept,
      cluster,
      reporter,
      manifests,
      former,
      note,
    })
  } catch (error) {
    // The command has failed, so no server may stay behind. What may go wrong with stopping it says less than this error.
    await cluster.stop({ containers: flags.memory === true ? 'terminate' : 'keep' }).catch(() => {})
    throw error
  }
}

interface Serving {
  readonly host: Host
  readonly place: ClusterPlace
  readonly flags: ShownFlags
  readonly isKept: boolean
  readonly cluster: Cluster
  readonly reporter: Reporter
  readonly manifests: Awaited<ReturnType<typeof readManifests>>
  /** What the directory remembers of the server before. */
  readonly former: ServerRecord | undefined
  /** What people should know of the port. */
  readonly note: string | undefined
}

/** Makes a cluster known, applies what is to be applied, and tells what happens in it; stops it when it has `ended`. */
async function serveUntil(
  ended: Promise<DataDirectoryLostError | undefined>,
  { host, place, flags, isKept, cluster, reporter, manifests, former, note }: Serving,
): Promise<void> {
  const stopReturning = host.returnMemoryWhenIdle({
    forget: () => cluster.forgetHistory(),
    release: () => cluster.releaseMemory(),
  })
  host.keepCode()
  const restoreLastCompiler = await host.delayLastCompiler()
  const record = recordOf(cluster, place, flags, isKept)
  await shareKubeconfig(place, host)
  await writeServerRecord(place.directory, record)
  const milliseconds = Math.round(host.environment.clock.monotonicMs())
  const ready = { url: record.url, milliseconds, pid: record.pid }
  tellReady(host, place, ready, flags, false)
  const manager = await managerOf(host, cluster)
  void manager?.ready(record.url)
  if (isKept) host.announce(ready)
  reporter.begin()
  for (const change of [...(note === undefined ? [] : [note]), ...changesOfUse(former, record)]) {
    reporter.note(change, 'bad')
  }
  if (manifests.length > 0 && hasNpmTakenFile(host.variables)) {
    host.stderr.write(
      'npm has taken -f for a flag of its own; the file is applied all the same (npm start -- -f FILE)\n',
    )
  }
  const activity = await followActivity(cluster.client, cluster.environment, reporter.startedMs, reporter.tell)
  reporter.follow(activity)
  if (activity.earlierPods > 0) reporter.note(`goes on with ${podsText(activity.earlierPods)} from before`)
  if (manifests.length > 0) {
    const { applyAtStart } = await import('../up/apply-at-start.ts')
    const placement = { namespace: flags.namespace ?? 'default', givenNamespace: flags.namespace }
    await applyAtStart(cluster.client, manifests, placement, reporter.tell)
  }
  const loss = await ended
  const server = { host, cluster, activity, reporter }
  void manager?.stopping()
  stopReturning()
  restoreLastCompiler()
  if (loss === undefined) {
    const stoppedAt = formatTime(host.environment.clock.now())
    await writeServerRecord(place.directory, { ...record, stoppedAt }).catch(() => {})
    await stopServer(server, flags.keepPods === true ? 'run-on' : 'stop')
  } else await stopWithoutDirectory(server, loss)
}

/** The service manager that wants to hear of this process, if one has started it. */
async function managerOf(host: Host, { client }: Cluster) {
  if (!host.variables.NOTIFY_SOCKET) return undefined
  return (await import('../up/service-manager.ts')).ownServiceManager(host, client)
}

/** Read before anything starts: a mistake in a file is told at once. */
async function readManifests(host: Host, flags: UpFlags) {
  if (flags.filename.length === 0) return []
  const { loadManifests } = await import('../manifests/load-manifests.ts')
  return loadManifests(host, flags)
}

/** What the data directory remembers of this server. */
function recordOf(
  { url = '', environment }: Cluster,
  place: ClusterPlace,
  flags: UpFlags,
  isDetached: boolean,
): ServerRecord {
  const { store, etcdServers, memory } = flags
  const isInEtcd = store !== undefined || etcdServers !== undefined
  return {
    version: ownVersion(),
    pid: process.pid,
    url,
    startedAt: formatTime(environment.clock.now()),
    store: isInEtcd ? 'etcd' : memory === true ? 'memory' : 'disk',
    runtime: nodesOf(place, flags).runtime,
    isDetached,
  }
}
