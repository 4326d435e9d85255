import type { AuthenticationConfiguration, TrustedIssuer } from '@coracle/api/authentication'
import { userOfClaims } from '@coracle/api/authentication'
import type { Clock, Logger, Time } from '@coracle/environment'
import { apiAudience, type VerifiedToken } from '../../service-account-tokens/service-account-tokens.ts'
import { authenticated, type ConfiguredAuthentication } from '../authentication.ts'
import type { AuthenticationMetrics } from './authentication-metrics.ts'
import { getJson } from './get-json.ts'
import { type GetJson, IssuerKeys } from './issuer-keys.ts'
import { claimedIssuer, type SigningAlgorithm, verifyToken } from './verify-token.ts'

export interface TrustedIssuersOptions {
  /** Waits while an issuer is asked, however time passes in the cluster: issuers are outside of it. */
  readonly clock: Clock
  /** By which tokens end, and keys grow old. */
  readonly hostClock: Clock
  readonly logger: Logger
  /** Over HTTPS unless said otherwise. */
  readonly get?: GetJson
  readonly metrics?: AuthenticationMetrics | undefined
  /** By which tokens may be signed; `signingAlgorithmsDefault` unless given. */
  readonly signingAlgorithms?: readonly SigningAlgorithm[] | undefined
}

/** A configuration that was checked. */
export interface CheckedConfiguration {
  readonly issuers: readonly TrustedIssuer[]
  readonly anonymous: AuthenticationConfiguration['anonymous']
}

interface Known {
  readonly issuer: TrustedIssuer
  readonly keys: IssuerKeys
  /** When it was last told that a token of it was refused. */
  toldMs: Time
}

/** Refused tokens of an issuer are told of no more often than this, and in no more characters: whoever likes may show such a token. */
const toldEveryMs = 1000
const toldLengthMax = 256

/** Whose the tokens of issuers are that a configuration trusts, and where it takes whoever shows none. The configuration may change. */
export class TrustedIssuers implements ConfiguredAuthentication {
  readonly #options: TrustedIssuersOptions
  #configuration: CheckedConfiguration
  #byUrl: ReadonlyMap<string, Known>

  constructor(configuration: CheckedConfiguration, options: TrustedIssuersOptions) {
    this.#options = options
    this.#configuration = configuration
    this.#byUrl = this.#known(configuration)
  }

  /** What was verified by the configuration before does not hold any more. */
  replace(configuration: CheckedConfiguration): void {
    this.#configuration = configuration
    const before = this.#byUrl
    this.#byUrl = this.#known(configuration)
    for (const url of before.keys()) if (!this.#byUrl.has(url)) this.#options.metrics?.removed(url)
  }

  verify(token: string): Promise<VerifiedToken | string> | undefined {
    if (this.#byUrl.size === 0) return undefined
    const known = this.#byUrl.get(claimedIssuer(token) ?? '')
    return known === undefined ? undefined : this.#options.clock.hold(this.#verify(token, known))
  }

  async #verify(token: string, known: Known): Promise<VerifiedToken | string> {
    const { issuer, keys } = known
    const { hostClock, metrics, signingAlgorithms } = this.#options
    const configuration = this.#configuration
    const startedMs = hostClock.monotonicMs()
    const verified = await verifyToken(token, issuer, keys, hostClock.now(), signingAlgorithms)
    const user = typeof verified === 'string' ? verified : userOfClaims(verified.claims, issuer.rules)
    const result = typeof user === 'string' ? 'failure' : 'success'
    metrics?.verified(issuer.url, result, (hostClock.monotonicMs() - startedMs) / 1000)
    if (typeof verified === 'string' || typeof user === 'string') {
      this.#tell(known, String(user))
      return `oidc: ${user}`
    }
    return {
      user: authenticated(user),
      audiences: [apiAudience],
      holds: () => this.#configuration === configuration && hostClock.now() < verified.notAfterMs,
    }
  }

  #tell(known: Known, reason: string): void {
    const { hostClock, logger } = this.#options
    if (hostClock.now() - known.toldMs < toldEveryMs) return
    known.toldMs = hostClock.now()
    logger.warn(`a token of ${known.issuer.url} was refused`, { reason: reason.slice(0, toldLengthMax) })
  }

  takesAnonymous(path: string): boolean {
    const { enabled = false, conditions = [] } = this.#configuration.anonymous ?? { enabled: true }
    return enabled && (conditions.length === 0 || conditions.some((condition) => condition.path === path))
  }

  #known({ issuers }: CheckedConfiguration): ReadonlyMap<string, Known> {
    const { hostClock, logger, get = getJson, metrics } = this.#options
    return new Map(
      issuers.map((issuer) => {
        const keys = new IssuerKeys(issuer, hostClock, get, {
          fetched: (set) => metrics?.keysFetched(issuer.url, set),
          failed: (error) => {
            metrics?.keysNotFetched(issuer.url)
            logger.error('the keys of an issuer could not be fetched', { error })
          },
        })
        return [issuer.url, { issuer, keys, toldMs: Number.NEGATIVE_INFINITY }]
      }),
    )
  }
}
