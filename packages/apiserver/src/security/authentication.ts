import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { TLSSocket } from 'node:tls'
import { unauthorized } from '@coracle/api'
import { type Clock, realClock, type Time } from '@coracle/environment'
import { peerIdentity } from '@coracle/environment/certificates'
import type { User } from '../request.ts'
import {
  apiAudience,
  type ServiceAccountTokens,
  type VerifiedToken,
} from '../service-account-tokens/service-account-tokens.ts'
import type { BootstrapTokens } from './bootstrap-tokens.ts'

/** Who may act by bearer token. */
export interface TokenIdentity {
  readonly token: string
  readonly user: User
  /** From then on the token is no good. Undefined: it has no end. */
  readonly notAfterMs?: Time
  /** Whether what the token is bound to is still there; asked with each request. */
  readonly holds?: () => boolean
  /** What is to be told to whoever shows it, each time. */
  readonly warning?: () => string | undefined
}

/**
 * Finds out who makes a request. Throws, or rejects with, the ApiError Unauthorized (401) for credentials that are not good. A
 * promise only where somebody else has to be asked: to wait for one costs every request. What is to be told of the credentials goes
 * to `warn`.
 */
export type Authenticator = (request: IncomingMessage, warn?: (text: string) => void) => User | Promise<User>

/** Whose a bearer token is; undefined where it is not good. */
export type TokenAuthenticator = (token: string) => User | undefined

/** Who may come that the cluster does not know itself, as a configuration says: with tokens of other issuers, or with nothing at all. */
export interface ConfiguredAuthentication {
  /** Whose a token is, or why it is not good; undefined where nobody who is trusted says to have issued it. */
  verify(token: string): Promise<VerifiedToken | string> | undefined
  /** Whether a request for this path needs no credential. */
  takesAnonymous(path: string): boolean
}

/** What there is to be believed beside tokens that are known, and certificates of the TLS layer's authorities. */
export interface AuthenticatorOptions {
  /** By which certificates end, as the TLS layer judges them. */
  readonly hostClock?: Clock
  /** Tokens issued here. */
  readonly issued?: ServiceAccountTokens | undefined
  /** Tokens with which machines join. */
  readonly bootstrap?: BootstrapTokens
  readonly configuredAuthentication?: ConfiguredAuthentication | undefined
}

/** Authentication by these tokens alone, for whoever was shown one. Tokens end by `clock`. */
export function createTokenAuthenticator(tokens: readonly TokenIdentity[], clock: Clock): TokenAuthenticator {
  const identities = identitiesOf(tokens, clock)
  return (token) => userNow(verdictOnToken(identities, token))
}

/** Someone who showed no credentials. What that may see, authorization decides. */
export const anonymous: User = { name: 'system:anonymous', groups: ['system:unauthenticated'] }

const authenticatedGroup = 'system:authenticated'

/**
 * Authentication by client certificate (verified by the TLS layer against our authority; CN is the user, each O a group) and by bearer
 * token. As upstream, any good credential suffices; a bad one without a good one is 401; none at all is `system:anonymous`. Tokens end
 * by `clock`; certificates by the host's.
 */
export function createAuthenticator(
  tokens: readonly TokenIdentity[],
  clock: Clock,
  { hostClock = realClock, issued, bootstrap = () => undefined, configuredAuthentication }: AuthenticatorOptions = {},
): Authenticator {
  const identities = identitiesOf(tokens, clock)
  const lacksCredential = (request: IncomingMessage): boolean =>
    configuredAuthentication !== undefined && !configuredAuthentication.takesAnonymous(pathOf(request))
  // A connection keeps its certificate, and as a rule its token: both are looked at once per connection.
  const connections = new WeakMap<object, Connection>()

  /** Whose a token is; a promise where somebody has to be asked. */
  const verdictOn = (token: string): Verdict | Promise<Verdict> => {
    const own = verdictOnToken(identities, token)
    const known = own === 'rejected' ? verdictOnBootstrap(bootstrap, token, clock) : own
    if (known !== 'rejected') return known
    const asked = configuredAuthentication?.verify(token) ?? issued?.verify(token, [apiAudience])
    if (asked === undefined) return 'rejected'
    return asked.then((verified) => (typeof verified === 'string' ? 'rejected' : { ...verified, clock }))
  }

  return (request, warn) => {
    const { socket } = request
    let connection = connections.get(socket)
    if (connection === undefined) {
      connection = {
        certificate: verdictOnCertificate(socket as TLSSocket, hostClock),
        authorization: undefined,
        token: 'none',
      }
      connections.set(socket, connection)
    }
    const { authorization } = request.headers
    let { token } = connection
    if (connection.authorization === authorization && isGood(token)) {
      const user = userNow(token, warn)
      if (user !== undefined) return user
      token = 'rejected'
    }
    // What was no good, or is no more, may be good by now: its issuer can be reached again, say.
    if (connection.authorization !== authorization || token === 'rejected') {
      const shown = authorization === undefined ? undefined : bearerToken(authorization)
      token = shown === undefined ? 'none' : verdictOn(shown)
      connection.authorization = authorization
      connection.token = token
      if (token instanceof Promise) keepOutcome(connection, token)
    }
    const { certificate } = connection
    if (token instanceof Promise) return token.then((verdict) => userOf(verdict, certificate, warn))
    const user = userOf(token, certificate, warn)
    if (user === anonymous && lacksCredential(request)) throw unauthorized()
    return user
  }
}

const isGood = (token: Connection['token']): token is Good => typeof token === 'object' && !(token instanceof Promise)

/** Puts what somebody answers in the place of the question, unless another token has come meanwhile. */
function keepOutcome(connection: Connection, asked: Promise<Verdict>): void {
  const keep = (verdict: Verdict): void => {
    if (connection.token === asked) connection.token = verdict
  }
  asked.then(keep, () => keep('rejected'))
}

/** The path of a request, without what is asked of it. */
function pathOf({ url = '' }: IncomingMessage): string {
  const end = url.indexOf('?')
  return end < 0 ? url : url.slice(0, end)
}

/** The same, which takes nobody without a credential. */
export function refusingAnonymous(authenticate: Authenticator): Authenticator {
  const known = (user: User): User => {
    if (user === anonymous) throw unauthorized()
    return user
  }
  return (request, warn) => {
    const user = authenticate(request, warn)
    return user instanceof Promise ? user.then(known) : known(user)
  }
}

/** Whoever has shown one good credential. Throws Unauthorized where all that was shown is bad. */
function userOf(token: Verdict, certificate: Verdict, warn: ((text: string) => void) | undefined): User {
  const user = userNow(token, warn) ?? userNow(certificate)
  if (user !== undefined) return user
  if (token !== 'none' || certificate !== 'none') throw unauthorized()
  return anonymous
}

/** It is good as long as its Secret is there as it is. */
function verdictOnBootstrap(bootstrap: BootstrapTokens, token: string, clock: Clock): Verdict {
  const user = bootstrap(token)
  return user === undefined
    ? 'rejected'
    : { user: authenticated(user), clock, holds: () => bootstrap(token) !== undefined }
}

const identitiesOf = (tokens: readonly TokenIdentity[], clock: Clock) =>
  tokens.map((identity) => ({
    digest: digestOf(identity.token),
    verdict: { ...identity, user: authenticated(identity.user), clock },
  }))

/** What a credential says: whose it is and for how long, that there is none, or that it is not good. */
type Verdict = Good | 'none' | 'rejected'

interface Good extends Pick<TokenIdentity, 'notAfterMs' | 'holds' | 'warning'> {
  readonly user: User
  /** By which its end is told. */
  readonly clock: Clock
}

interface Connection {
  readonly certificate: Verdict
  /** The `Authorization` header that `token` belongs to. */
  authorization: string | undefined
  /** A promise as long as somebody is asked about it. */
  token: Verdict | Promise<Verdict>
}

/** Whose a credential is, if it is good at this moment: connections live longer than what was shown on them. */
function userNow(verdict: Verdict, warn?: (text: string) => void): User | undefined {
  if (typeof verdict === 'string') return undefined
  const { user, notAfterMs, holds, warning, clock } = verdict
  if (notAfterMs !== undefined && clock.now() >= notAfterMs) return undefined
  if (holds !== undefined && !holds()) return undefined
  const text = warning?.()
  if (text !== undefined) warn?.(text)
  return user
}

function verdictOnCertificate(socket: TLSSocket, clock: Clock): Verdict {
  const identity = peerIdentity(socket)
  if (typeof identity === 'string') return identity
  const { name, groups, notAfterMs } = identity
  return { user: authenticated({ name, groups }), clock, ...(notAfterMs === undefined ? {} : { notAfterMs }) }
}

/** The user, among those who have shown who they are. */
export const authenticated = (user: User): User =>
  user.groups.includes(authenticatedGroup) ? user : { ...user, groups: [...user.groups, authenticatedGroup] }

/** Undefined for other schemes, which upstream ignores. */
function bearerToken(header: string): string | undefined {
  const [scheme = '', token = ''] = header.trim().split(' ')
  return scheme.toLowerCase() === 'bearer' && token !== '' ? token : undefined
}

/** Digests are compared, in constant time: how long it takes tells nothing about the tokens. */
function verdictOnToken(
  identities: readonly { readonly digest: Buffer; readonly verdict: Good }[],
  token: string,
): Verdict {
  const digest = digestOf(token)
  return identities.find((identity) => timingSafeEqual(identity.digest, digest))?.verdict ?? 'rejected'
}

const digestOf = (token: string): Buffer => createHash('sha256').update(token).digest()
