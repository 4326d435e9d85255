import type { Environment } from '@coracle/environment'
import { createHttpClient, type HttpClient } from './http-client.ts'
import type { TransportOptions } from './http-transport.ts'
import { connectionOf, inClusterConnection, loadKubeconfig } from './kubeconfig.ts'

/**
 * A client of the cluster this program is meant for: the one that KUBECONFIG names, else the one whose pod it runs in, else the
 * one of `~/.kube/config`. Rejects with an Error that says what is missing.
 */
export async function connect(
  environment: Environment,
  options: Pick<TransportOptions, 'userAgent' | 'metrics'> = {},
): Promise<HttpClient> {
  const isInPod = process.env.KUBECONFIG === undefined && process.env.KUBERNETES_SERVICE_HOST !== undefined
  const connection = isInPod
    ? await inClusterConnection(environment.clock)
    : await connectionOf(await loadKubeconfig(), environment)
  return createHttpClient({ ...connection, ...options, ...environment })
}
