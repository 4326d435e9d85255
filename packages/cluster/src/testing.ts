/** A whole cluster for the test of a controller: in this process, on a clock that the test holds. */
import {
  type Controller,
  type CustomKind,
  createManager,
  ensureCustomKind,
  type Manager,
} from '@coracle/controller-runtime'
import { type Logger, type VirtualEnvironment, virtualEnvironment } from '@coracle/environment'
import type { Cluster, ClusterOptions } from './cluster.ts'
import { drive, drivesOf } from './drive.ts'
import { startCluster } from './start-cluster.ts'

export interface TestClusterOptions extends Omit<ClusterOptions, 'environment' | 'listen' | 'runtime'> {
  /** The same seed gives the same run. */
  readonly seed?: number
  /** Where log lines go; nowhere by default. */
  readonly logger?: Logger
  /** Kinds that it serves beside the built-in ones, from the start. */
  readonly kinds?: readonly Pick<CustomKind, 'definition'>[]
  /** Controllers that run in it, from the start. */
  readonly controllers?: readonly Controller[]
}

/** A cluster in which time passes only when the test lets it. */
export interface TestCluster extends Cluster {
  readonly environment: VirtualEnvironment
  /** Runs the controllers given at the start; more may be added. It stops with the cluster. */
  readonly manager: Manager
  /** Resolves when nothing happens any more unless time passes. */
  settle(): Promise<void>
  /** Lets time pass: `30s`, `24h`, or so many milliseconds. Whatever is due on the way happens at its time. */
  advance(duration: string | number): Promise<void>
}

/**
 * Starts a cluster on a virtual clock, with a node that only seems to run pods, with kinds and controllers of one's own. Resolves
 * when all of it has settled.
 */
export async function startTestCluster(options: TestClusterOptions = {}): Promise<TestCluster> {
  const { seed, logger, kinds = [], controllers = [], ...clusterOptions } = options
  const environment = virtualEnvironment({
    ...(seed === undefined ? {} : { seed }),
    ...(logger === undefined ? {} : { logger }),
  })
  const { clock } = environment
  const cluster = await startCluster({ ...clusterOptions, environment })
  const manager = createManager({ client: cluster.client, environment })
  for (const controller of controllers) manager.add(controller)
  const drives = drivesOf(environment, false)
  const stop: Cluster['stop'] = async (stopOptions) => {
    await drives.stop(manager.stop())
    await cluster.stop(stopOptions)
  }
  try {
    await drive(environment, Promise.all(kinds.map((kind) => ensureCustomKind(cluster.client, kind, environment))))
    await drive(environment, manager.start())
    await clock.settle()
  } catch (error) {
    await stop()
    throw error
  }
  return {
    ...cluster,
    environment,
    manager,
    settle: () => clock.settle(),
    advance: (duration) => clock.advance(duration),
    stop,
    [Symbol.asyncDispose]: () => stop(),
  }
}
