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
/** Some resolvers abort where one is longer. */
const searchLengthMax = 253

/** Stands for no file at all: the node asks nobody, and its pods ask themselves (upstream's empty --resolv-conf). */
export const noResolvConf = '/dev/null'

const askingThemselves: DnsConfig = { servers: ['127.0.0.1'], searches: ['.'], options: [] }

/** What a pod is told of how it looks up names. */
export interface DnsProblem {
  readonly reason: 'MissingClusterDNS' | 'DNSConfigForming'
  readonly message: string
}

/**
 * How a pod looks up names, by its `dnsPolicy` and `dnsConfig` as upstream's kubelet takes them. Where the cluster has no servers for
 * that, `ClusterFirst` is what `Default` is: as the node does it, which `nodeResolvConf` says; undefined where nothing does. What is not as
 * it was asked for, `tell` is told in upstream's words.
 */
export function podDns(
  pod: Pod,
  nodeResolvConf: string | undefined,
  cluster: ClusterDns,
  tell: (problem: DnsProblem) => void = () => {},
): DnsConfig {
  const { metadata, spec } = pod
  const { dnsPolicy = 'ClusterFirst', dnsConfig = {} } = spec
  const asksCluster = usesClusterDns(pod)
  if (asksCluster && cluster.servers.length === 0) tell(missingClusterDns(pod))
  const base =
    dnsPolicy === 'None'
      ? none
      : asksCluster && cluster.servers.length > 0
        ? clusterFirst(parseResolvConf(nodeResolvConf ?? ''), cluster, metadata.namespace ?? '')
        : nodeResolvConf === undefined
          ? askingThemselves
          : parseResolvConf(nodeResolvConf)
  const { nameservers = [], searches = [], options = [] } = dnsConfig
  const given = {
    servers: distinct([...base.servers, ...nameservers]),
    searches: distinct([...base.searches, ...searches]),
  }
  const servers = given.servers.slice(0, serversMax)
  const fit = fitting(given.searches)
  if (servers.length < given.servers.length)
    tell(
      forming(
        `Nameserver limits were exceeded, some nameservers have been omitted, the applied nameserver line is: ${servers.join(' ')}`,
      ),
    )
  if (fit.length < given.searches.length)
    tell(
      forming(
        `Search Line limits were exceeded, some search paths have been omitted, the applied search line is: ${fit.join(' ')}`,
      ),
    )
  return { servers, searches: fit, options: mergedOptions(base.options, options) }
}

const forming = (message: string): DnsProblem => ({ reason: 'DNSConfigForming', message })

const missingClusterDns = ({ metadata: { name = '', namespace = '', uid = '' } }: Pod): DnsProblem => ({
  reason: 'MissingClusterDNS',
  message: `pod: ${JSON.stringify(`${name}_${namespace}(${uid})`)}. kubelet does not have ClusterDNS IP configured and cannot create Pod using "ClusterFirst" policy. Falling back to "Default" policy.`,
})

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

/** What a resolv.conf says: of `search` the last line counts, of an option the last that names it. */
function parseResolvConf(text: string): DnsConfig {
  const servers: string[] = []
  let searches: readonly string[] = []
  const options = new Map<string, string>()
  for (const line of text.split('\n')) {
    const [key, ...words] = line.trim().split(/\s+/)
    if (key === 'nameserver' && words[0] !== undefined) servers.push(words[0])
    else if (key === 'search') searches = words.filter((word) => word !== '.').map((word) => word.replace(/\.$/, ''))
    else if (key === 'options') for (const word of words) options.set(word.split(':')[0] ?? '', word)
  }
  return { servers, searches, options: [...options.values()] }
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
    if (search.length > searchLengthMax) continue
    characters += search.length + (kept.length === 0 ? 0 : 1)
    if (characters > searchCharactersMax) break
    kept.push(search)
  }
  return kept
}

const distinct = (items: readonly string[]): readonly string[] => [...new Set(items)]
