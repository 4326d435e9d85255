import { access, readFile } from 'node:fs/promises'
import { basename, delimiter, dirname, join, resolve } from 'node:path'
import { type Connection, connectionOf, createHttpClient, type HttpClient, loadKubeconfig } from '@coracle/client'
import { CliError } from './cli-error.ts'
import type { Host } from './host.ts'
import { ResourceCatalog } from './resources/resource-catalog.ts'

/** Flags every command has that talks to a server. */
export interface ConnectionFlags {
  readonly kubeconfig?: string
  readonly context?: string
  readonly cluster?: string
  readonly user?: string
  /** Address of the server. With it no kubeconfig is needed. */
  readonly server?: string
  readonly token?: string
  /** Files of PEM. */
  readonly certificateAuthority?: string
  readonly clientCertificate?: string
  readonly clientKey?: string
  readonly tlsServerName?: string
  readonly insecureSkipTlsVerify?: boolean
  readonly namespace?: string
}

/** A server that a command talks to. */
export interface Session {
  readonly client: HttpClient
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
  const { environment } = host
  const { namespace, ...connection } = await connectionFor(host, flags)
  const client = createHttpClient({ ...environment, ...connection, onWarning: warningPrinter(host) })
  let catalog: Promise<ResourceCatalog> | undefined
  try {
    return await action({
      client,
      namespace: flags.namespace ?? namespace,
      givenNamespace: flags.namespace,
      catalog() {
        catalog ??= client.discover().then((resources) => new ResourceCatalog(resources))
        return catalog
      },
    })
  } catch (error) {
    throw isRefusedConnection(error) && (await isLocalCluster(host, flags, connection.server))
      ? notRunning(error)
      : error
  } finally {
    await client.close()
  }
}

/** The cluster that `coracle up` has started here has ended, and left its kubeconfig. */
function notRunning({ message }: Error): CliError {
  return new CliError(message.replace('is the server running?', 'start it with `npx coracle up`'))
}

const isRefusedConnection = (error: unknown): error is Error =>
  error instanceof Error && error.message.includes('ECONNREFUSED')

async function isLocalCluster(host: Host, { kubeconfig, server }: ConnectionFlags, address: string): Promise<boolean> {
  if (server !== undefined || !/^https:\/\/(127\.|localhost\b|\[::1\])/.test(address)) return false
  const paths = await kubeconfigPaths(host, kubeconfig)
  return paths.some((path) => basename(dirname(path)) === defaultDataDirectory)
}

/** Prints what the server warns of, each warning once. */
function warningPrinter({ stderr }: Host): (text: string) => void {
  const told = new Set<string>()
  return (text) => {
    if (told.has(text)) return
    told.add(text)
    stderr.write(`Warning: ${text}\n`)
  }
}

/** The kubeconfig's connection, changed as the flags say. */
async function connectionFor(host: Host, flags: ConnectionFlags): Promise<Connection> {
  const paths = await kubeconfigPaths(host, flags.kubeconfig)
  const { context, cluster, user, server } = flags
  if (paths.length === 0) {
    if (server === undefined) throw new CliError(noCluster)
    return { server: withScheme(server), namespace: 'default', ...(await connectionFlags(host, flags)) }
  }
  const connection = await connectionOf(await loadKubeconfig(paths), {
    clock: host.environment.clock,
    ...(context === undefined ? {} : { context }),
    ...(cluster === undefined ? {} : { cluster }),
    ...(user === undefined ? {} : { user }),
  })
  return { ...connection, ...(await connectionFlags(host, flags)) }
}

/** What flags say of the connection, and nothing of what they leave to the kubeconfig. */
async function connectionFlags(host: Host, flags: ConnectionFlags): Promise<Partial<Connection>> {
  const { server, token, tlsServerName, insecureSkipTlsVerify } = flags
  const [ca, cert, key] = await Promise.all(
    [flags.certificateAuthority, flags.clientCertificate, flags.clientKey].map((path) => readPem(host, path)),
  )
  return {
    ...(server === undefined ? {} : { server: withScheme(server) }),
    ...(token === undefined ? {} : { token }),
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
    ...(tlsServerName === undefined ? {} : { serverName: tlsServerName }),
    ...(insecureSkipTlsVerify === true ? { insecureSkipTlsVerify } : {}),
  }
}

/** `localhost:6443` is an address of a server that speaks TLS. */
const withScheme = (server: string): string => (server.includes('://') ? server : `https://${server}`)

async function readPem(host: Host, path: string | undefined): Promise<string | undefined> {
  if (path === undefined) return undefined
  return readFile(resolve(host.workingDirectory, path), 'utf8').catch((error: unknown) => {
    throw new CliError(`cannot read ${path}: ${error instanceof Error ? error.message : error}`)
  })
}

const noCluster = 'no cluster is known here: start one with `npx coracle up`, or name a kubeconfig with --kubeconfig'

/** Directory in which `coracle up` keeps everything unless told otherwise. */
export const defaultDataDirectory = '.coracle'

/** The flag, then KUBECONFIG, then the cluster started in this directory or the nearest above it, then kubectl's own; none where there is none. */
async function kubeconfigPaths(host: Host, flag: string | undefined): Promise<readonly string[]> {
  if (flag !== undefined) return [resolve(host.workingDirectory, flag)]
  const named = (host.variables.KUBECONFIG ?? '').split(delimiter).filter((path) => path !== '')
  if (named.length > 0) return named.map((path) => resolve(host.workingDirectory, path))
  const local = await localKubeconfig(host.workingDirectory)
  if (local !== undefined) return [local]
  const own = join(host.homeDirectory, '.kube', 'config')
  if (await exists(own)) return [own]
  return []
}

async function localKubeconfig(directory: string): Promise<string | undefined> {
  const path = join(directory, defaultDataDirectory, 'kubeconfig')
  if (await exists(path)) return path
  return dirname(directory) === directory ? undefined : localKubeconfig(dirname(directory))
}

async function exists(path: string): Promise<boolean> {
  try {
    await access(path)
    return true
  } catch {
    return false
  }
}
