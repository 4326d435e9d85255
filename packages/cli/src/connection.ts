import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { type Connection, connectionOf, loadKubeconfig } from '@coracle/client'
import { parseDuration } from '@coracle/environment'
import { CliError } from './cli-error.ts'
import type { Host } from './host.ts'
import { fileExists, kubeconfigFiles } from './kubeconfig/kubeconfig-files.ts'

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
}

/** The kubeconfig's connection, changed as the flags say. */
export async function connectionFor(host: Host, flags: ConnectionFlags): Promise<Connection> {
  const { paths, isExplicit } = await kubeconfigFiles(host, flags.kubeconfig)
  const { context, cluster, user, server, token } = flags
  // What a person or a variable names has to be there; where nothing is named, there may be no kubeconfig.
  const isNamed = isExplicit || (host.variables.KUBECONFIG ?? '') !== ''
  if (!isNamed && !(await fileExists(paths[0] ?? ''))) {
    if (server === undefined) throw new CliError(noCluster)
    return { server: withScheme(server), namespace: 'default', ...(await connectionFlags(host, flags, '')) }
  }
  const config = await loadKubeconfig(paths)
  const userName = user ?? config.contexts.get(context ?? config.currentContext ?? '')?.user ?? ''
  const connection = await connectionOf(config, {
    clock: host.environment.clock,
    ...(context === undefined ? {} : { context }),
    ...(cluster === undefined ? {} : { cluster }),
    ...(user === undefined ? {} : { user }),
    ...(server === undefined ? {} : { server: withScheme(server) }),
    ...(token === undefined ? {} : { token }),
  })
  return { ...connection, ...(await connectionFlags(host, flags, userName)) }
}

/** What flags say of the connection, and nothing of what they leave to the kubeconfig; `userName` is for messages. */
async function connectionFlags(host: Host, flags: ConnectionFlags, userName: string): Promise<Partial<Connection>> {
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
    ...(flags.username === undefined
      ? {}
      : {
          basic: { username: flags.username, password: flags.password ?? '' },
          ...(token === undefined ? {} : { token }),
        }),
    ...impersonationFlags(flags, userName),
    ...timeLimit(flags.requestTimeout),
    ...(await requestLog(host, flags.v)),
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

/** Whom flags ask to be taken for. */
function impersonationFlags(
  { as: user, asUid: uid, asGroup, asUserExtra = [] }: ConnectionFlags,
  userName: string,
): Partial<Connection> {
  if (user === undefined) {
    if (uid === undefined && asGroup === undefined && asUserExtra.length === 0) return {}
    throw new CliError(`requesting uid, groups or user-extra for ${userName} without impersonating a user`)
  }
  const extra: Record<string, string[]> = {}
  for (const pair of asUserExtra) {
    const [key = '', value] = pair.split('=', 2)
    if (key === '' || value === undefined) throw new CliError(`--as-user-extra ${pair}: write KEY=VALUE`)
    extra[key] = [...(extra[key] ?? []), value]
  }
  return {
    impersonate: {
      user,
      ...(uid === undefined ? {} : { uid }),
      ...(asGroup === undefined ? {} : { groups: asGroup }),
      ...(asUserExtra.length === 0 ? {} : { extra }),
    },
  }
}

/** `--request-timeout` as kubectl reads it: a duration, or seconds; undefined where there is no limit. */
export function requestTimeoutMs(text = '0'): number | undefined {
  const timeoutMs = /^\d+$/.test(text) ? Number(text) * 1000 : parseTimeout(text)
  return timeoutMs === 0 ? undefined : timeoutMs
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
