import {
  credentialHeaders,
  type TransportOptions,
  tlsOptionsOf,
  tunnelNodeHeader,
  withPresentTls,
} from '@coracle/client'
import type { Environment } from '@coracle/environment'
import type { ConnectThroughNode, PodPort } from '@coracle/proxy'
import { dialOverTls } from '../remote-nodes/dial-over-tls.ts'
import { endpointText } from '../remote-nodes/node-endpoint.ts'
import { openTunnel } from '../remote-nodes/open-tunnel.ts'
import { hostAndPort } from './host-and-port.ts'

export interface PodsElsewhereOptions {
  readonly environment: Environment
  /** The connection to the API of this moment: whoever is asked is shown its certificate. */
  readonly connection: () => TransportOptions
}

/**
 * The way of an agent's service proxy to pods of other machines: by the port of the API, which every agent reaches, to the API server, which
 * leads on to the pods of its own process and, through the agents of their nodes, to all others (CONNECT).
 */
export function podsElsewhere({ environment, connection }: PodsElsewhereOptions): ConnectThroughNode {
  return async (nodeName, target, signal) => {
    const api = await withPresentTls(connection())
    const { address: host, port } = hostAndPort(api.server)
    const socket = await dialOverTls({ host, port }, tlsOptionsOf(api), environment.clock, signal)
    const headers = { ...(await credentialHeaders(api)), [tunnelNodeHeader]: nodeName }
    return openTunnel(socket, targetText(target), headers, signal)
  }
}

const targetText = ({ address: host, port }: PodPort): string => endpointText({ host, port })
