import { createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { TLSSocket } from 'node:tls'
import { type TokenReview, tokenReviews } from '@coracle/api'
import { BoundedMap, type Client } from '@coracle/client'
import type { Clock } from '@coracle/environment'
import { peerIdentity } from '@coracle/environment/certificates'

/** Who asks a node agent something. */
export interface Caller {
  readonly name: string
  readonly groups: readonly string[]
  readonly uid?: string
  readonly extra?: Readonly<Record<string, readonly string[]>>
}

/** How long it is known whose a token is: kubelet's --authentication-token-webhook-cache-ttl. */
export const tokenCacheMs = 120_000
const tokensMax = 1_000
const authenticatedGroup = 'system:authenticated'

/** Finds out who makes a request; undefined where nothing was shown that is good. Rejects where the API cannot be asked. */
export type AuthenticateCaller = (request: IncomingMessage) => Promise<Caller | undefined>

/**
 * Knows callers by a certificate of the cluster's authority, or by a bearer token that the API says is good (TokenReview), as kubelets
 * do that take nobody without (`--anonymous-auth=false`).
 */
export function createCallerAuthentication(client: Client, clock: Clock): AuthenticateCaller {
  const known = new BoundedMap<string, { readonly caller: Caller | undefined; readonly untilMs: number }>(tokensMax)

  const review = async (token: string): Promise<Caller | undefined> => {
    const digest = createHash('sha256').update(token).digest('base64')
    const found = known.get(digest)
    if (found !== undefined && found.untilMs > clock.monotonicMs()) return found.caller
    const asked = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', metadata: {}, spec: { token } }
    const { status } = await client.create(tokenReviews, asked as TokenReview)
    const { username = '', groups = [], uid, extra } = status?.user ?? {}
    const caller =
      status?.authenticated === true && username !== ''
        ? { name: username, groups, ...(uid === undefined ? {} : { uid }), ...(extra === undefined ? {} : { extra }) }
        : undefined
    known.set(digest, { caller, untilMs: clock.monotonicMs() + tokenCacheMs })
    return caller
  }

  return async ({ socket, headers }) => {
    const peer = peerIdentity(socket as TLSSocket)
    if (typeof peer !== 'string' && (peer.notAfterMs ?? Number.POSITIVE_INFINITY) > clock.now()) {
      return { name: peer.name, groups: [...peer.groups, authenticatedGroup] }
    }
    const [, token] = /^Bearer +(\S+)$/i.exec((headers.authorization ?? '').trim()) ?? []
    return token === undefined ? undefined : review(token)
  }
}
