import { resolve } from 'node:path'
import { parseDuration } from '@coracle/environment'
import { CliError } from '../cli-error.ts'
import { type ConnectionFlags, connectionFor } from '../connection.ts'
import type { Host } from '../host.ts'
import { type ProxyAddress, startProxy } from '../proxy/proxy-server.ts'

export interface ProxyFlags extends ConnectionFlags {
  readonly address: string
  readonly port: number
  readonly unixSocket?: string
  readonly apiPrefix: string
  readonly www?: string
  readonly wwwPrefix: string
  readonly acceptHosts: string
  readonly acceptPaths: string
  readonly rejectPaths: string
  readonly rejectMethods: string
  readonly disableFilter?: boolean
  readonly appendServerPath?: boolean
  /** A duration; 0s: connections are not probed. */
  readonly keepalive: string
}

/** `coracle proxy`: serves the API here, with one's own rights, until it is interrupted */
export async function proxy(host: Host, flags: ProxyFlags): Promise<void> {
  const connection = await connectionFor(host, flags)
  const everything = [/^/]
  const filter = flags.disableFilter
    ? { acceptHosts: everything, acceptPaths: everything, rejectPaths: [], rejectMethods: [] }
    : {
        acceptHosts: patterns(flags.acceptHosts, '--accept-hosts'),
        acceptPaths: patterns(flags.acceptPaths, '--accept-paths'),
        rejectPaths: patterns(flags.rejectPaths, '--reject-paths'),
        rejectMethods: patterns(flags.rejectMethods, '--reject-methods'),
      }
  if (flags.disableFilter && flags.unixSocket === undefined) {
    host.stderr.write('Request filter disabled, your proxy is vulnerable to XSRF attacks, please be cautious\n')
  }
  const files =
    flags.www === undefined
      ? undefined
      : { directory: resolve(host.workingDirectory, flags.www), prefix: slashed(flags.wwwPrefix) }
  const address: ProxyAddress =
    flags.unixSocket === undefined
      ? { host: flags.address, port: flags.port }
      : { path: resolve(host.workingDirectory, flags.unixSocket) }
  const options = {
    connection,
    appendServerPath: flags.appendServerPath === true,
    keepAliveMs: parseDuration(flags.keepalive),
    apiPrefix: slashed(flags.apiPrefix),
    filter,
    ...(files === undefined ? {} : { files }),
  }
  const server = await startProxy(options, address).catch((error: unknown) => {
    throw new CliError(listenFailure(error, address))
  })
  host.stdout.write(`Starting to serve on ${server.address}\n`)
  await new Promise<void>((stop) => {
    const undo = host.onInterrupt(() => {
      undo()
      stop()
    })
  })
  await server.close()
}

/** Why one cannot listen at an address, in the words of Go. */
function listenFailure(error: unknown, address: ProxyAddress): string {
  const { code, message } = error as NodeJS.ErrnoException
  if ('path' in address) {
    return `listen unix ${address.path}: bind: ${code === 'EADDRINUSE' ? 'address already in use' : message}`
  }
  if (code === 'ERR_SOCKET_BAD_PORT') return `listen tcp: address ${address.port}: invalid port`
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return `listen tcp: lookup ${address.host}: no such host`
  const reason = { EADDRINUSE: 'address already in use', EACCES: 'permission denied' }[code ?? ''] ?? message
  return `listen tcp ${address.host}:${address.port}: bind: ${reason}`
}

/** Regular expressions that commas part; a comma that belongs to one is written as `\x2c`. */
function patterns(text: string, flag: string): readonly RegExp[] {
  return text.split(',').map((each) => {
    try {
      return new RegExp(each)
    } catch {
      throw new CliError(`${flag}: ${JSON.stringify(each)} is no regular expression`)
    }
  })
}

/** `static` is `/static/`. */
const slashed = (prefix: string): string => `/${prefix.replace(/^\/+|\/+$/g, '')}/`.replace('//', '/')
