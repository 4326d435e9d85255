import type { Clock } from '@coracle/environment'

/** Headers as a log shows them. */
export type ShownHeaders = Readonly<Record<string, string | readonly string[] | undefined>>

/** What is told of a request while it is carried out. Credentials in headers are masked; bodies are shown as they are. */
export type ExchangeEvent =
  | {
      readonly type: 'request'
      readonly method: string
      readonly url: string
      readonly headers: ShownHeaders
      readonly body: string | undefined
    }
  | {
      readonly type: 'response'
      readonly method: string
      readonly url: string
      /** Undefined where there was none. */
      readonly code: number | undefined
      readonly headers: ShownHeaders
      /** From the request to the first of the answer. */
      readonly durationMs: number
    }
  /** The whole answer to a request that waits for it. */
  | { readonly type: 'body'; readonly text: string }

/** To be told how a request was answered; without a code where it was not. */
type Trace = (code: number | undefined, headers: ShownHeaders) => void

/** Tells of a request, and returns what is to be told how it was answered; undefined where nobody listens. */
export function traceExchange(
  onExchange: ((event: ExchangeEvent) => void) | undefined,
  clock: Clock,
  request: Omit<Extract<ExchangeEvent, { type: 'request' }>, 'type'>,
): Trace | undefined {
  if (onExchange === undefined) return undefined
  const { method, url, headers } = request
  const startMs = clock.monotonicMs()
  onExchange({ type: 'request', ...request, headers: maskCredentials(headers) })
  return (code, answered) =>
    onExchange({ type: 'response', method, url, code, headers: answered, durationMs: clock.monotonicMs() - startMs })
}

/** Headers without what would let a reader act as the sender. */
function maskCredentials(headers: ShownHeaders): ShownHeaders {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      name.toLowerCase() === 'authorization' ? maskedAuthorization(String(value)) : value,
    ]),
  )
}

/** The scheme says how one is known; the rest is secret. */
function maskedAuthorization(value: string): string {
  const [scheme = ''] = value.split(' ', 1)
  return value === '' ? '' : `${/^(basic|bearer|negotiate)$/i.test(scheme) ? `${scheme} ` : ''}<masked>`
}
