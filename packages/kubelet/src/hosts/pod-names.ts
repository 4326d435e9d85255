import type { Pod } from '@coracle/api'
import { hostAndDomain, podHostname } from '../pod/pod-hostname.ts'
import type { PodSandboxConfig, SandboxIsolation } from '../runtimes/runtime.ts'

/** The names that a pod has, and those that it adds: what is in a file of hosts whoever else is. */
export type PodNames = Pick<PodSandboxConfig, 'hostname'> & Pick<SandboxIsolation, 'hostAliases' | 'ownNames'>

/** Throws as `podHostname`. */
export function podNames(pod: Pod, clusterDomain: string): PodNames {
  const { hostAliases = [] } = pod.spec
  const { host, domain } = hostAndDomain(pod, clusterDomain)
  return {
    hostname: podHostname(pod, clusterDomain),
    hostAliases: hostAliases.map(({ ip = '', hostnames = [] }) => ({ ip, hostnames })),
    ...(domain === undefined ? {} : { ownNames: [`${host}.${domain}`, host] }),
  }
}
