import { createHttpClient } from '@coracle/client'
import type { Environment } from '@coracle/environment'
import { isCurrent } from '../certificate-keeper.ts'
import type { AgentFiles, JoinedCluster } from './agent-files.ts'
import { checkOrder, discoverCluster, JoinError, type JoinOrder } from './discover-cluster.ts'
import { clientWish, requestCertificate, waitsForApproval } from './request-certificate.ts'

export interface JoinOptions {
  readonly environment: Environment
  readonly nodeName: string
  /** Where `files` are, to be named in errors. */
  readonly dataDir: string
  readonly files: AgentFiles
  /** Undefined where the cluster must have been joined before. */
  readonly order: JoinOrder | undefined
  /** Told what joining is at, in words. */
  readonly onProgress: (stage: string) => void
}

/**
 * The cluster that was joined before, as long as the node's certificate is valid; else the one of `order`, which is joined now. Rejects with a
 * JoinError where neither can be.
 */
export async function joinCluster(options: JoinOptions, signal: AbortSignal): Promise<JoinedCluster> {
  const { environment, nodeName, dataDir, files, order } = options
  const before = await files.joined()
  if (before !== undefined && before.nodeName !== nodeName) {
    throw new JoinError(
      `${dataDir} is that of node ${before.nodeName}: give --hostname-override ${before.nodeName}, or another --data-dir for ${nodeName}`,
    )
  }
  if (before !== undefined && isCurrent(before.client, environment.clock.now())) {
    return { ...before, server: order?.server ?? before.server }
  }
  if (order === undefined) {
    throw new JoinError(
      before === undefined
        ? 'this machine has joined no cluster yet: give --token and --discovery-token-ca-cert-hash, or --kubeconfig'
        : 'the certificate of this node has ended: give a --token to join again',
    )
  }
  return joinBy(order, options, signal)
}

async function joinBy(
  order: JoinOrder,
  { environment, nodeName, files, onProgress: tell }: JoinOptions,
  signal: AbortSignal,
): Promise<JoinedCluster> {
  checkOrder(order)
  tell(`asking ${order.server} which cluster it is`)
  const caPem = await discoverCluster(order, environment, signal)
  tell('asking for a certificate')
  const bootstrap = createHttpClient({ server: order.server, ca: caPem, token: order.token, ...environment })
  try {
    const client = await requestCertificate(bootstrap, environment, clientWish(nodeName), signal, (name) =>
      tell(waitsForApproval(name)),
    )
    const joined = { server: order.server, servers: [], caPem, nodeName, client }
    await files.keepJoined(joined)
    return joined
  } finally {
    await bootstrap.close()
  }
}
