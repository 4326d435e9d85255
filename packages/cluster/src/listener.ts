import { isIPv6 } from 'node:net'
import { join } from 'node:path'
import {
  type ApiCore,
  type ConfiguredAuthentication,
  type ConnectToPod,
  createAuthenticator,
  createHttpServer,
  createPki,
  issueClientCertificate,
  type KeyPair,
  kubeconfigOf,
  loadOrCreatePki,
  type Pki,
  publishAuthentication,
  publishClusterInfo,
  refusingAnonymous,
  type ServerAddress,
  type TokenIdentity,
  writeKubeconfig,
} from '@coracle/apiserver'
import type { WantedCertificate } from '@coracle/controllers'
import { type Environment, type MetricsRegistry, realEnvironment, VirtualClock } from '@coracle/environment'
import { certificateEnd, certificateHosts, issueRequestedCertificate } from '@coracle/environment/certificates'
import { renewCertificates } from './certificate-renewal.ts'
import { identities } from './identities.ts'
import { reachableHosts } from './reachable-hosts.ts'

/** The API over HTTPS, and what a client needs to reach it. */
export interface Listener {
  /** Where it is reached from this machine. */
  readonly url: string
  readonly kubeconfig: string
  readonly kubeconfigPath: string | undefined
  readonly port: number
  /** Where others are told to reach it. */
  readonly advertised: ServerAddress
  /** The certificate authority it serves under, as PEM. */
  readonly caPem: string
  /** The names and addresses that its certificate is good for. */
  readonly serverNames: readonly string[]
  /** Makes a certificate, in PEM, in the name of the server's authority. */
  readonly issueCertificate: (wanted: WantedCertificate) => string
  close(): Promise<void>
}

export interface ListenerOptions {
  readonly environment: Environment
  readonly core: ApiCore
  /** Keys and certificates, as `loadServingPki` gives them. */
  readonly pki: Pki
  readonly token: string
  /** Who may act by other bearer tokens. */
  readonly staticTokens: readonly TokenIdentity[]
  /** Authorities whose client certificates are good beside those of `pki`, as PEM. */
  readonly clientCaPem: string
  /** Whose tokens are good beside the cluster's own, and who needs none. */
  readonly configuredAuthentication: ConfiguredAuthentication | undefined
  /** What `/metrics` shows. */
  readonly metrics: MetricsRegistry
  /** What `/flagz` shows; undefined: there is no such path. */
  readonly flags: Readonly<Record<string, string>> | undefined
  readonly host: string
  readonly port: number
  /** Where the kubeconfig is written; undefined: nowhere. */
  readonly dataDir: string | undefined
  /** The way to pods of the nodes of this process, for nodes elsewhere. */
  readonly connectToPod: ConnectToPod
  /** What the kubeconfig calls the cluster. */
  readonly clusterName: string | undefined
  /** Told that the kubeconfig says something else, since the administrator's certificate was renewed. */
  readonly onKubeconfigRenewed: (() => void) | undefined
}

/** Whose bearer tokens are good. */
export const tokensOf = ({
  token,
  staticTokens,
}: Pick<ListenerOptions, 'token' | 'staticTokens'>): readonly TokenIdentity[] => [
  { token, user: identities.admin },
  ...staticTokens,
]

/**
 * Keys and certificates of a server that listens on `host`, and is reached by `others` as well: from the `dataDir`, or made where there
 * are none.
 */
export async function loadServingPki(
  environment: Environment,
  host: string,
  dataDir: string | undefined,
  others: readonly string[],
): Promise<Pki> {
  const world = worldOfTls(environment)
  const all = [...reachableHosts(host).all, ...others]
  return dataDir === undefined ? createPki(world, all) : loadOrCreatePki(world, dataDir, all)
}

/** A certificate is used for half of the time that it is good. */
const shownUsedMs = 180 * 86_400_000

/**
 * By what the server is known to others as `user`: the `last` certificate, or a new one where that has been used for long. It lives as long as
 * the process, and is written nowhere.
 */
export function shownCertificate(
  environment: Environment,
  { ca }: Pki,
  user: string,
  last: KeyPair | undefined,
): KeyPair {
  const world = worldOfTls(environment)
  const isYoung = last !== undefined && (certificateEnd(last.certificatePem) ?? 0) - world.clock.now() > shownUsedMs
  return isYoung ? last : issueClientCertificate(world, ca, { user, groups: [] })
}

/** Serves the API, and keeps its certificates current; those that are new are told to `onRenewed`. The kubeconfig is written before this resolves. */
export async function listen(options: ListenerOptions, onRenewed: (pki: Pki) => void): Promise<Listener> {
  const { environment, core, pki, metrics, flags, host, port, dataDir } = options
  const tokens = tokensOf(options)
  const authenticate = createAuthenticator(tokens, environment.clock, {
    issued: core.serviceAccountTokens,
    bootstrap: core.bootstrapTokens,
    configuredAuthentication: options.configuredAuthentication,
  })
  const server = createHttpServer({
    core,
    environment,
    authenticate: core.takesAnonymous ? authenticate : refusingAnonymous(authenticate),
    serving: pki.serving,
    clientCaPem: pki.ca.certificatePem + options.clientCaPem,
    connectToPod: options.connectToPod,
    metrics,
    flags,
  })
  await publishAuthentication(core, pki.ca.certificatePem, options.clientCaPem)
  const listening = await server.listen({ host, port })
  const { local, advertised } = reachableHosts(host)
  await publishClusterInfo(core, { server: urlOf(advertised, listening.port), caPem: pki.ca.certificatePem })
  const url = local === undefined ? listening.url : `https://${local}:${listening.port}`
  const accessOf = ({ ca, admin }: Pki) => ({
    server: url,
    caPem: ca.certificatePem,
    client: admin,
    clusterName: options.clusterName,
  })
  const kubeconfigPath = dataDir === undefined ? undefined : join(dataDir, 'kubeconfig')
  const write = async (current: Pki): Promise<string> => {
    const access = accessOf(current)
    if (kubeconfigPath !== undefined) await writeKubeconfig(kubeconfigPath, access)
    return kubeconfigOf(access)
  }
  let kubeconfig = await write(pki)
  const stopRenewing = renewCertificates({
    environment: worldOfTls(environment),
    pki,
    dataDir,
    async onRenewed(current) {
      onRenewed(current)
      server.renewCertificate(current.serving)
      const former = kubeconfig
      kubeconfig = await write(current)
      if (kubeconfig !== former) options.onKubeconfigRenewed?.()
    },
  })
  return {
    url,
    get kubeconfig() {
      return kubeconfig
    },
    kubeconfigPath,
    port: listening.port,
    advertised: { ip: advertised, port: listening.port },
    caPem: pki.ca.certificatePem,
    serverNames: certificateHosts(pki.serving.certificatePem),
    issueCertificate: ({ request, ...wanted }) =>
      issueRequestedCertificate(worldOfTls(environment), pki.ca, { ...request, ...wanted }),
    async close() {
      await stopRenewing()
      await server.close()
    },
  }
}

const urlOf = (host: string, port: number): string => `https://${isIPv6(host) ? `[${host}]` : host}:${port}`

/** TLS judges certificates by the host's clock, whatever time it is in the cluster. */
function worldOfTls(environment: Environment): Environment {
  return environment.clock instanceof VirtualClock ? realEnvironment() : environment
}
