import type { Pod } from '@coracle/api'
import { podHostname } from '../pod/pod-hostname.ts'
import type { PodSandboxConfig, SandboxIsolation } from '../runtimes/runtime.ts'

/** The names that a pod has, and those that it adds: what is in a file of hosts whoever else is. */
export type PodNames = Pick<PodSandboxConfig, 'hostname'> & Pick<SandboxIsolation, 'hostAliases' | 'fullHostname'>

/** Throws as `podHostname`. */
export function podNames(pod: Pod, clusterDomain: string): PodNames {
  const { metadata, spec } = pod
  const { hostAliases = [], subdomain = '' } = spec
  const host = podHostname(pod, clusterDomain)
  const domain = `${subdomain}.${metadata.namespace ?? ''}.svc.${clusterDomain}`
  return {
    hostname: host,
    hostAliases: hostAliases.map(({ ip = '', hostnames = [] }) => ({ ip, hostnames })),
    ...(subdomain === '' || host.includes('.')
      ? {}
      : { fullHostname: `${spec.hostname ?? metadata.name ?? ''}.${domain}` }),
  }
}
