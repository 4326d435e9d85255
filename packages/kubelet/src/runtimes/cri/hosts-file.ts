import type { PodSandboxConfig, SandboxIsolation } from '../runtime.ts'

/** What every host knows. */
const ownNames = `127.0.0.1\tlocalhost
::1\tlocalhost ip6-localhost ip6-loopback
fe00::\tip6-localnet
fe00::\tip6-mcastprefix
fe00::1\tip6-allnodes
fe00::2\tip6-allrouters
`

/**
 * The host names that a pod's containers know, as upstream's kubelet writes them: those of the pod, or of the node where it shares the
 * node's network (`nodeHosts`), and those that the pod adds.
 */
export function hostsFile(
  { hostname }: Pick<PodSandboxConfig, 'hostname'>,
  { hostAliases, fullHostname }: Pick<SandboxIsolation, 'hostAliases' | 'fullHostname'>,
  addresses: readonly string[],
  nodeHosts: string | undefined,
): string {
  const aliases = hostAliases.map(({ ip, hostnames }) => `${ip}\t${hostnames.join('\t')}\n`).join('')
  const added = aliases === '' ? '' : `\n# Entries added by HostAliases.\n${aliases}`
  if (nodeHosts !== undefined) return `# Kubernetes-managed hosts file (host network).\n${nodeHosts}${added}`
  const names = fullHostname === undefined ? hostname : `${fullHostname}\t${hostname}`
  const own = addresses.map((address) => `${address}\t${names}\n`).join('')
  return `# Kubernetes-managed hosts file.\n${ownNames}${own}${added}`
}
