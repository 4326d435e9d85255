import { createHash } from 'node:crypto'
import type { Clock, Counter, Gauge, Histogram, Metric, MetricsRegistry } from '@coracle/environment'

type Result = 'success' | 'failure'

const latencyBuckets = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

/**
 * What becomes of the configuration of authentication, of the keys of issuers and of their tokens, under upstream's names. Issuers, servers, keys
 * and configurations are told by their hashes.
 */
export class AuthenticationMetrics {
  readonly #clock: Clock
  readonly #server: { readonly apiserver_id_hash: string }
  readonly #reloads: Metric<'status' | 'apiserver_id_hash', Counter>
  readonly #reloadedAt: Metric<'status' | 'apiserver_id_hash', Gauge>
  readonly #configuration: Current<'apiserver_id_hash'>
  readonly #latency: Metric<'result' | 'jwt_issuer_hash', Histogram>
  readonly #fetchedAt: Metric<'result' | 'jwt_issuer_hash' | 'apiserver_id_hash', Gauge>
  readonly #keys: Current<'jwt_issuer_hash' | 'apiserver_id_hash'>

  /** `server` names the server. */
  constructor(metrics: MetricsRegistry, clock: Clock, server: string) {
    this.#clock = clock
    this.#server = { apiserver_id_hash: hashOf(server) }
    const ofController = (name: string) => `apiserver_authentication_config_controller_${name}`
    const ofIssuer = (name: string) => `apiserver_authentication_jwt_authenticator_${name}`
    const reloads = ['status', 'apiserver_id_hash'] as const
    this.#reloads = metrics.counter({
      name: ofController('automatic_reloads_total'),
      help: 'How often the configuration of authentication was read anew, by what came of it.',
      labels: reloads,
    })
    this.#reloadedAt = metrics.gauge({
      name: ofController('automatic_reload_last_timestamp_seconds'),
      help: 'When the configuration of authentication was last read anew, by what came of it.',
      labels: reloads,
    })
    this.#configuration = new Current(
      metrics.gauge({
        name: ofController('last_config_info'),
        help: 'The configuration of authentication that is in force.',
        labels: ['apiserver_id_hash', 'hash'],
      }),
    )
    this.#latency = metrics.histogram({
      name: ofIssuer('latency_seconds'),
      help: 'How long it took to find out whose a token is that was not known before.',
      labels: ['result', 'jwt_issuer_hash'],
      buckets: latencyBuckets,
    })
    this.#fetchedAt = metrics.gauge({
      name: ofIssuer('jwks_fetch_last_timestamp_seconds'),
      help: 'When the keys of an issuer were last fetched, by what came of it.',
      labels: ['result', 'jwt_issuer_hash', 'apiserver_id_hash'],
    })
    this.#keys = new Current(
      metrics.gauge({
        name: ofIssuer('jwks_fetch_last_key_set_info'),
        help: 'The keys of an issuer that were fetched last.',
        labels: ['jwt_issuer_hash', 'apiserver_id_hash', 'hash'],
      }),
    )
  }

  /** A configuration is in force. */
  applied(text: string): void {
    this.#configuration.set(this.#server, hashOf(text))
  }

  /** The configuration was read anew. */
  reloaded(status: Result): void {
    const labels = { status, ...this.#server }
    this.#reloads.with(labels).inc()
    this.#reloadedAt.with(labels).set(this.#clock.now() / 1000)
  }

  /** A token of an issuer was looked at. */
  verified(issuer: string, result: Result, seconds: number): void {
    this.#latency.with({ result, jwt_issuer_hash: hashOf(issuer) }).observe(seconds)
  }

  keysFetched(issuer: string, keys: unknown): void {
    this.#fetched(issuer, 'success')
    this.#keys.set(this.#ofIssuer(issuer), hashOf(JSON.stringify(keys)))
  }

  keysNotFetched(issuer: string): void {
    this.#fetched(issuer, 'failure')
  }

  /** An issuer is trusted no more. */
  removed(issuer: string): void {
    for (const result of ['success', 'failure']) this.#fetchedAt.remove({ result, ...this.#ofIssuer(issuer) })
    this.#keys.remove(this.#ofIssuer(issuer))
  }

  #fetched(issuer: string, result: Result): void {
    this.#fetchedAt.with({ result, ...this.#ofIssuer(issuer) }).set(this.#clock.now() / 1000)
  }

  #ofIssuer(issuer: string) {
    return { jwt_issuer_hash: hashOf(issuer), ...this.#server }
  }
}

/** Shows of each thing the hash that it has now, and none that it had before. */
class Current<L extends string> {
  readonly #gauge: Metric<L | 'hash', Gauge>
  readonly #shown = new Map<string, Readonly<Record<L | 'hash', string>>>()

  constructor(gauge: Metric<L | 'hash', Gauge>) {
    this.#gauge = gauge
  }

  set(labels: Readonly<Record<L, string>>, hash: string): void {
    this.remove(labels)
    const all = { ...labels, hash } as Readonly<Record<L | 'hash', string>>
    this.#gauge.with(all).set(1)
    this.#shown.set(JSON.stringify(labels), all)
  }

  remove(labels: Readonly<Record<L, string>>): void {
    const key = JSON.stringify(labels)
    const shown = this.#shown.get(key)
    if (shown !== undefined) this.#gauge.remove(shown)
    this.#shown.delete(key)
  }
}

const hashOf = (text: string): string =>
  text === '' ? '' : `sha256:${createHash('sha256').update(text).digest('hex')}`
