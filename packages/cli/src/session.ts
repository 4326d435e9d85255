import { kubernetesVersion } from '@coracle/api'
import {
  createHttpClient,
  type HttpClient,
  type HttpClientOptions,
  isUnreachableServer,
  RequestTimeoutError,
} from '@coracle/client'
import { CliError, SummaryError } from './cli-error.ts'
import { addressProblem, type ConnectionFlags, connectionFor } from './connection.ts'
import type { Host } from './host.ts'
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

/** Connects, runs `action`, and closes the connections again. What is wrong with the connection is told as `tell` has it. */
export function withSession<R>(
  host: Host,
  flags: ConnectionFlags,
  action: (session: Session) => Promise<R>,
  tell: (refusal: unknown) => unknown = (refusal) => refusal,
): Promise<R> {
  return inSession(host, flags, action, tell, new WarningPrinter(host))
}

/** As `withSession`, for what reads all kinds there are: that some of them are going to go is nothing to tell its user. */
export function withSessionOverAll<R>(
  host: Host,
  flags: ConnectionFlags,
  action: (session: Session) => Promise<R>,
): Promise<R> {
  return inSession(host, flags, action, (refusal) => refusal, undefined)
}

async function inSession<R>(
  host: Host,
  flags: ConnectionFlags,
  action: (session: Session) => Promise<R>,
  tell: (refusal: unknown) => unknown,
  warnings: WarningPrinter | undefined,
): Promise<R> {
  const warn = (text: string): void => void warnings?.tell(text)
  if (host.connect !== undefined) {
    const { client, namespace } = await host.connect(flags)
    return action(sessionOf(client, '', namespace, flags, warn))
  }
  const { environment } = host
  const { namespace, ...connection } = await connectionFor(host, flags).catch((refusal: unknown) => {
    throw tell(refusal)
  })
  const client = await clientOf({ ...environment, ...connection, onWarning: (text) => warnings?.print(text) })
  try {
    if (flags.matchServerVersion === true) await assertVersionMatches(client)
    const result = await action(sessionOf(client, connection.server, namespace, flags, warn))
    if (flags.warningsAsErrors === true) warnings?.assertNone()
    return result
  } catch (error) {
    if (error instanceof RequestTimeoutError) throw timedOut
    if (!isUnreachableServer(error)) throw error
    const { unreachable } = await import('./unreachable.ts')
    throw await unreachable(host, flags, error)
  } finally {
    await client.close()
  }
}

async function clientOf(options: HttpClientOptions): Promise<HttpClient> {
  const problem = addressProblem(options.server)
  if (problem === undefined) return createHttpClient(options)
  const { clientOfNobody } = await import('./unreachable.ts')
  return clientOfNobody(options.server, problem)
}

/** Throws a CliError where the server's API is of another version than the one this program is made for. */
async function assertVersionMatches(client: HttpClient): Promise<void> {
  const { gitVersion } = JSON.parse(await client.rawGet('/version')) as { readonly gitVersion?: string }
  if (gitVersion === kubernetesVersion) return
  throw new CliError(`server version (${gitVersion}) differs from client version (${kubernetesVersion})`)
}

function sessionOf(
  client: HttpClient,
  server: string,
  namespace: string,
  flags: ConnectionFlags,
  warn: (text: string) => void,
): Session {
  let catalog: Promise<ResourceCatalog> | undefined
  return {
    client,
    server,
    namespace: flags.namespace ?? namespace,
    givenNamespace: flags.namespace,
    catalog() {
      catalog ??= client.discover().then((resources) => new ResourceCatalog(resources, warn))
      return catalog
    },
  }
}

/** No answer within --request-timeout. */
const timedOut = new SummaryError(
  'Unable to connect to the server: context deadline exceeded (Client.Timeout exceeded while awaiting headers)',
)

/** Prints warnings, each once. */
class WarningPrinter {
  readonly #stderr: Host['stderr']
  readonly #told = new Set<string>()
  #ofServer = 0

  constructor({ stderr }: Host) {
    this.#stderr = stderr
  }

  /** What the server warns of. */
  print(text: string): void {
    if (this.tell(text)) this.#ofServer++
  }

  /** What this program warns of itself: it does not count as a failure. Whether it is new. */
  tell(text: string): boolean {
    if (this.#told.has(text)) return false
    this.#told.add(text)
    this.#stderr.write(`Warning: ${text}\n`)
    return true
  }

  /** Throws a CliError where the server has warned. */
  assertNone(): void {
    const count = this.#ofServer
    if (count > 0) throw new CliError(`${count} ${count === 1 ? 'warning' : 'warnings'} received`)
  }
}
