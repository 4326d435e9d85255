import {
  isJsonObject,
  type KubernetesObject,
  parseTime,
  type Resource,
  type Secret,
  type ServiceAccount,
  secrets,
  serviceAccounts,
  tokenInvalidSinceLabel,
} from '@coracle/api'
import type { Clock, Environment, Time } from '@coracle/environment'
import type { Registries } from '../registries.ts'
import type { User } from '../request.ts'
import { parseSecretTokenClaims, type SecretTokenSubject, secretTokenPayload } from './secret-token-claims.ts'
import {
  claimsPayload,
  endOf,
  extendedTokenSeconds,
  type NamedObject,
  parseClaims,
  podTokenSeconds,
  serviceAccountUser,
  type TokenClaims,
  type TokenSubject,
  untimely,
} from './token-claims.ts'
import { type PublicJwk, TokenSigner } from './token-signer.ts'
import { TokenUses } from './token-uses.ts'

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
  /** From then on it is no good. Undefined: it has no end. */
  readonly notAfterMs?: Time
  /** Whether what it is bound to is still there: to be asked each time it is shown. */
  readonly holds: () => boolean
  /** What is to be told to whoever shows it, each time. */
  readonly warning?: () => string | undefined
}

/** No token is longer: headers are not either. */
const tokenCharactersMax = 16_384

/** Tokens of service accounts: issues them, and tells whose one is. They end with their account, and with what they are bound to. */
export class ServiceAccountTokens {
  readonly #registries: Registries
  readonly #environment: Environment
  readonly #signer: TokenSigner
  readonly #uses: TokenUses

  /** `loadKey` gives the private key that signs, as PEM. */
  constructor(registries: Registries, environment: Environment, loadKey: () => Promise<string>) {
    this.#registries = registries
    this.#environment = environment
    this.#signer = new TokenSigner(loadKey)
    this.#uses = new TokenUses(registries, environment)
  }

  /** A token for a subject that is there. */
  issue(subject: TokenSubject, audiences: readonly string[], nowMs: Time, lifeSeconds: number): Promise<string> {
    const { clock, random } = this.#environment
    const isOwn = audiences.every((audience) => audience === apiAudience)
    const isExtended = isOwn && subject.pod !== undefined && lifeSeconds === podTokenSeconds
    const claims: TokenClaims = {
      ...subject,
      id: random.uuid(),
      audiences,
      notBeforeMs: nowMs,
      expiresMs: nowMs + (isExtended ? extendedTokenSeconds : lifeSeconds) * 1000,
      ...(isExtended ? { warnAfterMs: nowMs + lifeSeconds * 1000 } : {}),
    }
    return clock.hold(this.#signer.sign(claimsPayload(claims, serviceAccountIssuer)))
  }

  /** A token for a Secret to keep. It is good as long as the Secret keeps it, and its account is there. */
  issueForSecret(subject: SecretTokenSubject): Promise<string> {
    return this.#environment.clock.hold(this.#signer.sign(secretTokenPayload(subject)))
  }

  /** Whose a token is; a text where it is not good, which says why. It is for one of `audiences`. */
  async verify(token: string, audiences: readonly string[]): Promise<VerifiedToken | string> {
    const { clock } = this.#environment
    const payload = looksSigned(token) ? await clock.hold(this.#signer.verify(token)) : undefined
    const kept = parseSecretTokenClaims(payload)
    if (kept !== undefined) return this.#verifyKept(token, kept, audiences)
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

  /** What is kept in a Secret does not say for whom it is: it is for this server. */
  #verifyKept(token: string, subject: SecretTokenSubject, audiences: readonly string[]): VerifiedToken | string {
    if (!audiences.includes(apiAudience)) return notMeantFor([apiAudience], audiences)
    const data = Buffer.from(token).toString('base64')
    const problem = this.#notKept(data, subject)
    if (problem !== undefined) return problem
    const { namespace, account, secret } = subject
    return {
      user: accountUser(namespace, account),
      audiences: [apiAudience],
      holds: () => this.#notKept(data, subject) === undefined,
      warning: () => {
        const { secrets: referenced = [] } = this.#find<ServiceAccount>(serviceAccounts, namespace, account.name) ?? {}
        return referenced.some(({ name }) => name === secret) ? generatedTokenWarning : undefined
      },
    }
  }

  /** Why a token, as a Secret has it, is not good; undefined where it is, which is noted as a use (upstream's legacyValidator). */
  #notKept(data: string, { namespace, account, secret: name }: SecretTokenSubject): string | undefined {
    const secret = this.#find<Secret>(secrets, namespace, name)
    if (secret === undefined || secret.metadata.deletionTimestamp !== undefined) return 'Token has been invalidated'
    // Who has come this far has shown a text that was signed here: how long it takes to compare tells nothing.
    if (secret.data?.token !== data) return "Token does not match server's copy"
    const found = this.#find<ServiceAccount>(serviceAccounts, namespace, account.name)
    if (found === undefined) return `serviceaccounts ${JSON.stringify(account.name)} not found`
    const { uid, deletionTimestamp } = found.metadata
    if (deletionTimestamp !== undefined) return `ServiceAccount ${namespace}/${account.name} has been deleted`
    if (uid !== account.uid) return `ServiceAccount UID (${uid}) does not match claim (${account.uid})`
    if ((secret.metadata.labels?.[tokenInvalidSinceLabel] ?? '') === '') {
      this.#uses.note(secret)
      return undefined
    }
    const where = `the token in secret ${namespace}/${name} for service account ${namespace}/${account.name}`
    return `${where} has been marked invalid. Use tokens from the TokenRequest API or manually created secret-based tokens, or remove the '${tokenInvalidSinceLabel}' label from the secret to temporarily allow use of this token`
  }

  #find<T extends KubernetesObject>({ plural }: Resource<T>, namespace: string, name: string): T | undefined {
    return this.#registries.byResource('', 'v1', plural)?.peek(namespace, name)?.object as T | undefined
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
    ...accountUser(namespace, account),
    extra: { [`${prefix}/credential-id`]: [`JTI=${id}`], ...named('node', node), ...named('pod', pod) },
  }
}

const accountUser = (namespace: string, { name, uid }: NamedObject): User => ({
  name: serviceAccountUser(namespace, name),
  ...(uid === undefined ? {} : { uid }),
  groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'],
})

/** Told where an account names the Secret: until 1.24 one was made for each account, and is in use still. */
const generatedTokenWarning =
  'Use tokens from the TokenRequest API or manually created secret-based tokens instead of auto-generated secret-based tokens.'
