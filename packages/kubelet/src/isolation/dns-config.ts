import type { Pod } from '@coracle/api'
import type { DnsConfig } from '../runtimes/runtime.ts'

/** Where names of a cluster are looked up. */
export interface ClusterDns {
  /** None: pods look names up as their node does. */
  readonly servers: readonly string[]
  readonly domain: string
}

/** What a resolver uses of these, at most: more are left out. */
const serversMax = 3
const searchesMax = 32
const searchCharactersMax = 2048

/**
 * How a pod looks up names, by its `dnsPolicy` and `dnsConfig` as upstream's kubelet takes them. Where the cluster has no servers for
 * that, `ClusterFirst` is what `Default` is: as the node does it, which `nodeResolvConf` says.
 */
export function podDns({ metadata, spec }: Pod, nodeResolvConf: string, cluster: ClusterDns): DnsConfig {
  const node = parseResolvConf(nodeResolvConf)
  const { dnsPolicy = 'ClusterFirst', dnsConfig = {} } = spec
  const base =
    dnsPolicy === 'None'
      ? none
      : usesClusterDns({ spec }) && cluster.servers.length > 0
        ? clusterFirst(node, cluster, metadata.namespace ?? '')
        : node
  const { nameservers = [], searches = [], options = [] } = dnsConfig
  return {
    servers: distinct([...base.servers, ...nameservers]).slice(0, serversMax),
    searches: fitting(distinct([...base.searches, ...searches])),
    options: mergedOptions(base.options, options),
  }
}

/** Whether a pod looks names up where the cluster's are known. */
export function usesClusterDns({
  spec: { dnsPolicy = 'ClusterFirst', hostNetwork = false },
}: Pick<Pod, 'spec'>): boolean {
  return dnsPolicy === 'ClusterFirstWithHostNet' || (dnsPolicy === 'ClusterFirst' && !hostNetwork)
}

const none: DnsConfig = { servers: [], searches: [], options: [] }

function clusterFirst(node: DnsConfig, { servers, domain }: ClusterDns, namespace: string): DnsConfig {
  const own = domain === '' ? [] : [`${namespace}.svc.${domain}`, `svc.${domain}`, domain]
  return { servers, searches: [...own, ...node.searches], options: ['ndots:5'] }
}

/** What a resolv.conf says; of `search` and `options` the last line counts. */
function parseResolvConf(text: string): DnsConfig {
  const servers: string[] = []
  let searches: readonly string[] = []
  let options: readonly string[] = []
  for (const line of text.split('\n')) {
    const [key, ...words] = line.trim().split(/\s+/)
    if (key === 'nameserver' && words[0] !== undefined) servers.push(words[0])
    else if (key === 'search') searches = words.map((word) => word.replace(/\.$/, ''))
    else if (key === 'options') options = words
  }
  return { servers, searches, options }
}

function mergedOptions(
  base: readonly string[],
  added: readonly { readonly name?: string | undefined; readonly value?: string | undefined }[],
): readonly string[] {
  const merged = new Map(
    base.map((option): [string, string] => {
      const colon = option.indexOf(':')
      return colon < 0 ? [option, ''] : [option.slice(0, colon), option.slice(colon + 1)]
    }),
  )
  for (const { name = '', value = '' } of added) merged.set(name, value)
  return [...merged].map(([name, value]) => (value === '' ? name : `${name}:${value}`))
}

function fitting(searches: readonly string[]): readonly string[] {
  const kept: string[] = []
  let characters = 0
  for (const search of searches.slice(0, searchesMax)) {
    characters += search.length + (kept.length === 0 ? 0 : 1)
    if (characters > searchCharactersMax) break
    kept.push(search)
  }
  return kept
}

const distinct = (items: readonly string[]): readonly string[] => [...new Set(items)]
