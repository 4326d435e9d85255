import { homedir } from 'node:os'
import { delimiter, dirname, join, resolve } from 'node:path'
import type { Clock } from '@coracle/environment'
import type { Impersonation, TlsParts } from './connection-credentials.ts'
import { type ExecCredential, execCredentials, execPluginOf } from './exec-credentials.ts'
import type { TransportOptions } from './http-transport.ts'
import {
  isFields,
  type KubeconfigDocument,
  type KubeconfigEntry,
  type KubeconfigFields,
  mergeKubeconfigDocuments,
  parseKubeconfigDocument,
  readConfigFile,
  readKubeconfigDocument,
  textOf,
} from './kubeconfig-document.ts'
import type { PluginPolicy } from './plugin-policy.ts'
import { tlsFiles, tlsOf } from './tls-files.ts'

/** What a kubeconfig says, as far as it matters for a connection. Paths in it are absolute. */
export interface Kubeconfig {
  readonly currentContext: string | undefined
  readonly contexts: ReadonlyMap<string, KubeconfigContext>
  readonly clusters: ReadonlyMap<string, KubeconfigEntry>
  readonly users: ReadonlyMap<string, KubeconfigEntry>
}

export interface KubeconfigContext {
  readonly cluster: string
  readonly user: string
  readonly namespace: string | undefined
}

/** How to reach a cluster, and as whom. Options of `createHttpClient`. */
export interface Connection extends TransportOptions {
  /** Namespace of requests that name none. */
  readonly namespace: string
}

/** A token file is read again after this long: tokens in files are renewed (client-go's rule). */
const tokenFileFreshMs = 60_000

/**
 * Reads the kubeconfig files named: by default those of `KUBECONFIG`, or else `~/.kube/config`. As with kubectl the
 * first file that says something wins, and of several not all need to be there. Rejects with an Error that names the file
 * where one cannot be read or parsed.
 */
export async function loadKubeconfig(paths: readonly string[] = defaultPaths()): Promise<Kubeconfig> {
  return connectionParts(mergeKubeconfigDocuments(await readKubeconfigDocuments(paths)))
}

/** Reads those files of several that are there; one has to be. */
export async function readKubeconfigDocuments(paths: readonly string[]): Promise<readonly KubeconfigDocument[]> {
  const results = await Promise.allSettled(paths.map(readKubeconfigDocument))
  const isThere = results.some(({ status }) => status === 'fulfilled')
  return results.flatMap((result) => {
    if (result.status === 'fulfilled') return [result.value]
    if (isThere && isMissingFile(result.reason)) return []
    throw result.reason
  })
}

const isMissingFile = (error: unknown): boolean =>
  error instanceof Error && (error.cause as NodeJS.ErrnoException | undefined)?.code === 'ENOENT'

/** Parses the text of a kubeconfig. `path` is where it stands, for messages and for relative paths in it. */
export async function parseKubeconfig(text: string, path: string): Promise<Kubeconfig> {
  return connectionParts(await parseKubeconfigDocument(text, path))
}

const connectionParts = ({ currentContext, contexts, clusters, users }: KubeconfigDocument): Kubeconfig => ({
  currentContext,
  contexts: new Map([...contexts].map(([name, { fields }]) => [name, contextOf(fields)])),
  clusters: withAbsolutePaths(clusters),
  users: withAbsolutePaths(users),
})

/** Which parts of a kubeconfig make a connection. */
export interface ConnectionChoice {
  /** The current one by default. */
  readonly context?: string
  /** The context's by default. */
  readonly cluster?: string
  readonly user?: string
  /** In place of the cluster's address. With it neither a cluster nor a context is needed. */
  readonly server?: string
  /** In place of the user's token, and of what a plugin would give: that is not run. */
  readonly token?: string
  /** Other credentials than a token are given in place of what a plugin would give: that is not run. */
  readonly withoutPlugin?: boolean
  /** Standard input is read for something else: a plugin can ask nothing there. */
  readonly isInputTaken?: boolean
  /** Which credential plugins may run; all of them unless given. */
  readonly pluginPolicy?: PluginPolicy
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
  const isElsewhere = choice.server !== undefined && clusterName === ''
  const cluster = isElsewhere ? { fields: {} } : config.clusters.get(clusterName)
  if (cluster === undefined) throw missing(context, 'cluster', choice)
  const user = userName === '' ? { fields: {} } : config.users.get(userName)
  if (user === undefined) throw missing(context, 'user', choice)
  const server = await serverOf(cluster.fields, clusterName, choice)
  const { tlsNow, ...credentials } = await credentialsOf(user, userName, cluster.fields, choice)
  const paths = {
    ...pathOf(cluster.fields, 'ca', 'certificate-authority'),
    // What a plugin gives is in no file.
    ...(tlsNow === undefined
      ? { ...pathOf(user.fields, 'cert', 'client-certificate'), ...pathOf(user.fields, 'key', 'client-key') }
      : {}),
  }
  const { cert, key } = credentials
  const parts = { ...partOf('ca', server.ca), ...partOf('cert', cert), ...partOf('key', key) }
  return {
    ...server,
    ...credentials,
    ...tlsOf(tlsFiles(paths, parts, choice.clock), tlsNow),
    namespace: context.namespace ?? 'default',
  }
}

const partOf = (part: keyof TlsParts, pem: string | undefined): TlsParts => (pem === undefined ? {} : { [part]: pem })

/** The file that something is read from; embedded data comes first. */
const pathOf = (fields: KubeconfigFields, part: keyof TlsParts, name: string): TlsParts =>
  textOf(fields, `${name}-data`) === undefined ? partOf(part, textOf(fields, name)) : {}

/** What is chosen by name is not in the kubeconfig. */
export class UnknownChoiceError extends Error {
  override readonly name = 'UnknownChoiceError'
  readonly part: 'context' | 'cluster' | 'user'
  /** The name that was chosen. */
  readonly choice: string

  constructor(part: 'context' | 'cluster' | 'user', choice: string, message: string) {
    super(message)
    this.part = part
    this.choice = choice
  }
}

/** Of what is chosen by name, kubectl's words. */
function missing(context: NamedContext, part: 'cluster' | 'user', choice: ConnectionChoice): Error {
  const chosen = choice[part]
  if (chosen !== undefined) {
    const message =
      part === 'cluster' ? `no server found for cluster "${chosen}"` : `auth info "${chosen}" does not exist`
    return new UnknownChoiceError(part, chosen, message)
  }
  return new Error(`context "${context.name}" names ${part} "${context[part]}", which the kubeconfig lacks`)
}

interface NamedContext extends KubeconfigContext {
  readonly name: string
}

/** The context chosen. None is needed where the cluster or its address is. */
function contextFor(config: Kubeconfig, { context: wanted, cluster, server }: ConnectionChoice): NamedContext {
  const name = wanted ?? config.currentContext
  if (name === undefined) {
    if (cluster === undefined && server === undefined) {
      throw new Error('the kubeconfig has no current-context, and no context is named')
    }
    return { name: '', cluster: cluster ?? '', user: '', namespace: undefined }
  }
  const context = config.contexts.get(name)
  if (context === undefined)
    throw new UnknownChoiceError(
      'context',
      name,
      `context was not found for specified context: ${name}; the kubeconfig has ${listNames(config.contexts)}`,
    )
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
  const caPath = join(directory, 'ca.crt')
  const [ca = '', namespace] = await Promise.all(
    [caPath, join(directory, 'namespace')].map((path) => readConfigFile(path)),
  )
  return {
    server: `https://${host.includes(':') ? `[${host}]` : host}:${port}`,
    ca,
    ...tlsOf(tlsFiles({ ca: caPath }, { ca }, clock)),
    ...tokenFile(join(directory, 'token'), clock),
    namespace: (namespace ?? '').trim(),
  }
}

function defaultPaths(): readonly string[] {
  const named = (process.env.KUBECONFIG ?? '').split(delimiter).filter((path) => path !== '')
  return named.length > 0 ? named : [join(homedir(), '.kube', 'config')]
}

const contextOf = (fields: KubeconfigFields): KubeconfigContext => ({
  cluster: textOf(fields, 'cluster') ?? '',
  user: textOf(fields, 'user') ?? '',
  namespace: textOf(fields, 'namespace'),
})

const pathFields = ['certificate-authority', 'client-certificate', 'client-key', 'tokenFile']

function withAbsolutePaths(named: ReadonlyMap<string, KubeconfigEntry>): ReadonlyMap<string, KubeconfigEntry> {
  return new Map([...named].map(([name, entry]) => [name, { ...entry, fields: withAbsoluteFields(entry) }]))
}

function withAbsoluteFields({ fields, path = '' }: KubeconfigEntry): KubeconfigFields {
  const absolute = pathFields.flatMap((name) => {
    const value = textOf(fields, name)
    return value === undefined ? [] : [[name, resolve(dirname(path), value)] as const]
  })
  return { ...fields, ...Object.fromEntries(absolute) }
}

async function serverOf(cluster: KubeconfigFields, name: string, choice: ConnectionChoice): Promise<TransportOptions> {
  const server = choice.server ?? textOf(cluster, 'server')
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

async function credentialsOf(
  { fields: user, path = '' }: KubeconfigEntry,
  name: string,
  cluster: KubeconfigFields,
  { clock, token: given, withoutPlugin = false, isInputTaken = false, pluginPolicy }: ConnectionChoice,
): Promise<Omit<TransportOptions, 'server'>> {
  if (user['auth-provider'] !== undefined) {
    throw new Error(
      `user "${name}" gets its credentials from an auth-provider, which client-go has given up; use an exec plugin`,
    )
  }
  const impersonate = impersonationOf(user)
  const shared = impersonate === undefined ? {} : { impersonate }
  const cert = await pemOf(user, 'client-certificate')
  const key = await pemOf(user, 'client-key')
  if (cert !== undefined && key === undefined)
    throw new Error(`user "${name}" has a client-certificate but no client-key`)
  if (key !== undefined && cert === undefined)
    throw new Error(`user "${name}" has a client-key but no client-certificate`)
  const pair = cert === undefined || key === undefined ? {} : { cert, key }
  const file = textOf(user, 'tokenFile')
  // As in client-go the file comes before the token itself.
  if (given === undefined && file !== undefined) return { ...shared, ...pair, ...tokenFile(file, clock) }
  const token = given ?? textOf(user, 'token')
  if (token !== undefined) return { ...shared, ...pair, token }
  const username = textOf(user, 'username')
  if (username !== undefined) {
    return { ...shared, ...pair, basic: { username, password: textOf(user, 'password') ?? '' } }
  }
  if (!isFields(user.exec)) return { ...shared, ...pair }
  const plugin = execPluginOf(user.exec, name, await toldCluster(user.exec, cluster), {
    kubeconfigPath: path,
    isInputTaken,
  })
  // As in client-go a plugin is for who has nothing else.
  if (withoutPlugin || cert !== undefined) return { ...shared, ...pair }
  if (pluginPolicy !== undefined) (await import('./plugin-policy.ts')).checkPlugin(plugin.command, pluginPolicy)
  const credentials = execCredentials(plugin, clock)
  const first = await credentials.present()
  return {
    ...shared,
    ...(first.cert === undefined || first.key === undefined
      ? {}
      : { ...pairOf(first), tlsNow: async () => pairOf(await credentials.present()) }),
    ...(first.token === undefined
      ? {}
      : { token: async () => (await credentials.present()).token ?? '', onUnauthorized: credentials.refuse }),
  }
}

const pairOf = ({ cert, key }: ExecCredential): TlsParts =>
  cert === undefined || key === undefined ? {} : { cert, key }

/** The cluster as a plugin is told of it, where it wants to be: the authority itself, and not the file that it is in. */
async function toldCluster(exec: KubeconfigFields, cluster: KubeconfigFields): Promise<KubeconfigFields> {
  const ca = exec.provideClusterInfo === true ? await pemOf(cluster, 'certificate-authority') : undefined
  return ca === undefined ? cluster : { ...cluster, 'certificate-authority-data': Buffer.from(ca).toString('base64') }
}

/** Whom a user of a kubeconfig wants to be taken for. */
function impersonationOf(user: KubeconfigFields): Impersonation | undefined {
  const name = textOf(user, 'as')
  if (name === undefined) return undefined
  const uid = textOf(user, 'as-uid')
  const groups = user['as-groups']
  const extra = user['as-user-extra']
  return {
    user: name,
    ...(uid === undefined ? {} : { uid }),
    ...(Array.isArray(groups) ? { groups: groups.map(String) } : {}),
    ...(isFields(extra) ? { extra: extra as NonNullable<Impersonation['extra']> } : {}),
  }
}

/** PEM text under `name-data` (base64) or in the file under `name`. Embedded data comes first. */
async function pemOf(fields: KubeconfigFields, name: string): Promise<string | undefined> {
  const data = textOf(fields, `${name}-data`)
  if (data !== undefined) return Buffer.from(data, 'base64').toString('utf8')
  const path = textOf(fields, name)
  return path === undefined ? undefined : readConfigFile(path)
}

/**
 * Gives the token in a file, read anew when it is older than a minute or was not taken. Where there is none, as while another
 * program writes it, the one before goes on.
 */
function tokenFile(path: string, clock: Clock): Pick<TransportOptions, 'token' | 'onUnauthorized'> {
  let present = ''
  let readMs = Number.NEGATIVE_INFINITY
  return {
    async token() {
      if (clock.monotonicMs() - readMs < tokenFileFreshMs) return present
      try {
        const found = (await readConfigFile(path)).trim()
        if (found === '') throw new Error(`read empty token from file ${JSON.stringify(path)}`)
        present = found
        readMs = clock.monotonicMs()
      } catch (error) {
        if (present === '') throw error
      }
      return present
    },
    onUnauthorized(token) {
      if (token === present) readMs = Number.NEGATIVE_INFINITY
    },
  }
}

const listNames = (named: ReadonlyMap<string, unknown>): string =>
  [...named.keys()].map((name) => `"${name}"`).join(', ') || 'none'
