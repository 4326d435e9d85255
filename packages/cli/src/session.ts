import { isIP } from 'node:net'
import { kubernetesVersion } from '@coracle/api'
import {
  createHttpClient,
  type HttpClient,
  isUnreachableServer,
  RequestTimeoutError,
  type UnreachableServerError,
} from '@coracle/client'
import { CliError, RefusedConnectionError, SummaryError } from './cli-error.ts'
import { type ConnectionFlags, connectionFor } from './connection.ts'
import type { Host } from './host.ts'
import { isLocalKubeconfig, kubeconfigFiles } from './kubeconfig/kubeconfig-files.ts'
import { placeFlagText, placesHere } from './local/cluster-place.ts'
import { readServerRecord } from './local/server-record.ts'
import { ResourceCatalog } from './resources/resource-catalog.ts'

export type { ConnectionFlags } from './connection.ts'

/** A server that a command talks to. */
export interface Session {
  readonly client: HttpClient
  /** Its address; empty where it is in this process. */
  readonly server: string
  /** The namespace where none is named: the flag's, or else the context's. */
  readonly namespace: string
  /** The namespace the flag names. */
  readonly givenNamespace: string | undefined
  /** The server's resources; asked for once. */
  catalog(): Promise<ResourceCatalog>
}

/** Connects, runs `action`, and closes the connections again. */
export async function withSession<R>(
  host: Host,
  flags: ConnectionFlags,
  action: (session: Session) => Promise<R>,
): Promise<R> {
  if (host.connect !== undefined) {
    const { client, namespace } = await host.connect(flags)
    return action(sessionOf(client, '', namespace, flags))
  }
  const { environment } = host
  const { namespace, ...connection } = await connectionFor(host, flags)
  const warnings = new WarningPrinter(host)
  const client = createHttpClient({ ...environment, ...connection, onWarning: (text) => warnings.print(text) })
  try {
    if (flags.matchServerVersion === true) await assertVersionMatches(client)
    const result = await action(sessionOf(client, connection.server, namespace, flags))
    if (flags.warningsAsErrors === true) warnings.assertNone()
    return result
  } catch (error) {
    if (error instanceof RequestTimeoutError) throw timedOut
    throw isUnreachableServer(error) ? await unreachable(host, flags, error) : error
  } finally {
    await client.close()
  }
}

/** Throws a CliError where the server's API is of another version than the one this program is made for. */
async function assertVersionMatches(client: HttpClient): Promise<void> {
  const { gitVersion } = JSON.parse(await client.rawGet('/version')) as { readonly gitVersion?: string }
  if (gitVersion === kubernetesVersion) return
  throw new CliError(`server version (${gitVersion}) differs from client version (${kubernetesVersion})`)
}

function sessionOf(client: HttpClient, server: string, namespace: string, flags: ConnectionFlags): Session {
  let catalog: Promise<ResourceCatalog> | undefined
  return {
    client,
    server,
    namespace: flags.namespace ?? namespace,
    givenNamespace: flags.namespace,
    catalog() {
      catalog ??= client.discover().then((resources) => new ResourceCatalog(resources))
      return catalog
    },
  }
}

/** No answer within --request-timeout. */
const timedOut = new SummaryError(
  'Unable to connect to the server: context deadline exceeded (Client.Timeout exceeded while awaiting headers)',
)

/** No connection to the server, in kubectl's words; and what starts it, where `coracle up` has left its kubeconfig here. */
async function unreachable(host: Host, flags: ConnectionFlags, error: UnreachableServerError): Promise<SummaryError> {
  if (error.code !== 'ECONNREFUSED') {
    return new SummaryError(`Unable to connect to the server: ${certificateProblem(error) ?? error.reason}`)
  }
  const refused = new RefusedConnectionError(error.server)
  const command = await startCommand(host, flags, error.server)
  return command === undefined ? refused : new SummaryError(`${refused.message}\nStart it with \`npx ${command}\`.`)
}

/** Why the certificate of a server is not taken, in the words of Go. */
function certificateProblem({ code, cause }: UnreachableServerError): string | undefined {
  const failed = 'tls: failed to verify certificate: x509:'
  if (untrusted.has(code)) return `${failed} certificate signed by unknown authority`
  if (code !== 'ERR_TLS_CERT_ALTNAME_INVALID') return undefined
  const { host = '', cert } = cause as { readonly host?: string; readonly cert?: { readonly subjectaltname?: string } }
  const names = (cert?.subjectaltname ?? '').split(', ').map((each) => /^([^:]*):(.*)$/.exec(each) ?? [])
  const kind = isIP(host) === 0 ? 'DNS' : 'IP Address'
  const valid = names.flatMap(([, type, name = '']) => (type === kind ? [name] : []))
  return `${failed} certificate is valid for ${valid.join(', ')}, not ${host.replace(/\.$/, '')}`
}

const untrusted = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
])

/** What starts the cluster at an address, where that is one of this directory. */
async function startCommand(host: Host, { kubeconfig, server }: ConnectionFlags, address: string) {
  if (server !== undefined || !/^https:\/\/(127\.|localhost\b|\[::1\])/.test(address)) return undefined
  const place = placesHere(host).find(({ directory }) => readServerRecord(directory)?.url === address)
  if (place !== undefined) return `coracle up${placeFlagText(place)}`
  const { paths } = await kubeconfigFiles(host, kubeconfig)
  return paths.some(isLocalKubeconfig) ? 'coracle up' : undefined
}

/** Prints what the server warns of, each warning once. */
class WarningPrinter {
  readonly #stderr: Host['stderr']
  readonly #told = new Set<string>()

  constructor({ stderr }: Host) {
    this.#stderr = stderr
  }

  print(text: string): void {
    if (this.#told.has(text)) return
    this.#told.add(text)
    this.#stderr.write(`Warning: ${text}\n`)
  }

  /** Throws a CliError where there were some. */
  assertNone(): void {
    const { size } = this.#told
    if (size > 0) throw new CliError(`${size} ${size === 1 ? 'warning' : 'warnings'} received`)
  }
}
