import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import {
  type Connection,
  connectionOf,
  loadKubeconfig,
  type TlsParts,
  tlsFiles,
  tlsOf,
  UnknownChoiceError,
} from '@coracle/client'
import { parseDuration } from '@coracle/environment'
import { CliError, ConfigurationError, SummaryError } from './cli-error.ts'
import type { Host } from './host.ts'
import { fileExists, kubeconfigFiles } from './kubeconfig/kubeconfig-files.ts'
import { splitOnce } from './split-once.ts'

/** Flags every command has that talks to a server. */
export interface ConnectionFlags {
  readonly kubeconfig?: string
  readonly context?: string
  readonly cluster?: string
  readonly user?: string
  /** Address of the server. With it no kubeconfig is needed. */
  readonly server?: string
  readonly token?: string
  readonly username?: string
  readonly password?: string
  /** Files of PEM. */
  readonly certificateAuthority?: string
  readonly clientCertificate?: string
  readonly clientKey?: string
  readonly tlsServerName?: string
  readonly insecureSkipTlsVerify?: boolean
  readonly namespace?: string
  /** Whom to act as. */
  readonly as?: string
  readonly asUid?: string
  readonly asGroup?: readonly string[]
  readonly asUserExtra?: readonly string[]
  /** A duration, or a number of seconds; 0: none. */
  readonly requestTimeout?: string
  readonly warningsAsErrors?: boolean
  /** Refuse a server of another version. */
  readonly matchServerVersion?: boolean
  /** How much to tell of requests. */
  readonly v?: number
  /** With the command kubectl makes a client before it asks for the namespace of the context: what it says of a context that is none tells. */
  readonly makesClientFirst?: boolean
  /** The command reads standard input beside files: a credential plugin cannot ask there. */
  readonly readsInput?: boolean
}

/** The kubeconfig's connection, changed as the flags say. */
export async function connectionFor(host: Host, flags: ConnectionFlags): Promise<Connection> {
  const connection = await chosenConnection(host, flags)
  return flags.server === undefined || hasScheme(flags.server) ? connection : withoutCredentials(connection)
}

async function chosenConnection(host: Host, flags: ConnectionFlags, withoutPlugin = false): Promise<Connection> {
  const { paths, isExplicit } = await kubeconfigFiles(host, flags.kubeconfig)
  const { context, cluster, user, server, token } = flags
  const isKnown =
    flags.username !== undefined || (flags.clientCertificate !== undefined && flags.clientKey !== undefined)
  // What a person or a variable names has to be there; where nothing is named, there may be no kubeconfig.
  const isNamed = isExplicit || (host.variables.KUBECONFIG ?? '') !== ''
  if (!isNamed && !(await fileExists(paths[0] ?? ''))) {
    if (server === undefined) throw new NoClusterError(noCluster)
    return { server: withScheme(server), namespace: 'default', ...(await connectionFlags(host, flags, noNames)) }
  }
  const config = await loadKubeconfig(paths)
  const chosen = config.contexts.get(context ?? config.currentContext ?? '')
  const names = { user: user ?? chosen?.user ?? '', cluster: cluster ?? chosen?.cluster ?? '' }
  const connection = await connectionOf(config, {
    clock: host.environment.clock,
    ...(host.pluginPolicy === undefined ? {} : { pluginPolicy: host.pluginPolicy }),
    ...(context === undefined ? {} : { context }),
    ...(cluster === undefined ? {} : { cluster }),
    ...(user === undefined ? {} : { user }),
    ...(server === undefined ? {} : { server: withScheme(server) }),
    ...(token === undefined ? {} : { token }),
    withoutPlugin: isKnown || withoutPlugin,
    isInputTaken: flags.readsInput === true || readsInputAsFile(flags),
  }).catch((error: unknown) => {
    throw error instanceof UnknownChoiceError ? unknownChoice(error, flags) : error
  })
  const given = await connectionFlags(host, flags, names).catch((error: unknown) => {
    if (!(error instanceof ConfigurationError) || !readsNamespaceFirst(flags)) throw error
    // Who asks for the namespace is told so, whatever is to be done there.
    throw new SummaryError(`error: ${error.message}`)
  })
  return { ...connection, ...given, ...tlsOf(connection.tlsNow, given.tlsNow) }
}

/** Whether one of the files of a command is standard input. */
const readsInputAsFile = (flags: ConnectionFlags & { readonly filename?: unknown }): boolean =>
  Array.isArray(flags.filename) && flags.filename.includes('-')

/** Whether kubectl asks for the namespace of the context before anything else. */
const readsNamespaceFirst = ({ namespace, makesClientFirst }: ConnectionFlags): boolean =>
  namespace === undefined && makesClientFirst !== true

/**
 * Rejects, as `connectionFor` does, where the kubeconfig and the flags do not go together: for commands that read them and ask no server.
 * There need be none, and its address is not looked at.
 */
export async function checkConnection(host: Host, { server, ...flags }: ConnectionFlags): Promise<void> {
  if (host.connect !== undefined) return
  // One that is named stands in for what a cluster of the kubeconfig may lack.
  const checked = server === undefined ? flags : { ...flags, server: 'https://localhost' }
  await chosenConnection(host, checked, true).catch((error: unknown) => {
    if (!(error instanceof NoClusterError)) throw error
  })
}

/** Nothing says which server is meant. */
class NoClusterError extends CliError {}

/** The context or the cluster that is named is not in the kubeconfig. */
export class NowhereError extends CliError {
  /** What is said of it where the namespace of the context is looked for. */
  readonly ofNamespace: string

  constructor(message: string, ofNamespace: string) {
    super(message)
    this.ofNamespace = ofNamespace
  }
}

/** kubectl's words for what the kubeconfig lacks: others where it reads the namespace of the context first. */
function unknownChoice({ part, choice, message }: UnknownChoiceError, flags: ConnectionFlags): CliError {
  if (part === 'user') return new CliError(message)
  const ofNamespace = part === 'cluster' ? message : `context was not found for specified context: ${choice}`
  if (!readsNamespaceFirst(flags)) return new NowhereError(`${part} "${choice}" does not exist`, ofNamespace)
  return new SummaryError(`${part === 'cluster' ? 'error' : 'Error in configuration'}: ${ofNamespace}`)
}

/** What messages call the user and the cluster. */
interface ConnectionNames {
  readonly user: string
  readonly cluster: string
}

const noNames: ConnectionNames = { user: '', cluster: '' }

/** What flags say of the connection, and nothing of what they leave to the kubeconfig. */
async function connectionFlags(
  host: Host,
  flags: ConnectionFlags,
  names: ConnectionNames,
): Promise<Partial<Connection>> {
  const { server, token, tlsServerName, insecureSkipTlsVerify } = flags
  const ca = await readPem(host, flags.certificateAuthority, 'certificate-authority', names.cluster)
  const cert = await readPem(host, flags.clientCertificate, 'client-cert', names.user)
  const key = await readPem(host, flags.clientKey, 'client-key', names.user)
  const parts = {
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
  }
  return {
    ...(server === undefined ? {} : { server: withScheme(server) }),
    ...(token === undefined ? {} : { token }),
    ...parts,
    ...tlsOf(tlsFiles(pemPaths(host, flags), parts, host.environment.clock)),
    ...(tlsServerName === undefined ? {} : { serverName: tlsServerName }),
    ...(insecureSkipTlsVerify === true ? { insecureSkipTlsVerify } : {}),
    ...(flags.username === undefined
      ? {}
      : {
          basic: { username: flags.username, password: flags.password ?? '' },
          ...(token === undefined ? {} : { token }),
        }),
    ...impersonationFlags(flags, names.user),
    ...timeLimit(flags.requestTimeout),
    ...(await requestLog(host, flags.v)),
  }
}

/** Whether an address says how to talk to the server. */
const hasScheme = (server: string): boolean => /^\w[-+.\w]*:\/\/[^/]/.test(server)

/** `localhost:8080` is, as for kubectl, an address of a server without TLS. Throws a CliError, in kubectl's words, for what has a path and no host. */
function withScheme(server: string): string {
  if (hasScheme(server)) return server
  if (/\/./.test(server)) throw new CliError(`host must be a URL or a host:port pair: ${JSON.stringify(server)}`)
  // Go leaves out a port that is none, and then there is nothing.
  return server === ':' ? 'http://' : `http://${server}`
}

/** A connection to what is no secure server by the words of its address: as with kubectl, nobody's credentials go there. */
function withoutCredentials({ server, namespace, impersonate, timeoutMs, onExchange }: Connection): Connection {
  return {
    server,
    namespace,
    ...(impersonate === undefined ? {} : { impersonate }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(onExchange === undefined ? {} : { onExchange }),
  }
}

/** Why nothing can be sent to an address, in the words of Go; undefined where something can. */
export function addressProblem(server: string): string | undefined {
  const [scheme = '', rest = ''] = server.split('://', 2)
  if (scheme !== 'http' && scheme !== 'https') return `unsupported protocol scheme ${JSON.stringify(scheme)}`
  return /^(:\d*)?(\/|$)/.test(rest) ? 'http: no Host in request URL' : undefined
}

/** What is said of a file that holds no PEM, in the words of Go. */
const noPem = {
  'certificate-authority': 'unable to load root certificates: unable to parse bytes as PEM block',
  'client-cert': 'tls: failed to find any PEM data in certificate input',
  'client-key': 'tls: failed to find any PEM data in key input',
} as const

async function readPem(
  host: Host,
  path: string | undefined,
  what: keyof typeof noPem,
  name: string,
): Promise<string | undefined> {
  if (path === undefined) return undefined
  const text = await readFile(resolve(host.workingDirectory, path), 'utf8').catch((error: NodeJS.ErrnoException) => {
    const reason = error.code === 'ENOENT' ? 'no such file or directory' : error.message
    throw new ConfigurationError(`unable to read ${what} ${path} for ${name} due to open ${path}: ${reason}`)
  })
  if (!text.includes('-----BEGIN ')) throw new CliError(noPem[what])
  return text
}

function pemPaths({ workingDirectory }: Host, flags: ConnectionFlags): TlsParts {
  const given = { ca: flags.certificateAuthority, cert: flags.clientCertificate, key: flags.clientKey }
  const named = Object.entries(given).filter((entry): entry is [string, string] => entry[1] !== undefined)
  return Object.fromEntries(named.map(([part, path]) => [part, resolve(workingDirectory, path)]))
}

const noCluster = 'no cluster is known here: start one with `npx coracle up`, or name a kubeconfig with --kubeconfig'

/** Whom flags ask to be taken for. */
function impersonationFlags(
  { as: user, asUid: uid, asGroup, asUserExtra = [] }: ConnectionFlags,
  userName: string,
): Partial<Connection> {
  // As with kubectl, what is no pair is nothing.
  const pairs = asUserExtra.filter((pair) => pair.includes('='))
  if (user === undefined) {
    if (uid === undefined && asGroup === undefined && pairs.length === 0) return {}
    throw new ConfigurationError(`requesting uid, groups or user-extra for ${userName} without impersonating a user`)
  }
  const extra = new Map<string, readonly string[]>()
  for (const pair of pairs) {
    const [key = '', value = ''] = splitOnce(pair, '=')
    extra.set(key, [...(extra.get(key) ?? []), value])
  }
  return {
    impersonate: {
      user,
      ...(uid === undefined ? {} : { uid }),
      ...(asGroup === undefined ? {} : { groups: asGroup }),
      ...(pairs.length === 0 ? {} : { extra: Object.fromEntries(extra) }),
    },
  }
}

/** `--request-timeout` as kubectl reads it: a duration, or seconds; undefined where there is no limit. */
export function requestTimeoutMs(text = '0'): number | undefined {
  const timeoutMs = /^\d+$/.test(text) ? Number(text) * 1000 : parseTimeout(text)
  return timeoutMs <= 0 ? undefined : timeoutMs
}

function timeLimit(text: string | undefined): Partial<Connection> {
  const timeoutMs = requestTimeoutMs(text)
  return timeoutMs === undefined ? {} : { timeoutMs }
}

function parseTimeout(text: string): number {
  try {
    return parseDuration(text)
  } catch {
    throw new CliError(
      'Invalid timeout value. Timeout must be a single integer in seconds, or an integer followed by a corresponding time unit (e.g. 1s | 2m | 3h)',
    )
  }
}

/** From `-v 6` on requests are logged; what logs them is loaded only then. */
async function requestLog(host: Host, level = 0): Promise<Partial<Connection>> {
  if (level < 6) return {}
  const { logExchanges } = await import('./log-exchanges.ts')
  return { onExchange: logExchanges(host, level) }
}
