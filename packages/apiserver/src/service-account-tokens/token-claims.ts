import { isJsonObject } from '@coracle/api'
import type { Time } from '@coracle/environment'

/** An object as a token names it. */
export interface NamedObject {
  readonly name: string
  /** Absent of a node that is not there. */
  readonly uid?: string
}

/** Whose a token is, and what it ends with beside its account. */
export interface TokenSubject {
  readonly namespace: string
  readonly account: NamedObject
  readonly pod?: NamedObject
  readonly secret?: NamedObject
  /** Where the pod is, or what the token itself is bound to. */
  readonly node?: NamedObject
}

/** What a token says. */
export interface TokenClaims extends TokenSubject {
  readonly id: string
  readonly audiences: readonly string[]
  readonly notBeforeMs: Time
  readonly expiresMs: Time
  /** Whoever still uses it then has not read its successor. Absent: it is for as long as was asked for. */
  readonly warnAfterMs?: Time
}

/** For so long pods have a token that they did not ask for, which nobody else asks for by accident. */
export const podTokenSeconds = 3607

/**
 * How long such a token is good all the same, as not all clients read theirs again (upstream's
 * --service-account-extend-token-expiration). It ends with its pod.
 */
export const extendedTokenSeconds = 365 * 86_400

/** Clocks of servers that sign and check may differ by this much. */
const leewayMs = 60_000

export const serviceAccountUser = (namespace: string, name: string): string =>
  `system:serviceaccount:${namespace}:${name}`

/** The claims as they are written into a token (upstream's pkg/serviceaccount/claims.go). */
export function claimsPayload(claims: TokenClaims, issuer: string): Readonly<Record<string, unknown>> {
  const { namespace, account, pod, secret, node, warnAfterMs } = claims
  return {
    aud: claims.audiences,
    exp: Math.floor(claims.expiresMs / 1000),
    iat: Math.floor(claims.notBeforeMs / 1000),
    iss: issuer,
    jti: claims.id,
    'kubernetes.io': {
      namespace,
      ...(node === undefined ? {} : { node }),
      ...(pod === undefined ? {} : { pod }),
      ...(secret === undefined ? {} : { secret }),
      serviceaccount: account,
      ...(warnAfterMs === undefined ? {} : { warnafter: Math.floor(warnAfterMs / 1000) }),
    },
    nbf: Math.floor(claims.notBeforeMs / 1000),
    sub: serviceAccountUser(namespace, account.name),
  }
}

/** What a payload of ours says; undefined where it is none of a service account's. */
export function parseClaims(payload: unknown): TokenClaims | undefined {
  if (!isJsonObject(payload) || !isJsonObject(payload['kubernetes.io'])) return undefined
  const { aud, exp, nbf, jti } = payload
  const { namespace, serviceaccount, pod, secret, node } = payload['kubernetes.io']
  const account = parseNamed(serviceaccount)
  const audiences = typeof aud === 'string' ? [aud] : aud
  if (typeof namespace !== 'string' || account === undefined || typeof jti !== 'string') return undefined
  if (typeof exp !== 'number' || typeof nbf !== 'number') return undefined
  if (!Array.isArray(audiences) || audiences.some((each) => typeof each !== 'string')) return undefined
  const bound = Object.entries({ pod, secret, node }).flatMap(([name, value]) => {
    const named = parseNamed(value)
    return named === undefined ? [] : [[name, named] as const]
  })
  return {
    namespace,
    account,
    id: jti,
    audiences,
    notBeforeMs: nbf * 1000,
    expiresMs: exp * 1000,
    ...Object.fromEntries(bound),
  }
}

/** From then on a token is no good. */
export const endOf = ({ expiresMs }: TokenClaims): Time => expiresMs + leewayMs

/** Why a token is not good at this time; undefined where it is. */
export function untimely(claims: TokenClaims, nowMs: Time): string | undefined {
  if (nowMs + leewayMs < claims.notBeforeMs) return 'service account token is not valid yet'
  return nowMs >= endOf(claims) ? 'service account token has expired' : undefined
}

function parseNamed(value: unknown): NamedObject | undefined {
  if (!isJsonObject(value) || typeof value.name !== 'string') return undefined
  return { name: value.name, ...(typeof value.uid === 'string' ? { uid: value.uid } : {}) }
}
