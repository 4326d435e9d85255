import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { TLSSocket } from 'node:tls'
import { unauthorized } from '@coracle/api'
import type { User } from '../request.ts'

/** Who may act by bearer token. */
export interface TokenIdentity {
  readonly token: string
  readonly user: User
}

/** Finds out who makes a request. Throws the ApiError Unauthorized (401) for credentials that are not good. */
export type Authenticator = (request: IncomingMessage) => User

/** Someone who showed no credentials. What that may see, authorization decides. */
export const anonymous: User = { name: 'system:anonymous', groups: ['system:unauthenticated'] }

const authenticatedGroup = 'system:authenticated'

/**
 * Authentication by client certificate (verified by the TLS layer against our authority; CN is the user, each O a
 * group) and by bearer token. As upstream, any good credential suffices; a bad one without a good one is 401; none at
 * all is `system:anonymous`.
 */
export function createAuthenticator(tokens: readonly TokenIdentity[]): Authenticator {
  const identities = tokens.map(({ token, user }) => ({ digest: digestOf(token), user: authenticated(user) }))
  // A connection keeps its certificate, and as a rule its token: both are judged once per connection.
  const connections = new WeakMap<object, Connection>()

  return (request) => {
    const { socket } = request
    let connection = connections.get(socket)
    if (connection === undefined) {
      connection = {
        certificate: userOfCertificate(socket as TLSSocket),
        authorization: undefined,
        tokenUser: undefined,
      }
      connections.set(socket, connection)
    }
    const { authorization } = request.headers
    if (authorization !== undefined) {
      if (connection.authorization !== authorization) {
        const token = bearerToken(authorization)
        connection.authorization = authorization
        connection.tokenUser = token === undefined ? 'none' : (userOfToken(identities, token) ?? 'rejected')
      }
      if (typeof connection.tokenUser === 'object') return connection.tokenUser
    }
    if (typeof connection.certificate === 'object') return connection.certificate
    const tokenRejected = authorization !== undefined && connection.tokenUser === 'rejected'
    if (tokenRejected || connection.certificate === 'rejected') throw unauthorized()
    return anonymous
  }
}

/** What a credential says: whose it is, that there is none, or that it is not good. */
type Verdict = User | 'none' | 'rejected'

interface Connection {
  readonly certificate: Verdict
  /** The `Authorization` header that `tokenUser` belongs to. */
  authorization: string | undefined
  tokenUser: Verdict | undefined
}

function userOfCertificate(socket: TLSSocket): Verdict {
  if (typeof socket.getPeerCertificate !== 'function') return 'none'
  const { subject } = socket.getPeerCertificate()
  if (subject === undefined) return 'none'
  const name = firstOf(subject.CN)
  if (!socket.authorized || name === '') return 'rejected'
  return authenticated({ name, groups: allOf(subject.O) })
}

const allOf = (value: string | readonly string[] | undefined): readonly string[] =>
  value === undefined ? [] : typeof value === 'string' ? [value] : value

const firstOf = (value: string | readonly string[] | undefined): string => allOf(value)[0] ?? ''

const authenticated = (user: User): User =>
  user.groups.includes(authenticatedGroup) ? user : { ...user, groups: [...user.groups, authenticatedGroup] }

/** Undefined for other schemes, which upstream ignores. */
function bearerToken(header: string): string | undefined {
  const [scheme = '', token = ''] = header.trim().split(' ')
  return scheme.toLowerCase() === 'bearer' && token !== '' ? token : undefined
}

/** Digests are compared, in constant time: how long it takes tells nothing about the tokens. */
function userOfToken(
  identities: readonly { readonly digest: Buffer; readonly user: User }[],
  token: string,
): User | undefined {
  const digest = digestOf(token)
  return identities.find((identity) => timingSafeEqual(identity.digest, digest))?.user
}

const digestOf = (token: string): Buffer => createHash('sha256').update(token).digest()
