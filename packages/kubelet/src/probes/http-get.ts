import type { IncomingMessage } from 'node:http'
import type { Container, HttpGetAction } from '@coracle/api'
import type { HandlerResult } from './handlers.ts'
import { connectFailure, HandlerTargetError, portOf, withPort } from './ports.ts'

/** How far a check is sent on: Go's limit, which upstream's checks have. */
const redirectsMax = 10
/** The most of an answer that is read: upstream's maxRespBodyLength. */
const bodyBytesMax = 10 * 1024

export interface HttpCheck {
  readonly action: HttpGetAction
  readonly container: Container
  /** Where the pod listens, unless the action names a host. */
  readonly address: string
  readonly userAgent: string
}

/**
 * Makes an HTTP request as a check: a status from 200 to 399 is success. Redirects are followed on the same host; where
 * they lead elsewhere, nothing more can be said, which is a success with a warning (upstream's DoHTTPProbe). Rejects, in
 * the words of Go's client, where there is no answer.
 */
export async function getHttp(check: HttpCheck, signal: AbortSignal): Promise<HandlerResult> {
  const first = urlOf(check)
  let url = first
  for (let redirects = 0; ; redirects += 1) {
    const response = await request(url, check.action, check.userAgent, signal)
    const { statusCode = 0, headers } = response
    if (statusCode < 200 || statusCode >= 400) {
      // Nobody reads what may have no end.
      response.destroy()
      return { ok: false, answered: true, output: `HTTP probe failed with statuscode: ${statusCode}` }
    }
    const next = isRedirect(statusCode) ? targetOf(headers.location, url) : undefined
    if (next === undefined || next.hostname !== first.hostname) return success(statusCode, await bodyOf(response))
    response.destroy()
    if (redirects === redirectsMax - 1) throw new Error(`Get "${next}": stopped after ${redirectsMax} redirects`)
    url = next
  }
}

function success(statusCode: number, body: string): HandlerResult {
  if (statusCode < 300) return { ok: true, output: body }
  return { ok: true, warning: true, output: `Probe terminated redirects, Response body: ${body}` }
}

const isRedirect = (statusCode: number): boolean => [301, 302, 303, 307, 308].includes(statusCode)

function targetOf(location: string | undefined, from: URL): URL | undefined {
  return location === undefined || !URL.canParse(location, from.href) ? undefined : new URL(location, from)
}

function urlOf({ action, container, address }: HttpCheck): URL {
  const scheme = action.scheme === 'HTTPS' ? 'https' : 'http'
  const host = action.host === undefined || action.host === '' ? address : action.host
  const path = action.path === undefined || action.path === '' ? '/' : action.path
  const url = `${scheme}://${withPort(host, portOf(action.port, container))}${path.startsWith('/') ? '' : '/'}${path}`
  if (!URL.canParse(url)) throw new HandlerTargetError(`parse "${url}": invalid URL`)
  return new URL(url)
}

/** Headers as asked for, more of one name included; an empty Accept takes away the one that is there otherwise. */
function headersOf({ httpHeaders = [] }: HttpGetAction, userAgent: string): Record<string, string | string[]> {
  const given = new Map<string, string[]>()
  for (const { name, value } of httpHeaders) {
    const key = name.toLowerCase()
    given.set(key, [...(given.get(key) ?? []), value])
  }
  const headers: Record<string, string | string[]> = { 'user-agent': userAgent, accept: '*/*', connection: 'close' }
  for (const [name, values] of given) headers[name] = name === 'host' ? (values[0] ?? '') : values
  if (given.get('accept')?.[0] === '') delete headers.accept
  return headers
}

async function request(
  url: URL,
  action: HttpGetAction,
  userAgent: string,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const secure = url.protocol === 'https:'
  // Loaded when the first probe runs: importing node:http takes 40 ms of a start of 300.
  const { request: requestOf } = secure ? await import('node:https') : await import('node:http')
  // Whom a pod shows its certificate to is not the check's business, as upstream has it.
  const options = { headers: headersOf(action, userAgent), signal, rejectUnauthorized: false }
  return new Promise((resolve, reject) => {
    const sent = requestOf(url, options, resolve)
    // To speak something else from now on is no answer to what was asked.
    sent.once('upgrade', (response, socket) => {
      socket.destroy()
      resolve(response)
    })
    sent.on('error', (error) => {
      const why = signal.aborted
        ? 'context deadline exceeded (Client.Timeout exceeded while awaiting headers)'
        : connectFailure(error, url.hostname, Number(url.port || (secure ? 443 : 80)))
      reject(new Error(`Get "${url}": ${why}`))
    })
    sent.end()
  })
}

async function bodyOf(response: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = []
  let bytes = 0
  for await (const piece of response as AsyncIterable<Buffer>) {
    pieces.push(piece)
    bytes += piece.length
    if (bytes >= bodyBytesMax) break
  }
  return Buffer.concat(pieces).subarray(0, bodyBytesMax).toString('utf8')
}
