import type { EtcdStoreOptions } from '@coracle/store'
import { CliError } from '../cli-error.ts'
import { flagFile } from './flag-file.ts'

export interface EtcdFlags {
  readonly store?: string
  readonly etcdServers?: readonly string[]
  readonly etcdPrefix?: string
  readonly etcdCafile?: string
  readonly etcdCertfile?: string
  readonly etcdKeyfile?: string
}

/** An etcd as flags name it; undefined where none does. Throws a CliError for what cannot be. */
export function etcdOf(flags: EtcdFlags, workingDirectory: string): Omit<EtcdStoreOptions, 'environment'> | undefined {
  const { store, etcdServers, etcdPrefix } = flags
  if (store === undefined && etcdServers === undefined) {
    const lone = (['etcdPrefix', 'etcdCafile', 'etcdCertfile', 'etcdKeyfile'] as const).find((name) => flags[name])
    if (lone !== undefined) throw new CliError(`${flagOf(lone)} says how to reach an etcd, but --store names none`)
    return undefined
  }
  if (store !== undefined && etcdServers !== undefined) {
    throw new CliError('--store and --etcd-servers both name an etcd: give one of them')
  }
  const place = store === undefined ? placeOfServers(etcdServers ?? []) : placeOfUrl(store)
  if (place.prefix !== undefined && etcdPrefix !== undefined) {
    throw new CliError('--store and --etcd-prefix both name a prefix: give one of them')
  }
  const { servers, user, isEncrypted } = place
  const prefix = prefixOf(etcdPrefix ?? place.prefix ?? '')
  const tls = tlsOf(flags, workingDirectory, isEncrypted)
  return { servers, prefix, ...(user === undefined ? {} : { user }), ...(tls === undefined ? {} : { tls }) }
}

interface Place {
  readonly servers: readonly string[]
  readonly prefix: string | undefined
  readonly user: EtcdStoreOptions['user']
  readonly isEncrypted: boolean
}

const form = 'etcd://[USER:PASSWORD@]HOST:PORT[,HOST:PORT][/PREFIX]'

/** `etcd://a:2379,b:2379/prefix`, which is no URL to parsers of URLs. */
function placeOfUrl(url: string): Place {
  const found = /^etcd:\/\/(?:(?<name>[^:@/]+):(?<password>[^@/]*)@)?(?<servers>[^@/]+)(?<prefix>\/.*)?$/.exec(url)
  const { name, password = '', servers = '', prefix } = found?.groups ?? {}
  if (found === null) throw new CliError(`--store "${withoutPassword(url)}" is not of the form ${form}`)
  return {
    servers: servers.split(',').map((server) => addressOf(server, '--store')),
    prefix,
    user: name === undefined ? undefined : { name: decoded(name), password: decoded(password) },
    isEncrypted: false,
  }
}

function placeOfServers(urls: readonly string[]): Place {
  const schemes = new Set(urls.map((url) => url.split('://', 1)[0]))
  const [scheme] = schemes
  if (schemes.size > 1 || (scheme !== 'http' && scheme !== 'https')) {
    throw new CliError(`--etcd-servers "${urls.join(',')}" are not all http://HOST:PORT, nor all https://HOST:PORT`)
  }
  const servers = urls.map((url) => addressOf(url.slice(`${scheme}://`.length).replace(/\/$/, ''), '--etcd-servers'))
  return { servers, prefix: undefined, user: undefined, isEncrypted: scheme === 'https' }
}

/** `host:port`, etcd's port 2379 where there is none. */
function addressOf(text: string, flag: string): string {
  const found = /^(?<host>[^:[\]]+|\[[0-9a-fA-F:]+\])(?<port>:\d{1,5})?$/.exec(text)
  if (found === null) throw new CliError(`${flag}: "${text}" is no HOST:PORT`)
  return found.groups?.port === undefined ? `${text}:2379` : text
}

/** Keys begin with a slash: a prefix has one in front and none behind. */
function prefixOf(text: string): string {
  const trimmed = text.replace(/^\/+|\/+$/g, '')
  return trimmed === '' ? '' : `/${trimmed}`
}

function tlsOf(flags: EtcdFlags, workingDirectory: string, isEncrypted: boolean): EtcdStoreOptions['tls'] {
  const { etcdCafile, etcdCertfile, etcdKeyfile } = flags
  if ((etcdCertfile === undefined) !== (etcdKeyfile === undefined)) {
    throw new CliError('--etcd-certfile and --etcd-keyfile go together: give both or none')
  }
  if (!isEncrypted && etcdCafile === undefined && etcdCertfile === undefined) return undefined
  return {
    ca: fileOf(workingDirectory, etcdCafile, '--etcd-cafile'),
    certificate: fileOf(workingDirectory, etcdCertfile, '--etcd-certfile'),
    key: fileOf(workingDirectory, etcdKeyfile, '--etcd-keyfile'),
  }
}

const fileOf = (workingDirectory: string, path: string | undefined, flag: string): Buffer | undefined =>
  path === undefined ? undefined : flagFile(workingDirectory, path, flag)

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** Passwords are not for logs. */
const withoutPassword = (url: string): string => url.replace(/\/\/([^/:@]*):[^/@]*@/, '//$1:…@')

/** `--etcd-prefix` of `etcdPrefix`. */
const flagOf = (name: string): string => `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
