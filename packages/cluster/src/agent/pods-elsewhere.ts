import { hasReason, type Node, nodes } from '@coracle/api'
import {
  BoundedMap,
  type Client,
  credentialHeaders,
  type TransportOptions,
  tlsOptionsOf,
  tunnelNodeHeader,
} from '@coracle/client'
import type { Environment } from '@coracle/environment'
import type { KeyPair } from '@coracle/environment/certificates'
import type { ConnectThroughNode, PodPort } from '@coracle/proxy'
import { dialOverTls } from '../remote-nodes/dial-over-tls.ts'
import { endpointText } from '../remote-nodes/node-endpoint.ts'
import { openTunnel } from '../remote-nodes/open-tunnel.ts'
import { RemoteNodes } from '../remote-nodes/remote-nodes.ts'

/** How long it is not asked again where a node is. */
const nodeKnownMs = 10_000
const nodesKnownMax = 1_000

export interface PodsElsewhereOptions {
  readonly environment: Environment
  readonly client: Client
  /** The connection to the API of this moment: whoever is asked is shown its certificate. */
  readonly connection: () => TransportOptions
}

/**
 * The way of an agent's service proxy to pods of other machines: to the server of their node's agent, or where a node says of none, to the API
 * server, which has the agents of its process. Both are known by their certificates before anything is said, and take connections of nodes
 * (CONNECT).
 */
export function podsElsewhere({ environment, client, connection }: PodsElsewhereOptions): ConnectThroughNode {
  const { clock } = environment
  const nodeNamed = cachedNodes(client, environment)
  const credentials = credentialsOf(connection)
  const agents = new RemoteNodes({ environment, nodeNamed, credentials })

  const throughApi = async (nodeName: string, target: PodPort, signal: AbortSignal) => {
    const api = connection()
    const { hostname, port } = new URL(api.server)
    const endpoint = { host: hostname.replace(/^\[|\]$/g, ''), port: port === '' ? 443 : Number(port) }
    const socket = await dialOverTls(endpoint, tlsOptionsOf(api), clock, signal)
    const headers = { ...(await credentialHeaders(api)), [tunnelNodeHeader]: nodeName }
    return openTunnel(socket, targetText(target), headers, signal)
  }

  return async (nodeName, target, signal) => {
    const agent = await agents.of(nodeName)
    return agent === undefined
      ? throughApi(nodeName, target, signal)
      : agent.connectToPod({ host: target.address, port: target.port }, signal)
  }
}

const targetText = ({ address: host, port }: PodPort): string => endpointText({ host, port })

/** Nodes as the API has had them in the last ten seconds. */
function cachedNodes(client: Client, { clock }: Environment): (name: string) => Promise<Node | undefined> {
  const known = new BoundedMap<string, { readonly node: Promise<Node | undefined>; readonly untilMs: number }>(
    nodesKnownMax,
  )
  return (name) => {
    const found = known.get(name)
    if (found !== undefined && found.untilMs > clock.monotonicMs()) return found.node
    const node = client.get(nodes, { name }).catch((error: unknown) => {
      if (hasReason(error, 'NotFound')) return undefined
      throw error
    })
    known.set(name, { node, untilMs: clock.monotonicMs() + nodeKnownMs })
    return node
  }
}

/** The certificate of a connection, the same object as long as it stays the same. */
function credentialsOf(connection: () => TransportOptions) {
  let last: KeyPair | undefined
  return async () => {
    const { ca, cert, key } = connection()
    // A token is not for other nodes to see.
    if (ca === undefined || cert === undefined || key === undefined)
      throw new Error('other nodes know this one by a certificate, and it has none')
    if (last?.certificatePem !== cert || last.keyPem !== key) last = { certificatePem: cert, keyPem: key }
    return { caPem: ca, client: last }
  }
}
