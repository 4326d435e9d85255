import { stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
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

/** The port that is served on unless one is named. */
export const proxyPortDefault = 8001

/** `coracle proxy`: serves the API here, with one's own rights, until it is interrupted */
export async function proxy(host: Host, flags: ProxyFlags): Promise<void> {
  const unixSocket = flags.unixSocket === '' ? undefined : flags.unixSocket
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
  if (flags.disableFilter && unixSocket === undefined) {
    host.stderr.write('Request filter disabled, your proxy is vulnerable to XSRF attacks, please be cautious\n')
  }
  const files =
    flags.www === undefined
      ? undefined
      : { directory: resolve(host.workingDirectory, flags.www), prefix: slashed(flags.wwwPrefix) }
  if (unixSocket !== undefined && flags.port !== proxyPortDefault) {
    throw new CliError('cannot set --unix-socket and --port at the same time')
  }
  const address: ProxyAddress =
    unixSocket === undefined
      ? { host: flags.address, port: flags.port }
      : { path: resolve(host.workingDirectory, unixSocket) }
  const options = {
    connection,
    appendServerPath: flags.appendServerPath === true,
    keepAliveMs: parseDuration(flags.keepalive),
    apiPrefix: slashed(flags.apiPrefix),
    filter,
    ...(files === undefined ? {} : { files }),
  }
  const server = await startProxy(options, address).catch(async (error: unknown) => {
    throw new CliError(await listenFailure(error, address, unixSocket))
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

/** Why one cannot listen at an address, in the words of Go; a socket is named as it was given. */
async function listenFailure(error: unknown, address: ProxyAddress, unixSocket: string | undefined): Promise<string> {
  const { code, message } = error as NodeJS.ErrnoException
  if ('path' in address) {
    // Node calls it a lack of permission where there is no such directory.
    const hasDirectory = await stat(dirname(address.path)).then(
      (found) => found.isDirectory(),
      () => false,
    )
    return `listen unix ${unixSocket}: bind: ${hasDirectory ? (reasons[code ?? ''] ?? message) : 'no such file or directory'}`
  }
  if (code === 'ERR_SOCKET_BAD_PORT') return `listen tcp: address ${address.port}: invalid port`
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return `listen tcp: lookup ${address.host}: no such host`
  return `listen tcp ${address.host}:${address.port}: bind: ${reasons[code ?? ''] ?? message}`
}

const reasons: Readonly<Record<string, string>> = {
  EADDRINUSE: 'address already in use',
  EACCES: 'permission denied',
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
