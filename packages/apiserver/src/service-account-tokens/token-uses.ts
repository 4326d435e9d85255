import { dayMs, dayOf, type Secret, secrets, tokenLastUsedLabel } from '@coracle/api'
import type { Environment } from '@coracle/environment'
import { apiServerContext } from '../api-server-user.ts'
import type { Registries } from '../registries.ts'

const options = { dryRun: false, fieldManager: 'coracle', fieldValidation: 'Strict' } as const

/** Notes the days on which tokens that Secrets keep are used, in labels of the Secrets. */
export class TokenUses {
  readonly #registries: Registries
  readonly #environment: Environment
  /** Secrets whose labels are being written. */
  readonly #noting = new Set<string>()

  constructor(registries: Registries, environment: Environment) {
    this.#registries = registries
    this.#environment = environment
  }

  /** To be called at each use: it costs a look at the label. */
  note({ metadata }: Secret): void {
    const { namespace = '', name = '', uid, labels = {} } = metadata
    const { clock, logger } = this.#environment
    const now = clock.now()
    const noted = labels[tokenLastUsedLabel]
    // Clocks of servers differ.
    if (noted === dayOf(now) || noted === dayOf(now + dayMs)) return
    const registry = this.#registries.of(secrets)
    const key = `${namespace}/${name}`
    if (registry === undefined || this.#noting.has(key)) return
    this.#noting.add(key)
    const body = { metadata: { uid, labels: { [tokenLastUsedLabel]: dayOf(now) } } }
    registry
      .patch(apiServerContext('its token is used'), namespace, name, '', { type: 'merge', body }, options)
      .catch((error: unknown) => {
        logger.warn('it was not noted that a token is used', { secret: key, error: String(error) })
      })
      .finally(() => this.#noting.delete(key))
  }
}
