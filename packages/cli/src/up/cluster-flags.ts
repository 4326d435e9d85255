import { resolve } from 'node:path'
import type { ClusterOptions } from '@coracle/cluster'
import { CliError } from '../cli-error.ts'
import { authenticationOf } from './authentication-flags.ts'
import type { EtcdFlags } from './etcd-flags.ts'
import type { ImagesFlags } from './images-flag.ts'
import { inFlightOf } from './in-flight-flags.ts'
import { leaderElectionOf } from './leader-election-flags.ts'
import { formerVersionsOf } from './runtime-config-flag.ts'
import { serviceRangeOf } from './service-range-flag.ts'
import type { UpFlags } from './up-flags.ts'

/** What flags say of a cluster, its nodes and their runtimes apart. Throws a CliError where a file they name cannot be read. */
export async function clusterOptionsOf(flags: UpFlags, workingDirectory: string) {
  return {
    ...(await storeOf(workingDirectory, flags)),
    ...leaderElectionOf(flags),
    ...(await authenticationOf(flags, workingDirectory)),
    ...(flags.enableAdmissionPlugins === undefined ? {} : { enabledAdmission: flags.enableAdmissionPlugins }),
    ...(flags.disableAdmissionPlugins === undefined ? {} : { disabledAdmission: flags.disableAdmissionPlugins }),
    ...(flags.authorizationMode === undefined ? {} : { authorizationModes: flags.authorizationMode }),
    ...(flags.controllers === undefined ? {} : { builtinControllers: flags.controllers }),
    scheduler: flags.scheduler,
    ...inFlightOf(flags),
    ...(await imagesOf(flags, workingDirectory)),
    ...formerVersionsOf(flags),
    ...serviceRangeOf(flags),
    ...(flags.loadBalancerAddresses === undefined ? {} : { loadBalancerAddresses: flags.loadBalancerAddresses }),
    ...deadContainersOf(flags),
    ...(flags.nodePrefix === undefined ? {} : { nodePrefix: flags.nodePrefix }),
    ...(flags.podManifestPath === undefined ? {} : { manifestPath: resolve(workingDirectory, flags.podManifestPath) }),
  } satisfies Partial<ClusterOptions>
}

/** What images are on the process runtime, where a file says it. Throws a CliError where that cannot be read. */
export async function imagesOf(flags: ImagesFlags, workingDirectory: string): Promise<Pick<ClusterOptions, 'images'>> {
  if (flags.images === undefined) return {}
  const file = await import('./images-flag.ts')
  return file.imagesOf(flags, workingDirectory)
}

const etcdFlags: readonly (keyof EtcdFlags)[] = [
  'store',
  'etcdServers',
  'etcdPrefix',
  'etcdCafile',
  'etcdCertfile',
  'etcdKeyfile',
]

/** Where objects are kept. Throws a CliError where flags name two places. */
async function storeOf(workingDirectory: string, flags: UpFlags): Promise<Pick<ClusterOptions, 'store'>> {
  const etcd = etcdFlags.some((name) => flags[name] !== undefined)
    ? (await import('./etcd-flags.ts')).etcdOf(flags, workingDirectory)
    : undefined
  if (etcd === undefined) return { store: flags.memory === true ? 'memory' : 'disk' }
  if (flags.memory === true) throw new CliError('--memory and an etcd are two places for objects: give one')
  return { store: { etcd } }
}

/** How many containers that have ended are kept, and for how long. */
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
