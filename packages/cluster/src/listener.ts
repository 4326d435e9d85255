import { join } from 'node:path'
import {
  type ApiCore,
  createAuthenticator,
  createHttpServer,
  createPki,
  kubeconfigOf,
  loadOrCreatePki,
  writeKubeconfig,
} from '@coracle/apiserver'
import { type Environment, realEnvironment, VirtualClock } from '@coracle/environment'
import { identities } from './identities.ts'
import { reachableHosts } from './reachable-hosts.ts'

/** The API over HTTPS, and what a client needs to reach it. */
export interface Listener {
  /** Where it is reached from this machine. */
  readonly url: string
  readonly kubeconfig: string
  readonly kubeconfigPath: string | undefined
  /** The certificate authority it serves under, as PEM. */
  readonly caPem: string
  close(): Promise<void>
}

export interface ListenerOptions {
  readonly environment: Environment
  readonly core: ApiCore
  readonly token: string
  readonly host: string
  readonly port: number
  /** Where keys and the kubeconfig are kept; undefined keeps them in memory. */
  readonly dataDir: string | undefined
}

/** Serves the API. The kubeconfig is written before this resolves. */
export async function listen(options: ListenerOptions): Promise<Listener> {
  const { environment, core, token, host, port, dataDir } = options
  // TLS judges certificates by the host's clock, whatever time it is in the cluster.
  const world = environment.clock instanceof VirtualClock ? realEnvironment() : environment
  const hosts = reachableHosts(host)
  const pki = dataDir === undefined ? createPki(world, hosts.all) : await loadOrCreatePki(world, dataDir, hosts.all)
  const server = createHttpServer({
    core,
    environment,
    authenticate: createAuthenticator([{ token, user: identities.admin }], environment.clock),
    serving: pki.serving,
    clientCaPem: pki.ca.certificatePem,
  })
  const listening = await server.listen({ host, port })
  const url = hosts.local === undefined ? listening.url : `https://${hosts.local}:${listening.port}`
  const access = { server: url, caPem: pki.ca.certificatePem, client: pki.admin }
  const kubeconfigPath = dataDir === undefined ? undefined : join(dataDir, 'kubeconfig')
  if (kubeconfigPath !== undefined) await writeKubeconfig(kubeconfigPath, access)
  return { url, kubeconfig: kubeconfigOf(access), kubeconfigPath, caPem: access.caPem, close: () => server.close() }
}
