import {
  apiServiceKey,
  compareText,
  type Endpoint,
  type EndpointSlice,
  isLoopback,
  noClusterIp,
  type Service,
} from '@coracle/api'
import { addressesOf, shownEndpoints } from '../zone/cluster-view.ts'
import { hostLines } from './host-lines.ts'

/** Where the files are. */
export interface Place {
  /** `cluster.local` */
  readonly domain: string
  /** Whether a node is of this host. */
  isOwnNode(name: string): boolean
}

/** Lines of hosts files. */
export interface ServiceLines {
  /** For pods of the service's namespace, which may call it by its name alone. */
  readonly own: readonly string[]
  /** For all other pods. */
  readonly others: readonly string[]
}

/**
 * The names of a service and of its endpoints with their addresses, as `zoneAnswer` knows them, for processes of this host: by all that stands
 * for a name once a resolver has added the domains that it searches. What is no address there is left out: a service that is another
 * name (`ExternalName`), that of the API, which processes reach elsewhere, and endpoints at addresses of loopback of other hosts. Pure.
 */
export function serviceLines(
  { metadata: { namespace = '', name = '' }, spec }: Service,
  slices: readonly EndpointSlice[],
  { domain, isOwnNode }: Place,
): ServiceLines {
  const isOfApi = namespace === apiServiceKey.namespace && name === apiServiceKey.name
  if (spec.type === 'ExternalName' || isOfApi) return none
  const isHeadless = spec.clusterIP === noClusterIp
  const named: (readonly [string, readonly string[]])[] = addressesOf(spec).map((address) => [address, [name]])
  for (const [endpoint, address] of slices.flatMap((slice) => [...shownEndpoints(slice)])) {
    if (!isReached(endpoint, address, isOwnNode)) continue
    const { hostname = '' } = endpoint
    const names = [...(hostname === '' ? [] : [`${hostname}.${name}`]), ...(isHeadless ? [name] : [])]
    named.push([address, names])
  }
  const linesWith = (suffixes: readonly string[]): readonly string[] => {
    const lines = named.flatMap(([address, names]) =>
      hostLines(
        address,
        names.flatMap((each) => suffixes.map((suffix) => each + suffix)),
      ),
    )
    // An endpoint that moves from one slice to another is in both for a moment.
    return [...new Set(lines)].sort(compareText)
  }
  const suffixes = [`.${namespace}.svc.${domain}`, `.${namespace}.svc`, `.${namespace}`]
  return { own: linesWith([...suffixes, '']), others: linesWith(suffixes) }
}

const none: ServiceLines = { own: [], others: [] }

const isReached = ({ nodeName }: Endpoint, address: string, isOwnNode: Place['isOwnNode']): boolean =>
  nodeName === undefined || isOwnNode(nodeName) || !isLoopback(address)
