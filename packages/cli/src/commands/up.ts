import { resolve } from 'node:path'
import { checkFormat, formatTime, serviceCidrs } from '@coracle/api'
import {
  type Cluster,
  type ClusterOptions,
  DataDirectoryLostError,
  processNodesMax,
  startCluster,
} from '@coracle/cluster'
import { deadContainerLimits, nodeAgentsMax } from '@coracle/kubelet'
import { CliError } from '../cli-error.ts'
import { isDetached } from '../detached-program.ts'
import type { Host } from '../host.ts'
import { type ClusterPlace, placeToStart } from '../local/cluster-place.ts'
import { shareKubeconfig } from '../local/common-kubeconfig.ts'
import { readImportRecord } from '../local/import-record.ts'
import { readServerRecord, type ServerRecord, writeServerRecord } from '../local/server-record.ts'
import { Progress } from '../output/progress.ts'
import { ownVersion } from '../own-version.ts'
import { type Activity, followActivity } from '../up/activity.ts'
import { authenticationOf } from '../up/authentication-flags.ts'
import { choosePort } from '../up/choose-port.ts'
import { containerRuntimeOf, refuseImages } from '../up/container-runtime-flags.ts'
import type { EtcdFlags } from '../up/etcd-flags.ts'
import { changesOfUse } from '../up/former-use.ts'
import type { ImagesFlags } from '../up/images-flag.ts'
import { inFlightOf } from '../up/in-flight-flags.ts'
import { interruption } from '../up/interruption.ts'
import { leaderElectionOf } from '../up/leader-election-flags.ts'
import { hasNpmTakenFile } from '../up/npm-flags.ts'
import { portHolder } from '../up/port-holder.ts'
import { tellReady } from '../up/ready.ts'
import { Reporter } from '../up/reporter.ts'
import { formerVersionsOf } from '../up/runtime-config-flag.ts'
import { withBoundedLog } from '../up/server-log.ts'
import { serviceRangeOf } from '../up/service-range-flag.ts'
import type { UpFlags } from '../up/up-flags.ts'
import type { Chosen } from '../up/values-in-force.ts'

/**
 * `coracle up`: a cluster in this process until it is interrupted; with `--detach` in another that outlives this one. `args`
 * are those of the whole command, and `show` tells its flags, with what was chosen, as `/flagz` shows them.
 */
export async function up(host: Host, args: readonly string[], flags: UpFlags, show: ShowFlags): Promise<void> {
  checkFlags(flags)
  const place = placeToStart(host, flags)
  nodesOf(place, flags)
  await imagesOf(flags, host.workingDirectory)
  formerVersionsOf(flags)
  serviceRangeOf(flags)
  containerRuntimeOf(flags, host.workingDirectory)
  if (flags.detach !== true) return serve(host, place, { ...flags, show }, false)
  if (isDetached(host.variables)) return serve(withBoundedLog(host, place.directory), place, { ...flags, show }, true)
  // A mistake in a file is told here.
  if (!flags.filename.includes('-')) await readManifests(host, flags)
  const { upDetached } = await import('../up/detach.ts')
  await upDetached(host, args, place, flags)
}

type ShowFlags = (chosen: Chosen) => Readonly<Record<string, string>>

type ShownFlags = UpFlags & { readonly show: ShowFlags }

/** `isKept`: the server is a detached one, and what it tells goes to its log. */
async function serve(host: Host, place: ClusterPlace, flags: ShownFlags, isKept: boolean): Promise<void> {
  const manifests = await readManifests(host, flags)
  const reporter = new Reporter(host, { isJson: flags.output === 'json', isKept })
  // Who interrupts a start has it stopped in order too: containers of an earlier life may be up by then.
  const interrupted = interruption(host)
  const lost = Promise.withResolvers<DataDirectoryLostError>()
  const { port, note } = await choosePort(host, place, flags)
  const former = readServerRecord(place.directory)
  const cluster = await start(host, place, { ...flags, port }, reporter, lost.resolve)
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
    // Nobody would know of a server that goes on. Why it ends says more than what may go wrong on the way.
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
  if (activity.earlierPods > 0) reporter.note(`goes on with ${count(activity.earlierPods, 'pod')} from before`)
  if (manifests.length > 0) {
    const { applyAtStart } = await import('../up/apply-at-start.ts')
    const placement = { namespace: flags.namespace ?? 'default', givenNamespace: flags.namespace }
    await applyAtStart(cluster.client, manifests, placement, reporter.tell)
  }
  const loss = await ended
  void manager?.stopping()
  stopReturning()
  restoreLastCompiler()
  if (loss === undefined) {
    const stoppedAt = formatTime(host.environment.clock.now())
    await writeServerRecord(place.directory, { ...record, stoppedAt }).catch(() => {})
    await stop(host, cluster, activity, reporter, flags.keepPods)
  } else await stopWithoutDirectory(host, loss, cluster, activity, reporter)
}

/** The service manager that wants to hear of this process, if one has started it. */
async function managerOf(host: Host, { client }: Cluster) {
  if (!host.variables.NOTIFY_SOCKET) return undefined
  return (await import('../up/service-manager.ts')).ownServiceManager(host, client)
}

/** Throws a CliError on what cannot be, before anything is touched. */
function checkFlags(flags: UpFlags): void {
  const { nodes = 1, runtime = 'process', images, missingImages, listen, nodePrefix, podManifestPath } = flags
  if (listen === '') throw new CliError('--listen is empty: give an address, or 0.0.0.0 for all of this machine')
  const [problem] =
    nodePrefix === undefined ? [] : checkFormat('dns1123-subdomain', `${nodePrefix}${Math.max(nodes - 1, 0)}`)
  if (problem !== undefined) throw new CliError(`--node-prefix: no node can be named "${nodePrefix}0": ${problem}`)
  if (missingImages !== undefined && runtime !== 'simulated') {
    throw new CliError('--missing-images is for simulated nodes: give --runtime simulated too')
  }
  if (podManifestPath !== undefined && runtime === 'simulated') {
    throw new CliError('--pod-manifest-path is for nodes whose containers run something: leave one of the two out')
  }
  refuseImages({ runtime, ...(images === undefined ? {} : { images }) })
  if (runtime === 'process' && nodes > processNodesMax) {
    throw new CliError(
      `one host cannot be ${nodes} nodes of real processes: give at most ${processNodesMax} with --nodes, or --runtime simulated`,
    )
  }
  if (runtime === 'simulated' && nodes > nodeAgentsMax) {
    throw new CliError(`a cluster has at most ${nodeAgentsMax} simulated nodes: give no more with --nodes`)
  }
}

const etcdFlags: readonly (keyof EtcdFlags)[] = [
  'store',
  'etcdServers',
  'etcdPrefix',
  'etcdCafile',
  'etcdCertfile',
  'etcdKeyfile',
]

/** Where objects are kept. */
async function storeOf({ workingDirectory }: Host, flags: UpFlags): Promise<Pick<ClusterOptions, 'store'>> {
  const etcd = etcdFlags.some((name) => flags[name] !== undefined)
    ? (await import('../up/etcd-flags.ts')).etcdOf(flags, workingDirectory)
    : undefined
  if (etcd === undefined) return { store: flags.memory === true ? 'memory' : 'disk' }
  if (flags.memory === true) throw new CliError('--memory and an etcd are two places for objects: give one')
  return { store: { etcd } }
}

/** What images are, where a file says it. */
async function imagesOf(flags: ImagesFlags, workingDirectory: string): Promise<Pick<ClusterOptions, 'images'>> {
  if (flags.images === undefined) return {}
  const file = await import('../up/images-flag.ts')
  return file.imagesOf(flags, workingDirectory)
}

/** Which containers that have ended are kept. */
function deadContainersOf({
  minimumContainerTtlDuration: ttlMinMs,
  maximumDeadContainersPerContainer: perContainerMax,
  maximumDeadContainers: max,
}: UpFlags): Pick<ClusterOptions, 'deadContainers'> {
  if (ttlMinMs === undefined && perContainerMax === undefined && max === undefined) return {}
  return {
    deadContainers: {
      ...(ttlMinMs === undefined ? {} : { ttlMinMs }),
      ...(perContainerMax === undefined ? {} : { perContainerMax }),
      ...(max === undefined ? {} : { max }),
    },
  }
}

/** What the nodes are. Those of an imported cluster are the ones it came with, and only ever simulated. */
function nodesOf(place: ClusterPlace, { nodes, runtime }: UpFlags) {
  const imported = readImportRecord(place.directory)
  if (imported === undefined) return { nodes: nodes ?? 1, runtime: runtime ?? 'process' } as const
  if (runtime !== undefined && runtime !== 'simulated') {
    const what = runtime === 'process' ? 'processes' : 'containers'
    throw new CliError(
      `${place.shown} was imported from ${imported.source}: its pods would become ${what} of this host; leave --runtime out`,
    )
  }
  return { nodes: nodes ?? 0, runtime: 'simulated', storedNodes: true } as const
}

/**
 * How long simulated containers run that are there to end and whose command does not tell, so that Jobs complete and pods get past
 * their init containers.
 */
const taskRunTimeMs = 2_000

/** The nodes, with what their containers do where they are simulated. What was under way where a cluster was imported from goes on. */
async function nodesToStart(place: ClusterPlace, flags: UpFlags) {
  const nodes = nodesOf(place, flags)
  if (nodes.runtime !== 'simulated') return nodes
  const { simulatedBehaviour } = await import('../up/simulated-behaviour.ts')
  const behaviour = simulatedBehaviour(flags, 'storedNodes' in nodes ? Infinity : taskRunTimeMs)
  return { ...nodes, ...(behaviour && { behaviour }) }
}

/** Read before anything starts: a mistake in a file is told at once. */
async function readManifests(host: Host, flags: UpFlags) {
  if (flags.filename.length === 0) return []
  const { loadManifests } = await import('../manifests/load-manifests.ts')
  return loadManifests(host, flags)
}

async function start(
  host: Host,
  place: ClusterPlace,
  flags: ShownFlags & { readonly port: number },
  reporter: Reporter,
  onLost: (error: DataDirectoryLostError) => void,
): Promise<Cluster> {
  const progress = new Progress(host, 'starting')
  const nodes = await nodesToStart(place, flags)
  const runtime = containerRuntimeOf(flags, host.workingDirectory)
  const shown = (chosen: Pick<Chosen, 'port' | 'nodePrefix' | 'serviceRanges'>) =>
    flags.show({ ...nodes, ...runtime, place, deadContainers: deadContainerLimits, taskRunTimeMs, ...chosen })
  const shownFlags = { ...shown(flags) }
  try {
    const cluster = await startCluster({
      name: place.name,
      environment: reporter.environment,
      dataDir: place.directory,
      ...(await storeOf(host, flags)),
      ...leaderElectionOf(flags),
      ...(await authenticationOf(flags, host.workingDirectory)),
      ...(flags.enableAdmissionPlugins === undefined ? {} : { enabledAdmission: flags.enableAdmissionPlugins }),
      ...(flags.disableAdmissionPlugins === undefined ? {} : { disabledAdmission: flags.disableAdmissionPlugins }),
      ...(flags.authorizationMode === undefined ? {} : { authorizationModes: flags.authorizationMode }),
      ...(flags.controllers === undefined ? {} : { builtinControllers: flags.controllers }),
      scheduler: flags.scheduler,
      ...inFlightOf(flags),
      ...nodes,
      ...(await imagesOf(flags, host.workingDirectory)),
      ...formerVersionsOf(flags),
      ...serviceRangeOf(flags),
      ...(flags.loadBalancerAddresses === undefined ? {} : { loadBalancerAddresses: flags.loadBalancerAddresses }),
      ...deadContainersOf(flags),
      ...runtime,
      ...(flags.nodePrefix === undefined ? {} : { nodePrefix: flags.nodePrefix }),
      ...(flags.podManifestPath === undefined
        ? {}
        : { manifestPath: resolve(host.workingDirectory, flags.podManifestPath) }),
      listen: { host: flags.listen, port: flags.port },
      flags: shownFlags,
      onStartProgress: (stage) => progress.say(stage),
      onKubeconfigRenewed() {
        shareKubeconfig(place, host).catch((error: unknown) =>
          reporter.environment.logger.warn('the kubeconfig of all clusters keeps a certificate that ends', { error }),
        )
      },
      onFailure(error) {
        if (error instanceof DataDirectoryLostError) return onLost(error)
        reporter.flush()
        host.stderr.write(`error: ${error.message}\n`)
        host.exit(1)
      },
    })
    // What the system chooses, and what the cluster keeps, is known once it runs.
    const port = Number(new URL(cluster.url ?? '').port)
    const { nodePrefix } = cluster
    Object.assign(shownFlags, shown({ port, nodePrefix, serviceRanges: await serviceRangesOf(cluster) }))
    return cluster
  } catch (error) {
    const { explainStartFailure } = await import('../up/start-failure.ts')
    throw explainStartFailure(
      error,
      { place, listen: flags.listen, port: flags.port },
      { portHolder: (port) => portHolder(port, host.processes) },
    )
  } finally {
    progress.end()
  }
}

/** Where services get addresses as long as nobody adds a range: the first that the cluster had. */
async function serviceRangesOf({ client }: Cluster): Promise<readonly string[]> {
  const { items } = await client.list(serviceCidrs)
  return items.find(({ metadata }) => metadata.name === 'kubernetes')?.spec?.cidrs ?? []
}

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

async function stop(
  host: Host,
  cluster: Cluster,
  activity: Activity,
  reporter: Reporter,
  keepsPods = false,
): Promise<void> {
  const { clock } = cluster.environment
  const startedMs = clock.monotonicMs()
  const pods = keepsPods ? 0 : activity.livePods
  reporter.flush()
  reporter.note(
    pods === 0
      ? `stopping${keepsPods ? ', and pods run on' : ''}`
      : `stopping ${count(pods, 'pod')} (Ctrl-C again: at once)`,
  )
  reporter.end()
  const progress = new Progress(host, pods === 0 ? 'stopping' : `stopping ${count(pods, 'pod')}`)
  try {
    await cluster.stop({ containers: keepsPods ? 'keep' : 'terminate' })
    reporter.note(`stopped after ${Math.round(clock.monotonicMs() - startedMs)} ms`)
  } finally {
    progress.end()
    await activity.stop()
    reporter.flush()
  }
}

/** Ends with the loss as its error. Pods are stopped first: without the directory no later start knows of them. */
async function stopWithoutDirectory(
  host: Host,
  loss: DataDirectoryLostError,
  cluster: Cluster,
  activity: Activity,
  reporter: Reporter,
): Promise<void> {
  // What is written on the way has nowhere to go, and that is known.
  await stop(host, cluster, activity, reporter).catch(() => {})
  host.stderr.write(`error: ${loss.message}\n`)
  host.exit(1)
}

const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? '' : 's'}`
