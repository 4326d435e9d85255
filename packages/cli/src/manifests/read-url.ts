import { realClock } from '@coracle/environment'
import { CliError } from '../cli-error.ts'

/** How often a URL is asked for whose server cannot be had, or has failed; as by kubectl. */
const attemptsMax = 3
const pauseMs = 1_000

/** What is at a URL, up to so many bytes. Rejects with a CliError, in kubectl's words, where that cannot be had. */
export async function readUrl(url: string, bytesMax: number, tooLarge: () => CliError): Promise<string> {
  const response = await fetchAgain(url)
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length
    if (bytes > bytesMax) throw tooLarge()
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

async function fetchAgain(url: string): Promise<Response> {
  for (let attempt = 1; ; attempt++) {
    const answer = await fetch(url).catch((error: unknown) => refusal(url, error))
    if (answer instanceof Response && answer.status === 200) return answer
    const mayPass = answer instanceof Error || answer.status >= 500
    if (!mayPass || attempt === attemptsMax) throw answer instanceof Error ? answer : statusRefusal(url, answer)
    if (answer instanceof Response) await answer.body?.cancel()
    // Other servers live in the host's time, whatever clock a command goes by.
    await new Promise<void>((resolve) => realClock.setTimer(pauseMs, resolve, { keepsProcess: true }))
  }
}

function statusRefusal(url: string, { status, statusText }: Response): CliError {
  return new CliError(`unable to read URL "${url}", server reported ${status} ${statusText}, status code=${status}`)
}

async function refusal(url: string, error: unknown): Promise<Error> {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  if (cause instanceof Error && 'code' in cause && cause.code === 'ECONNREFUSED') {
    const { RefusedConnectionError } = await import('../refused-connection.ts')
    return new RefusedConnectionError(url)
  }
  return new CliError(`unable to read URL "${url}": ${cause instanceof Error ? cause.message : cause}`)
}
