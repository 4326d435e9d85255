import { readFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { delimiter, dirname, join, resolve } from 'node:path'
import type { Clock } from '@coracle/environment'
import type { TransportOptions } from './http-transport.ts'

/** What a kubeconfig file says, as far as it matters for a connection. Paths in it are absolute. */
export interface Kubeconfig {
  readonly currentContext: string | undefined
  readonly contexts: ReadonlyMap<string, KubeconfigContext>
  readonly clusters: ReadonlyMap<string, Fields>
  readonly users: ReadonlyMap<string, Fields>
}

export interface KubeconfigContext {
  readonly cluster: string
  readonly user: string
  readonly namespace: string | undefined
}

type Fields = Readonly<Record<string, unknown>>

/** How to reach a cluster, and as whom. Options of `createHttpClient`. */
export interface Connection extends TransportOptions {
  /** Namespace of requests that name none. */
  readonly namespace: string
}

/** A token file is read again after this long: tokens in files are renewed (client-go's rule). */
const tokenFileFreshMs = 60_000

/**
 * Reads the kubeconfig files named: by default those of `KUBECONFIG`, or else `~/.kube/config`. As with kubectl the
 * first file that says something wins. Rejects with an Error that names the file where one cannot be read or parsed.
 */
export async function loadKubeconfig(paths: readonly string[] = defaultPaths()): Promise<Kubeconfig> {
  const files = await Promise.all(paths.map(readKubeconfig))
  return {
    currentContext: files.find((file) => file.currentContext !== undefined)?.currentContext,
    contexts: merge(files.map((file) => file.contexts)),
    clusters: merge(files.map((file) => file.clusters)),
    users: merge(files.map((file) => file.users)),
  }
}

/** Parses the text of a kubeconfig. `path` is where it stands, for messages and for relative paths in it. */
export async function parseKubeconfig(text: string, path: string): Promise<Kubeconfig> {
  const { parse } = await import('yaml')
  let document: unknown
  try {
    document = parse(text)
  } catch (cause) {
    throw new Error(`${path} is no YAML: ${cause instanceof Error ? cause.message : cause}`, { cause })
  }
  if (!isFields(document)) throw new Error(`${path} is no kubeconfig: it holds no mapping`)
  const current = document['current-context']
  return {
    currentContext: typeof current === 'string' && current !== '' ? current : undefined,
    contexts: new Map([...entries(document, 'context', path)].map(([name, fields]) => [name, contextOf(fields)])),
    clusters: withAbsolutePaths(entries(document, 'cluster', path), dirname(path)),
    users: withAbsolutePaths(entries(document, 'user', path), dirname(path)),
  }
}

/** Which parts of a kubeconfig make a connection. */
export interface ConnectionChoice {
  /** The current one by default. */
  readonly context?: string
  /** The context's by default. */
  readonly cluster?: string
  readonly user?: string
  readonly clock: Clock
}

/**
 * The connection a context stands for: the current one, or the one named, with the cluster and the user named in place
 * of its own. Reads the certificate files it mentions. Rejects with an Error that says which part is missing or cannot
 * be used.
 */
export async function connectionOf(config: Kubeconfig, choice: ConnectionChoice): Promise<Connection> {
  const context = contextFor(config, choice)
  const [clusterName, userName] = [choice.cluster ?? context.cluster, choice.user ?? context.user]
  const cluster = config.clusters.get(clusterName)
  if (cluster === undefined) throw missing(context, 'cluster', choice)
  const user = userName === '' ? {} : config.users.get(userName)
  if (user === undefined) throw missing(context, 'user', choice)
  return {
    ...(await serverOf(cluster, clusterName)),
    ...(await credentialsOf(user, userName, choice.clock)),
    namespace: context.namespace ?? 'default',
  }
}

function missing(context: NamedContext, part: 'cluster' | 'user', choice: ConnectionChoice): Error {
  const chosen = choice[part]
  if (chosen !== undefined) return new Error(`the kubeconfig has no ${part} "${chosen}"`)
  return new Error(`context "${context.name}" names ${part} "${context[part]}", which the kubeconfig lacks`)
}

interface NamedContext extends KubeconfigContext {
  readonly name: string
}

/** The context chosen. None is needed where the cluster is. */
function contextFor(config: Kubeconfig, { context: wanted, cluster }: ConnectionChoice): NamedContext {
  const name = wanted ?? config.currentContext
  if (name === undefined) {
    if (cluster === undefined) throw new Error('the kubeconfig has no current-context, and no context is named')
    return { name: '', cluster, user: '', namespace: undefined }
  }
  const context = config.contexts.get(name)
  if (context === undefined)
    throw new Error(`the kubeconfig has no context "${name}"; it has ${listNames(config.contexts)}`)
  return { ...context, name }
}

const serviceAccountDirectory = '/var/run/secrets/kubernetes.io/serviceaccount'

/** The connection of a program in a pod, as its service account. Rejects with an Error where it is in none. */
export async function inClusterConnection(
  clock: Clock,
  directory: string = serviceAccountDirectory,
): Promise<Connection> {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = process.env
  if (host === undefined || port === undefined) {
    throw new Error('this is no pod of a cluster: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set')
  }
  const [ca, namespace] = await Promise.all(['ca.crt', 'namespace'].map((file) => readText(join(directory, file))))
  return {
    server: `https://${host.includes(':') ? `[${host}]` : host}:${port}`,
    ca: ca ?? '',
    token: tokenFile(join(directory, 'token'), clock),
    namespace: (namespace ?? '').trim(),
  }
}

function defaultPaths(): readonly string[] {
  const named = (process.env.KUBECONFIG ?? '').split(delimiter).filter((path) => path !== '')
  return named.length > 0 ? named : [join(homedir(), '.kube', 'config')]
}

async function readKubeconfig(path: string): Promise<Kubeconfig> {
  return parseKubeconfig(await readText(path), resolve(path))
}

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (cause) {
    throw new Error(`cannot read ${path}: ${cause instanceof Error ? cause.message : cause}`, { cause })
  }
}

/** The named members of `contexts`, `clusters` or `users`. */
function entries(document: Fields, part: 'context' | 'cluster' | 'user', path: string): Map<string, Fields> {
  const list = document[`${part}s`] ?? []
  if (!Array.isArray(list)) throw new Error(`${path}: ${part}s is no list`)
  const named = new Map<string, Fields>()
  for (const entry of list) {
    if (!isFields(entry) || typeof entry.name !== 'string') throw new Error(`${path}: an entry of ${part}s has no name`)
    const fields = entry[part]
    if (!named.has(entry.name)) named.set(entry.name, isFields(fields) ? fields : {})
  }
  return named
}

const contextOf = (fields: Fields): KubeconfigContext => ({
  cluster: textOf(fields, 'cluster') ?? '',
  user: textOf(fields, 'user') ?? '',
  namespace: textOf(fields, 'namespace'),
})

const pathFields = ['certificate-authority', 'client-certificate', 'client-key', 'tokenFile']

function withAbsolutePaths(named: ReadonlyMap<string, Fields>, directory: string): ReadonlyMap<string, Fields> {
  const absolute = (fields: Fields): Fields => {
    const paths = pathFields.flatMap((name) => {
      const path = textOf(fields, name)
      return path === undefined ? [] : [[name, resolve(directory, path)] as const]
    })
    return { ...fields, ...Object.fromEntries(paths) }
  }
  return new Map([...named].map(([name, fields]) => [name, absolute(fields)]))
}

async function serverOf(cluster: Fields, name: string): Promise<TransportOptions> {
  const server = textOf(cluster, 'server')
  if (server === undefined) throw new Error(`cluster "${name}" of the kubeconfig has no server`)
  if (textOf(cluster, 'proxy-url') !== undefined)
    throw new Error(`cluster "${name}" asks for a proxy (proxy-url); connect without one`)
  const ca = await pemOf(cluster, 'certificate-authority')
  const serverName = textOf(cluster, 'tls-server-name')
  return {
    server,
    ...(ca === undefined ? {} : { ca }),
    ...(serverName === undefined ? {} : { serverName }),
    ...(cluster['insecure-skip-tls-verify'] === true ? { insecureSkipTlsVerify: true } : {}),
  }
}

async function credentialsOf(user: Fields, name: string, clock: Clock): Promise<Omit<TransportOptions, 'server'>> {
  for (const plugin of ['exec', 'auth-provider']) {
    if (user[plugin] === undefined) continue
    throw new Error(
      `user "${name}" gets its credentials from a plugin (${plugin}); give it a token, a tokenFile or a client certificate`,
    )
  }
  const cert = await pemOf(user, 'client-certificate')
  const key = await pemOf(user, 'client-key')
  if (cert !== undefined && key === undefined)
    throw new Error(`user "${name}" has a client-certificate but no client-key`)
  if (key !== undefined && cert === undefined)
    throw new Error(`user "${name}" has a client-key but no client-certificate`)
  const file = textOf(user, 'tokenFile')
  // As in client-go the file comes before the token itself.
  const token = file === undefined ? textOf(user, 'token') : tokenFile(file, clock)
  return {
    ...(cert === undefined || key === undefined ? {} : { cert, key }),
    ...(token === undefined ? {} : { token }),
  }
}

/** PEM text under `name-data` (base64) or in the file under `name`. Embedded data comes first. */
async function pemOf(fields: Fields, name: string): Promise<string | undefined> {
  const data = textOf(fields, `${name}-data`)
  if (data !== undefined) return Buffer.from(data, 'base64').toString('utf8')
  const path = textOf(fields, name)
  return path === undefined ? undefined : readText(path)
}

/** Gives the token in a file, read anew when it is older than a minute. */
function tokenFile(path: string, clock: Clock): () => Promise<string> {
  let token = ''
  let readMs = Number.NEGATIVE_INFINITY
  return async () => {
    if (clock.monotonicMs() - readMs >= tokenFileFreshMs) {
      token = (await readText(path)).trim()
      readMs = clock.monotonicMs()
    }
    return token
  }
}

function merge<T>(maps: readonly ReadonlyMap<string, T>[]): ReadonlyMap<string, T> {
  return new Map([...maps].reverse().flatMap((map) => [...map]))
}

function textOf(fields: Fields, name: string): string | undefined {
  const value = fields[name]
  return typeof value === 'string' && value !== '' ? value : undefined
}

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const listNames = (named: ReadonlyMap<string, unknown>): string =>
  [...named.keys()].map((name) => `"${name}"`).join(', ') || 'none'
