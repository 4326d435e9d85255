import { get } from 'node:https'
import { isIP } from 'node:net'
import { parseExactJson } from '@coracle/api'
import { realClock } from '@coracle/environment'
import { type ServerAddress, ServerTrust } from '../../webhook/server-trust.ts'

/** Longer answers are refused. */
export const answerBytesMax = 1024 * 1024

/** An answer has to be there as a whole within this time. */
const timeoutMs = 10_000

const redirectsMax = 5

/**
 * Gets JSON over HTTPS from a server that these authorities (PEM) vouch for, or those of the host. Redirects to other servers with a certificate of
 * these are followed. Rejects with an Error that names the URL.
 */
export async function getJson(url: string, certificateAuthority: string | undefined): Promise<unknown> {
  const signal = AbortSignal.timeout(timeoutMs)
  const trust = new ServerTrust(certificateAuthority, realClock)
  let target = url
  for (let redirects = 0; redirects <= redirectsMax; redirects += 1) {
    const answer = await getTrusted(target, trust, signal)
    if (typeof answer === 'string') return parsed(target, answer)
    target = answer.location
  }
  throw new Error(`get ${url}: more than ${redirectsMax} redirects`)
}

function parsed(url: string, text: string): unknown {
  try {
    return parseExactJson(text)
  } catch {
    throw new Error(`get ${url}: the answer is not JSON`)
  }
}

/** The text of an answer, or where it is instead. */
type Answer = string | { readonly location: string }

/** Asks once more where TLS has refused a server that is to be believed. */
async function getTrusted(url: string, trust: ServerTrust, signal: AbortSignal): Promise<Answer> {
  try {
    return await getOnce(url, trust, signal)
  } catch (error) {
    const isBelieved = trust.reconsider((error as Error).cause ?? error, () => addressOf(new URL(url)), signal)
    if (!(await isBelieved.catch(() => false))) throw error
    return getOnce(url, trust, signal)
  }
}

function addressOf({ hostname, port }: URL): ServerAddress {
  const host = hostname.replace(/^\[|\]$/g, '')
  return { host, port: Number(port || 443), servername: isIP(host) === 0 ? host : undefined }
}

function getOnce(url: string, trust: ServerTrust, signal: AbortSignal): Promise<Answer> {
  const problem = (what: string, cause?: unknown): Error => new Error(`get ${url}: ${what}`, { cause })
  return new Promise((resolve, reject) => {
    if (!url.startsWith('https://')) return reject(problem('URL scheme must be https'))
    const request = get(url, { ...trust.options, agent: false, signal, headers: { accept: 'application/json' } })
    request.on('error', (error) => reject(problem(signal.aborted ? 'no answer in time' : error.message, error)))
    request.on('response', (response) => {
      const { statusCode = 0, headers } = response
      response.on('error', (error) => reject(problem(error.message)))
      const location =
        headers.location !== undefined && URL.canParse(headers.location, url) ? headers.location : undefined
      if (statusCode >= 300 && statusCode < 400 && location !== undefined) {
        response.resume()
        resolve({ location: new URL(location, url).href })
      } else if (statusCode !== 200) {
        response.resume()
        reject(problem(`status ${statusCode}`))
      } else {
        const pieces: Buffer[] = []
        let length = 0
        response.on('data', (piece: Buffer) => {
          length += piece.length
          if (length > answerBytesMax) request.destroy(new Error(`the answer has more than ${answerBytesMax} bytes`))
          else pieces.push(piece)
        })
        response.on('end', () => resolve(Buffer.concat(pieces).toString()))
      }
    })
  })
}
