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

/** An error in the middle of what is printed: `printed` goes to standard output before the message is shown. */
export class PrintError extends CliError {
  override readonly name: string = 'PrintError'
  readonly printed: string

  constructor(message: string, printed: string) {
    super(message)
    this.printed = printed
  }
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

/** What kubeconfig and flags say of a connection does not go together, or names what is not there. */
export class ConfigurationError extends CliError {
  override readonly name = 'ConfigurationError'
}

/** What is wrong with the items of one list of a file: kubectl tells it as one of several errors, even where it is the only one. */
export class ListError extends AggregateError {
  override readonly name = 'ListError'
}
