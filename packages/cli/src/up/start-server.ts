import { serviceCidrs } from '@coracle/api'
import { type Cluster, DataDirectoryLostError, startCluster } from '@coracle/cluster'
import { deadContainerLimits } from '@coracle/kubelet'
import type { Host } from '../host.ts'
import type { ClusterPlace } from '../local/cluster-place.ts'
import { shareKubeconfig } from '../local/common-kubeconfig.ts'
import { Progress } from '../output/progress.ts'
import { clusterOptionsOf } from './cluster-flags.ts'
import { containerRuntimeOf } from './container-runtime-flags.ts'
import { nodesToStart, taskRunTimeMs } from './nodes-flags.ts'
import { portHolder } from './port-holder.ts'
import type { Reporter } from './reporter.ts'
import type { UpFlags } from './up-flags.ts'
import type { Chosen } from './values-in-force.ts'

/** Flags, and how `/flagz` shows them with what was chosen. */
export type ShownFlags = UpFlags & { readonly show: (chosen: Chosen) => Readonly<Record<string, string>> }

export interface ServerStart {
  readonly host: Host
  readonly place: ClusterPlace
  readonly flags: ShownFlags
  readonly port: number
  readonly reporter: Reporter
  /** Told when the data directory has been removed or replaced while the server runs; other failures end the process. */
  readonly onLost: (error: DataDirectoryLostError) => void
}

/** Starts a cluster as flags say. Rejects with an error that says what to do about it. */
export async function startServer({ host, place, flags, port, reporter, onLost }: ServerStart): Promise<Cluster> {
  const progress = new Progress(host, 'starting')
  const nodes = await nodesToStart(place, flags)
  const runtime = containerRuntimeOf(flags, host.workingDirectory)
  const shown = (chosen: Pick<Chosen, 'port' | 'nodePrefix' | 'serviceRanges'>) =>
    flags.show({ ...nodes, ...runtime, place, deadContainers: deadContainerLimits, taskRunTimeMs, ...chosen })
  const { nodePrefix: givenPrefix } = flags
  const shownFlags = { ...shown({ port, ...(givenPrefix === undefined ? {} : { nodePrefix: givenPrefix }) }) }
  try {
    const cluster = await startCluster({
      name: place.name,
      environment: reporter.environment,
      dataDir: place.directory,
      ...(await clusterOptionsOf(flags, host.workingDirectory)),
      ...nodes,
      ...runtime,
      listen: { host: flags.listen, port },
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
    const ownPort = Number(new URL(cluster.url ?? '').port)
    const { nodePrefix } = cluster
    Object.assign(shownFlags, shown({ port: ownPort, nodePrefix, serviceRanges: await serviceRangesOf(cluster) }))
    return cluster
  } catch (error) {
    const { explainStartFailure } = await import('./start-failure.ts')
    throw explainStartFailure(
      error,
      { place, listen: flags.listen, port },
      { portHolder: (taken) => portHolder(taken, host.processes) },
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
