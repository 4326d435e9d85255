import { isJsonObject } from '@coracle/api'
import type { TrustedIssuer } from '@coracle/api/authentication'
import type { Clock, Time } from '@coracle/environment'
import { createLocalJWKSet, type JSONWebKeySet } from 'jose'

/** Keys that are older are fetched again when they are used; until they are there the old ones hold. */
export const keysFreshMs = 10 * 60_000

/** Keys are fetched no sooner again than this, however many tokens name a key that is not among them, or how often it failed. */
export const refetchMs = 5_000

/** The keys an issuer signs with at one time, as `jose` asks for them. */
export interface KeySet {
  readonly keyFor: ReturnType<typeof createLocalJWKSet>
  readonly fetchedMs: Time
}

/** Gets JSON from a server with a certificate of these authorities, or of the host's. */
export type GetJson = (url: string, certificateAuthority: string | undefined) => Promise<unknown>

/** Is told of each fetch. */
export interface FetchListener {
  readonly fetched?: (keys: JSONWebKeySet) => void
  readonly failed: (error: Error) => void
}

/** The public keys of an issuer, from where its OpenID configuration says they are. One fetch goes on at a time. */
export class IssuerKeys {
  readonly #issuer: TrustedIssuer
  readonly #clock: Clock
  readonly #get: GetJson
  readonly #told: FetchListener
  #keys: KeySet | undefined
  #fetching: Promise<KeySet> | undefined
  #failed: { readonly error: Error; readonly atMs: Time } | undefined

  constructor(issuer: TrustedIssuer, clock: Clock, get: GetJson, told: FetchListener) {
    this.#issuer = issuer
    this.#clock = clock
    this.#get = get
    this.#told = told
  }

  /** The keys that are known. Rejects where there are none to be had. */
  async current(): Promise<KeySet> {
    const keys = this.#keys
    if (keys === undefined) return this.#fetch()
    // Nobody waits, and whoever comes later has the new ones; a failure was told of.
    if (this.#clock.now() - keys.fetchedMs >= keysFreshMs) this.#fetch().catch(() => {})
    return keys
  }

  /** Keys that were fetched after these; the same where they have only just been. Rejects where they cannot be fetched. */
  async after(keys: KeySet): Promise<KeySet> {
    const known = this.#keys ?? keys
    if (known !== keys || this.#clock.now() - keys.fetchedMs < refetchMs) return known
    return this.#fetch()
  }

  async #fetch(): Promise<KeySet> {
    const failed = this.#failed
    if (failed !== undefined && this.#clock.now() - failed.atMs < refetchMs) throw failed.error
    this.#fetching ??= this.#fetchNow().finally(() => {
      this.#fetching = undefined
    })
    return this.#fetching
  }

  async #fetchNow(): Promise<KeySet> {
    try {
      const jwks = await this.#get(await this.#keysUrl(), this.#issuer.certificateAuthority)
      if (!isKeySet(jwks)) throw new Error('what should be a set of JSON Web Keys is none')
      this.#keys = { keyFor: createLocalJWKSet(jwks), fetchedMs: this.#clock.now() }
      this.#failed = undefined
      this.#told.fetched?.(jwks)
      return this.#keys
    } catch (cause) {
      const error = new Error(`keys of ${this.#issuer.url}: ${cause instanceof Error ? cause.message : cause}`, {
        cause,
      })
      this.#failed = { error, atMs: this.#clock.now() }
      this.#told.failed(error)
      throw error
    }
  }

  async #keysUrl(): Promise<string> {
    const { url, discoveryUrl, certificateAuthority } = this.#issuer
    const wellKnown = `${url.replace(/\/$/, '')}/.well-known/openid-configuration`
    const configuration = await this.#get(discoveryUrl ?? wellKnown, certificateAuthority)
    const { issuer, jwks_uri: keysUrl } = isJsonObject(configuration) ? configuration : {}
    if (issuer !== url) {
      throw new Error(`the issuer calls itself ${JSON.stringify(issuer)}, and is configured as ${JSON.stringify(url)}`)
    }
    if (typeof keysUrl !== 'string') throw new Error('its OpenID configuration has no jwks_uri')
    return keysUrl
  }
}

const isKeySet = (value: unknown): value is JSONWebKeySet =>
  isJsonObject(value) && Array.isArray(value.keys) && value.keys.every(isJsonObject)
