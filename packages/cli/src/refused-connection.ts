import { SummaryError } from './cli-error.ts'

/** Nothing listens at a URL, in kubectl's words. */
export class RefusedConnectionError extends SummaryError {
  override readonly name = 'RefusedConnectionError'
  /** The same as a part of another message, in the words of Go. */
  readonly plain: string

  constructor(url: string, verb = 'Get') {
    const { host, hostname, port, protocol } = new URL(url)
    super(`The connection to the server ${host} was refused - did you specify the right host or port?`)
    const address = `${hostname}:${port || (protocol === 'http:' ? 80 : 443)}`
    this.plain = `${verb} ${JSON.stringify(url)}: dial tcp ${address}: connect: connection refused`
  }
}

/** The same of an error of a client, as a part of another message; undefined for other errors. */
export function plainRefusedConnection(error: unknown, verb: string, path: string): string | undefined {
  if (!(error instanceof Error) || !('code' in error) || error.code !== 'ECONNREFUSED' || !('server' in error)) {
    return undefined
  }
  return new RefusedConnectionError(`${error.server}${path}`, verb).plain
}
