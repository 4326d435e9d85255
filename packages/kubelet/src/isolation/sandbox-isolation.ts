import { readFile } from 'node:fs/promises'
import type { Pod } from '@coracle/api'
import type { Client } from '@coracle/client'
import { podNames } from '../hosts/pod-names.ts'
import type { PortMapping, SandboxIsolation } from '../runtimes/runtime.ts'
import { podDns, usesClusterDns } from './dns-config.ts'
import { runtimeHandlerOf } from './runtime-handler.ts'
import { sandboxSecurity } from './security.ts'

/** What of a node matters to the isolation of its pods. */
export interface IsolatingNode {
  readonly client: Client
  readonly memoryBytes: number
  readonly dns: NodeDns
}

/** How pods of a node look names up. */
export interface NodeDns {
  /** The addresses of those who know the cluster's names; none: pods look names up as their node does. */
  readonly servers: () => Promise<readonly string[]>
  readonly domain: string
  /** The file that says how the node does. */
  readonly resolvConf: string
}

/**
 * What of a pod only a runtime can make come true that isolates pods. Rejects where its runtime class is not there, and where it wants what
 * no runtime is asked for here.
 */
export async function sandboxIsolation(
  pod: Pod,
  node: IsolatingNode,
): Promise<SandboxIsolation & { readonly dnsProblem: string | undefined }> {
  const { metadata, spec } = pod
  if (spec.hostUsers === false) {
    throw new Error('users of their own (hostUsers: false) are not given to pods here: leave hostUsers out')
  }
  const { dns } = node
  const { hostname: _, ...names } = podNames(pod, dns.domain)
  const servers = usesClusterDns(pod) ? await dns.servers() : []
  const nodeResolvConf = await readFile(dns.resolvConf, 'utf8').catch(() => '')
  return {
    ...sandboxSecurity(pod),
    labels: metadata.labels ?? {},
    annotations: metadata.annotations ?? {},
    dns: podDns(pod, nodeResolvConf, { servers, domain: dns.domain }),
    dnsProblem: usesClusterDns(pod) && servers.length === 0 ? missingDns(spec.dnsPolicy) : undefined,
    portMappings: spec.hostNetwork === true ? [] : portMappings(pod),
    runtimeHandler: await runtimeHandlerOf(pod, node.client),
    ...names,
  }
}

/** Upstream's words. */
const missingDns = (policy = 'ClusterFirst'): string =>
  `kubelet does not have ClusterDNS IP configured and cannot create Pod using "${policy}" policy. Falling back to "Default" policy.`

/** Ports of the node that lead to the pod: each once, whichever container names it. */
function portMappings({ spec: { containers, initContainers = [] } }: Pod): readonly PortMapping[] {
  const mappings = new Map<string, PortMapping>()
  for (const { ports = [] } of [...initContainers, ...containers]) {
    for (const { containerPort, hostPort = 0, hostIP = '', protocol = 'TCP' } of ports) {
      if (hostPort === 0) continue
      const mapping = { protocol, containerPort, hostPort, ...(hostIP === '' ? {} : { hostIp: hostIP }) }
      mappings.set(`${protocol} ${hostIP} ${hostPort}`, mapping)
    }
  }
  return [...mappings.values()]
}
