import { formatTime, isJsonObject, type JsonObject, parseExactJson } from '@coracle/api'
import type { TrustedIssuer } from '@coracle/api/authentication'
import type { Time } from '@coracle/environment'
import { compactVerify, errors } from 'jose'
import type { IssuerKeys, KeySet } from './issuer-keys.ts'

/** By which tokens may be signed: those that upstream takes. Nobody can sign by them who can only check. */
export const signingAlgorithmsDefault = [
  'RS256',
  'RS384',
  'RS512',
  'ES256',
  'ES384',
  'ES512',
  'PS256',
  'PS384',
  'PS512',
] as const

export type SigningAlgorithm = (typeof signingAlgorithmsDefault)[number]

/** A token may be good only from a moment on that is so far ahead: clocks differ. */
const notBeforeLeewayMs = 5 * 60_000

/** What OpenID Connect once allowed Google to say of itself. */
const issuerAliases: ReadonlyMap<unknown, string> = new Map([['accounts.google.com', 'https://accounts.google.com']])

/** What a token is about, and until when it is good. */
export interface VerifiedClaims {
  readonly claims: JsonObject
  readonly notAfterMs: Time
}

/** Who says to have issued a token. It is not checked, and not to be believed. Undefined for what is no signed token. */
export function claimedIssuer(token: string): string | undefined {
  const [, payload, signature, ...rest] = token.split('.')
  if (payload === undefined || signature === undefined || rest.length > 0) return undefined
  const claims = parsed(Buffer.from(payload, 'base64url'))
  return claims === undefined ? undefined : issuerOf(claims)
}

function issuerOf({ iss }: JsonObject): string | undefined {
  return issuerAliases.get(iss) ?? (typeof iss === 'string' ? iss : undefined)
}

/** The claims of a token that the issuer has signed, for one of its audiences, at this time; a text that says why it is not good. */
export async function verifyToken(
  token: string,
  { url, audiences }: Pick<TrustedIssuer, 'url' | 'audiences'>,
  keys: Pick<IssuerKeys, 'current' | 'after'>,
  nowMs: Time,
  algorithms: readonly SigningAlgorithm[] = signingAlgorithmsDefault,
): Promise<VerifiedClaims | string> {
  let payload: Uint8Array | undefined
  try {
    const known = await keys.current()
    payload = await signedPayload(token, known, algorithms)
    if (payload === undefined) {
      const newer = await keys.after(known)
      payload = newer === known ? undefined : await signedPayload(token, newer, algorithms)
    }
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
  if (payload === undefined) return 'failed to verify signature: no key of the issuer has made it'
  const claims = parsed(payload)
  if (claims === undefined) return 'its claims are no JSON object'
  if (issuerOf(claims) !== url) return `issued by a different provider, expected ${JSON.stringify(url)}`
  const { aud, exp, nbf } = claims
  const meant = (Array.isArray(aud) ? aud : [aud]).filter((each) => typeof each === 'string')
  if (!meant.some((each) => audiences.includes(each)))
    return `expected audience in ${JSON.stringify(audiences)} got ${JSON.stringify(meant)}`
  if (typeof exp !== 'number') return 'it does not say when it ends'
  if (nowMs >= exp * 1000) return `token is expired (Token Expiry: ${formatTime(exp * 1000)})`
  if (typeof nbf === 'number' && nowMs + notBeforeLeewayMs < nbf * 1000)
    return `current time is before the nbf (not before) time: ${formatTime(nbf * 1000)}`
  return { claims, notAfterMs: exp * 1000 }
}

/** Undefined where none of the keys has signed it. */
async function signedPayload(
  token: string,
  { keyFor }: KeySet,
  algorithms: readonly SigningAlgorithm[],
): Promise<Uint8Array | undefined> {
  try {
    return (await compactVerify(token, keyFor, { algorithms: [...algorithms] })).payload
  } catch (error) {
    if (!(error instanceof errors.JWKSMultipleMatchingKeys)) {
      if (error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWSSignatureVerificationFailed)
        return undefined
      throw error
    }
    // The token does not say which of them.
    for await (const key of error) {
      const verified = await compactVerify(token, key, { algorithms: [...algorithms] }).catch(() => undefined)
      if (verified !== undefined) return verified.payload
    }
    return undefined
  }
}

function parsed(bytes: Uint8Array): JsonObject | undefined {
  try {
    const value = parseExactJson(Buffer.from(bytes).toString())
    return isJsonObject(value) ? value : undefined
  } catch {
    return undefined
  }
}
