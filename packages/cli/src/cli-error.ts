/** What a person did wrong or has to know, in one message that says what to do. Shown as `error: …`, exit code 1. */
export class CliError extends Error {
  override readonly name: string = 'CliError'
}

/** The same, about how a command is called: where to read that stands below it. */
export class UsageError extends CliError {
  override readonly name: string = 'UsageError'
}

/** The same, shown without `error:` before it: the summary of what was told while it happened. */
export class SummaryError extends CliError {
  override readonly name: string = 'SummaryError'
}

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

/** An error in the middle of what is printed: `printed` goes to standard output before the message is shown. */
export class PrintError extends CliError {
  override readonly name: string = 'PrintError'
  readonly printed: string

  constructor(message: string, printed: string) {
    super(message)
    this.printed = printed
  }
}

/** The same of an error of a client, as a part of another message; undefined for other errors. */
export function plainRefusedConnection(error: unknown, verb: string, path: string): string | undefined {
  if (!(error instanceof Error) || !('code' in error) || error.code !== 'ECONNREFUSED' || !('server' in error)) {
    return undefined
  }
  return new RefusedConnectionError(`${error.server}${path}`, verb).plain
}

/** Ends a command with exit code 1 where all has been said. */
export class SilentError extends SummaryError {
  constructor() {
    super('')
  }
}

/** Ends a command with an exit code of its own, after `failure` is shown as it would be by itself; without one all has been said. */
export class ExitError extends SilentError {
  readonly code: number
  readonly failure: unknown

  constructor(code: number, failure?: unknown) {
    super()
    this.code = code
    this.failure = failure
  }
}
