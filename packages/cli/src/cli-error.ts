/** What a person did wrong or has to know, in one message that says what to do. Shown as `error: …`, exit code 1. */
export class CliError extends Error {
  override readonly name = 'CliError'
}
