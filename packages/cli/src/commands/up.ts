import { relative, resolve } from 'node:path'
import {
  type Cluster,
  type ClusterOptions,
  DataDirectoryLostError,
  processNodesMax,
  startCluster,
} from '@coracle/cluster'
import { createLogger, type Environment } from '@coracle/environment'
import { CliError } from '../cli-error.ts'
import type { Host } from '../host.ts'
import type { ManifestFlags } from '../manifests/load-manifests.ts'
import { type Activity, followActivity } from '../up/activity.ts'
import { ActivityPrinter } from '../up/activity-printer.ts'
import { Bursts } from '../up/bursts.ts'
import { type EtcdFlags, etcdOf } from '../up/etcd-flags.ts'
import { interruption } from '../up/interruption.ts'
import { type LeaderElectionFlags, leaderElectionOf } from '../up/leader-election-flags.ts'
import { type ChangeOf, logChange } from '../up/log-changes.ts'
import { nextSteps } from '../up/next-steps.ts'
import { hasNpmTakenFile } from '../up/npm-flags.ts'
import { explainStartFailure } from '../up/start-failure.ts'

export interface UpFlags extends ManifestFlags, EtcdFlags, LeaderElectionFlags {
  readonly dataDir: string
  readonly memory?: boolean
  readonly listen: string
  readonly port: number
  readonly nodes: number
  readonly runtime: 'process' | 'simulated'
  readonly namespace?: string
  readonly nodePrefix?: string
}

/** `coracle up`: a cluster in this process until it is interrupted. */
export async function up(host: Host, flags: UpFlags): Promise<void> {
  checkFlags(flags)
  const manifests = await readManifests(host, flags)
  const reporter = new Reporter(host)
  // Who interrupts a start has it stopped in order too: containers of an earlier life may be up by then.
  const interrupted = interruption(host)
  const lost = Promise.withResolvers<DataDirectoryLostError>()
  const cluster = await start(host, flags, reporter, lost.resolve)
  const stopReturning = host.returnMemoryWhenIdle()
  reporter.begin()
  host.stdout.write(`${readyLine(host, cluster)}\n`)
  if (host.stdout.isTerminal) host.stdout.write(nextSteps(stepsOf(host, flags, cluster)))
  if (manifests.length > 0 && hasNpmTakenFile(host.variables)) {
    host.stderr.write(
      'npm has taken -f for a flag of its own; the file is applied all the same (npm start -- -f FILE)\n',
    )
  }
  const activity = await followActivity(cluster.client, cluster.environment, reporter.startedMs, reporter.tell)
  reporter.follow(activity)
  if (activity.livePods > 0) {
    reporter.tell({
      about: 'cluster',
      what: `goes on with ${count(activity.livePods, 'pod')} from before`,
      tone: 'plain',
    })
  }
  if (manifests.length > 0) {
    const { applyAtStart } = await import('../up/apply-at-start.ts')
    const placement = { namespace: flags.namespace ?? 'default', givenNamespace: flags.namespace }
    await applyAtStart(cluster.client, manifests, placement, reporter.tell)
  }
  const loss = await Promise.race([interrupted, lost.promise])
  stopReturning()
  if (loss === undefined) await stop(cluster, activity, reporter)
  else await stopWithoutDirectory(host, loss, cluster, activity, reporter)
}

/** Throws a CliError on what cannot be, before anything is touched. */
function checkFlags({ dataDir, nodes, runtime }: UpFlags): void {
  if (dataDir === '') throw new CliError('--data-dir is empty: name a directory of its own')
  if (runtime === 'process' && nodes > processNodesMax) {
    throw new CliError(
      `one host cannot be ${nodes} nodes of real processes: give at most ${processNodesMax} with --nodes, or --runtime simulated`,
    )
  }
}

/** Where objects are kept. */
function storeOf({ workingDirectory }: Host, flags: UpFlags): Pick<ClusterOptions, 'store'> {
  const etcd = etcdOf(flags, workingDirectory)
  if (etcd === undefined) return { store: flags.memory === true ? 'memory' : 'disk' }
  if (flags.memory === true) throw new CliError('--memory and an etcd are two places for objects: give one')
  return { store: { etcd } }
}

/** Read before anything starts: a mistake in a file is told at once. */
async function readManifests(host: Host, flags: UpFlags) {
  if (flags.filename.length === 0) return []
  const { loadManifests } = await import('../manifests/load-manifests.ts')
  return loadManifests(host, flags)
}

async function start(
  host: Host,
  flags: UpFlags,
  reporter: Reporter,
  onLost: (error: DataDirectoryLostError) => void,
): Promise<Cluster> {
  try {
    return await startCluster({
      environment: reporter.environment,
      dataDir: resolve(host.workingDirectory, flags.dataDir),
      ...storeOf(host, flags),
      ...leaderElectionOf(flags),
      nodes: flags.nodes,
      ...(flags.nodePrefix === undefined ? {} : { nodePrefix: flags.nodePrefix }),
      runtime: flags.runtime,
      listen: { host: flags.listen, port: flags.port },
      onFailure(error) {
        if (error instanceof DataDirectoryLostError) return onLost(error)
        reporter.flush()
        host.stderr.write(`error: ${error.message}\n`)
        host.exit(1)
      },
    })
  } catch (error) {
    throw explainStartFailure(error, flags)
  }
}

/** Address, kubeconfig, and how long it took from the start of the process. */
function readyLine(host: Host, { url, kubeconfigPath = '' }: Cluster): string {
  const ms = Math.round(host.environment.clock.monotonicMs())
  const path = relative(host.workingDirectory, kubeconfigPath)
  return `Coracle is ready at ${url} after ${ms} ms (KUBECONFIG=${path.startsWith('..') ? kubeconfigPath : path})`
}

function stepsOf({ workingDirectory, variables }: Host, flags: UpFlags, { kubeconfigPath = '' }: Cluster) {
  return {
    dataDir: resolve(workingDirectory, flags.dataDir),
    kubeconfig: kubeconfigPath,
    memory: flags.memory === true,
    resource: flags.filename.length > 0 ? ('pods' as const) : ('nodes' as const),
    viaNpm: variables.npm_command !== undefined,
  }
}

async function stop(cluster: Cluster, activity: Activity, reporter: Reporter): Promise<void> {
  const { clock } = cluster.environment
  const startedMs = clock.monotonicMs()
  const pods = activity.livePods
  const what = pods === 0 ? 'stopping' : `stopping ${count(pods, 'pod')} (Ctrl-C again: at once)`
  reporter.tell({ about: 'cluster', what, tone: 'plain' })
  reporter.end()
  try {
    await cluster.stop()
    reporter.tell({
      about: 'cluster',
      what: `stopped after ${Math.round(clock.monotonicMs() - startedMs)} ms`,
      tone: 'plain',
    })
  } finally {
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
  await stop(cluster, activity, reporter).catch(() => {})
  host.stderr.write(`error: ${loss.message}\n`)
  host.exit(1)
}

const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? '' : 's'}`

/** Terminals show colours, unless the user wants none (no-color.org). */
function isColoured({ stdout, variables }: Host): boolean {
  return stdout.isTerminal && (variables.NO_COLOR ?? '') === '' && variables.TERM !== 'dumb'
}

/** Prints what happens, and listens to the cluster's log for it. */
class Reporter {
  /** The host's world, with the log that this reads. */
  readonly environment: Environment
  /** When the start began, by the wall clock. */
  readonly startedMs: number
  readonly #printer: ActivityPrinter
  readonly #bursts: Bursts
  /** Nobody wants to read how a cluster starts, nor how its parts miss each other while it stops. */
  #tellsLog = false

  constructor(host: Host) {
    const { clock } = host.environment
    this.startedMs = clock.now()
    this.#printer = new ActivityPrinter(clock, host.stdout, { coloured: isColoured(host) })
    this.#bursts = new Bursts(clock, (timeMs, change) => this.#printer.print(timeMs, change))
    const logger = createLogger((line) => {
      const change = this.#tellsLog ? logChange(line) : undefined
      if (change !== undefined) this.tell(change)
    })
    this.environment = { ...host.environment, logger }
  }

  begin(): void {
    this.#tellsLog = true
  }

  end(): void {
    this.#tellsLog = false
  }

  /** From now on it sums up what happens to many pods of one controller. */
  follow({ groups }: Activity): void {
    this.#bursts.follow(groups)
  }

  flush(): void {
    this.#bursts.flush()
    this.#printer.flush()
  }

  readonly tell = (change: ChangeOf): void => this.#bursts.tell(change)
}
