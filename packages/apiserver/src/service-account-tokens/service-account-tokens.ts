import { isJsonObject, parseTime } from '@coracle/api'
import type { Clock, Environment, Time } from '@coracle/environment'
import type { Registries } from '../registries.ts'
import type { User } from '../request.ts'
import {
  claimsPayload,
  endOf,
  type NamedObject,
  parseClaims,
  serviceAccountUser,
  type TokenClaims,
  type TokenSubject,
  untimely,
} from './token-claims.ts'
import { type PublicJwk, TokenSigner } from './token-signer.ts'

/** Who issues tokens: upstream's default. */
export const serviceAccountIssuer = 'https://kubernetes.default.svc.cluster.local'

/** Whom a token is for that is shown to this server, and that says nothing else. */
export const apiAudience = serviceAccountIssuer

/** Why a token is not good for whom it is shown to, in upstream's words. */
export const notMeantFor = (audiences: readonly string[], targets: readonly string[]): string =>
  `token audiences ${JSON.stringify(audiences)} is invalid for the target audiences ${JSON.stringify(targets)}`

/** A token that is good. */
export interface VerifiedToken {
  readonly user: User
  readonly audiences: readonly string[]
  /** From then on it is no good. */
  readonly notAfterMs: Time
  /** Whether what it is bound to is still there: to be asked each time it is shown. */
  readonly holds: () => boolean
}

/** No token is longer: headers are not either. */
const tokenCharactersMax = 16_384

/** Tokens of service accounts: issues them, and tells whose one is. They end with their account, and with what they are bound to. */
export class ServiceAccountTokens {
  readonly #registries: Registries
  readonly #environment: Environment
  readonly #signer: TokenSigner

  /** `loadKey` gives the private key that signs, as PEM. */
  constructor(registries: Registries, environment: Environment, loadKey: () => Promise<string>) {
    this.#registries = registries
    this.#environment = environment
    this.#signer = new TokenSigner(loadKey)
  }

  /** A token for a subject that is there. */
  issue(subject: TokenSubject, audiences: readonly string[], nowMs: Time, lifeSeconds: number): Promise<string> {
    const { clock, random } = this.#environment
    const claims: TokenClaims = {
      ...subject,
      id: random.uuid(),
      audiences,
      notBeforeMs: nowMs,
      expiresMs: nowMs + lifeSeconds * 1000,
    }
    return clock.hold(this.#signer.sign(claimsPayload(claims, serviceAccountIssuer)))
  }

  /** Whose a token is; a text where it is not good, which says why. It is for one of `audiences`. */
  async verify(token: string, audiences: readonly string[]): Promise<VerifiedToken | string> {
    const { clock } = this.#environment
    const payload = looksSigned(token) ? await clock.hold(this.#signer.verify(token)) : undefined
    const claims = isFromHere(payload) ? parseClaims(payload) : undefined
    if (claims === undefined) return 'invalid bearer token'
    const shared = claims.audiences.filter((audience) => audiences.includes(audience))
    if (shared.length === 0) return notMeantFor(claims.audiences, audiences)
    const problem = untimely(claims, clock.now()) ?? this.#missing(claims)
    if (problem !== undefined) return problem
    return {
      user: userOf(claims),
      audiences: shared,
      notAfterMs: endOf(claims),
      holds: () => this.#missing(claims) === undefined,
    }
  }

  /** By which others may check tokens. */
  publicKeys(): Promise<readonly PublicJwk[]> {
    return this.#environment.clock.hold(this.#signer.publicKeys())
  }

  /** What a token is bound to and is gone, or is another of its name; undefined where all is there. */
  #missing({ namespace, account, pod, secret, node }: TokenClaims): string | undefined {
    return (
      this.#problemOf('service account', 'serviceaccounts', namespace, account) ??
      (pod && this.#problemOf('pod', 'pods', namespace, pod)) ??
      (secret && this.#problemOf('secret', 'secrets', namespace, secret)) ??
      // A node is only where a pod was; a token bound to a node alone ends with it.
      (node && pod === undefined ? this.#problemOf('node', 'nodes', '', node) : undefined)
    )
  }

  #problemOf(what: string, plural: string, namespace: string, { name, uid }: NamedObject): string | undefined {
    const found = this.#registries.byResource('', 'v1', plural)?.peek(namespace, name)?.object
    if (found === undefined) return `${what} ${JSON.stringify(name)} not found`
    if (isGone(found.metadata.deletionTimestamp, this.#environment.clock)) {
      return `${what} ${JSON.stringify(name)} has been deleted`
    }
    return found.metadata.uid === uid ? undefined : `${what} UID (${found.metadata.uid}) does not match claim (${uid})`
  }
}

/** A minute after an object was to be gone nobody should rely on it. */
const deletionLeewayMs = 60_000

const isGone = (deletionTimestamp: string | undefined, clock: Clock): boolean =>
  deletionTimestamp !== undefined && parseTime(deletionTimestamp) + deletionLeewayMs < clock.now()

/** Three parts that points divide: only such a text is worth loading what checks signatures. */
const looksSigned = (token: string): boolean =>
  token.length <= tokenCharactersMax && /^[\w-]+\.[\w-]+\.[\w-]+$/.test(token)

const isFromHere = (payload: unknown): boolean => isJsonObject(payload) && payload.iss === serviceAccountIssuer

/** The user that a service account is, and what its token says of where it came from. */
function userOf({ namespace, account, pod, node, id }: TokenClaims): User {
  const prefix = 'authentication.kubernetes.io'
  const named = (what: string, object: NamedObject | undefined) => ({
    ...(object === undefined ? {} : { [`${prefix}/${what}-name`]: [object.name] }),
    ...(object?.uid === undefined ? {} : { [`${prefix}/${what}-uid`]: [object.uid] }),
  })
  return {
    name: serviceAccountUser(namespace, account.name),
    ...(account.uid === undefined ? {} : { uid: account.uid }),
    groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'],
    extra: { [`${prefix}/credential-id`]: [`JTI=${id}`], ...named('node', node), ...named('pod', pod) },
  }
}
