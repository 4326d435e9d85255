import { readFile } from 'node:fs/promises'
import type { Pod } from '@coracle/api'
import type { Client } from '@coracle/client'
import { podNames } from '../hosts/pod-names.ts'
import type { PortMapping, Runtime, SandboxIsolation } from '../runtimes/runtime.ts'
import { type DnsProblem, noResolvConf, podDns, usesClusterDns } from './dns-config.ts'
import { sandboxOverhead, sandboxResources } from './linux-resources.ts'
import { knownHandler, runtimeHandlerOf } from './runtime-handler.ts'
import { sandboxSecurity } from './security.ts'

/** What of a node matters to the isolation of its pods. */
export interface IsolatingNode {
  readonly client: Client
  readonly runtime: Pick<Runtime, 'handlers'>
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
 * What of a pod only a runtime can make come true that isolates pods. Rejects where its runtime class is not there, or does not give pods
 * users of their own and is to.
 */
export async function sandboxIsolation(
  pod: Pod,
  node: IsolatingNode,
): Promise<SandboxIsolation & { readonly dnsProblems: readonly DnsProblem[] }> {
  const { metadata, spec } = pod
  const handler = await runtimeHandlerOf(pod, node.client)
  const ownUsers = spec.hostUsers === false
  if (ownUsers) checkUserNamespaces(handler, node.runtime)
  const { dns } = node
  const { hostname: _, ...names } = podNames(pod, dns.domain)
  const servers = usesClusterDns(pod) ? await dns.servers() : []
  const nodeResolvConf =
    dns.resolvConf === noResolvConf ? undefined : await readFile(dns.resolvConf, 'utf8').catch(() => '')
  const dnsProblems: DnsProblem[] = []
  const overhead = sandboxOverhead(pod)
  return {
    ...sandboxSecurity(pod),
    ownUsers,
    resources: sandboxResources(pod),
    ...(overhead === undefined ? {} : { overhead }),
    labels: metadata.labels ?? {},
    annotations: metadata.annotations ?? {},
    dns: podDns(pod, nodeResolvConf, { servers, domain: dns.domain }, (problem) => dnsProblems.push(problem)),
    dnsProblems,
    portMappings: spec.hostNetwork === true ? [] : portMappings(pod),
    runtimeHandler: handler,
    ...names,
  }
}

/** Throws in upstream's words where a handler does not give pods users of their own. */
function checkUserNamespaces(name: string, runtime: Pick<Runtime, 'handlers'>): void {
  const handler = knownHandler(runtime, name)
  if (handler?.features.userNamespaces === true) return
  const subject = name === '' ? 'runtime' : `RuntimeClass handler ${JSON.stringify(name)}`
  const isUnknown = handler === undefined && (runtime.handlers ?? []).length > 0
  const why = isUnknown ? `: the handler ${JSON.stringify(name)} is not known` : ''
  throw new Error(`can't set \`spec.hostUsers: false\`, ${subject} does not support user namespaces${why}`)
}

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
