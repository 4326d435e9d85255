import { compareText, type EndpointSlice, type Service } from '@coracle/api'
import { type Informer, keyOf, splitKey } from '@coracle/client'
import type { Environment, Timer } from '@coracle/environment'
import { serviceOf, sliceIndexes } from '../zone/cluster-view.ts'
import { type Place, serviceLines } from './service-lines.ts'

/** Lines for one pod, at most: resolvers read its file with each look-up, from the beginning. */
export const hostLinesMax = 5000
/** Changes that come within so long of the first are told of with it. */
export const gatherMs = 100
/** What has changed is told of this often at most. */
export const restMs = 1000

export interface ServiceHostsOptions extends Place {
  readonly environment: Environment
  /** Both have been started, and stay their owner's. */
  readonly services: Informer<Service>
  readonly slices: Informer<EndpointSlice>
}

/** Lines, for pods of their namespace and for all others. */
interface Lines {
  readonly own: string
  readonly others: string
  readonly count: number
}

interface NamespaceLines {
  /** By the name of the service. */
  readonly services: Map<string, Lines>
  /** All of them. Undefined where one has changed since they were put together. */
  lines: Lines | undefined
}

/**
 * The names of services as lines of hosts files, for pods whose processes cannot ask a server of names. A change costs the
 * service that it is about, and the lines of its namespace are put together anew.
 */
export class ServiceHosts {
  readonly #options: ServiceHostsOptions
  readonly #namespaces = new Map<string, NamespaceLines>()
  /** Keys of services that are to be looked at. */
  readonly #changed = new Set<string>()
  readonly #listeners = new Set<() => void>()
  readonly #forget: readonly (() => void)[]
  #hasNews = false
  #timer: Timer | undefined
  #toldAtMs = Number.NEGATIVE_INFINITY
  #toldOfLimit = false

  constructor(options: ServiceHostsOptions) {
    this.#options = options
    const { services, slices } = options
    const serviceChanged = (service: Service): void => this.#hasChanged(keyOf(service))
    const sliceChanged = (slice: EndpointSlice): void => this.#hasChanged(serviceOf(slice))
    this.#forget = [
      slices.addIndex('dnsService', sliceIndexes.dnsService),
      services.addHandler({
        add: serviceChanged,
        update: (_, service) => serviceChanged(service),
        delete: serviceChanged,
      }),
      slices.addHandler({
        add: sliceChanged,
        update(old, slice) {
          sliceChanged(old)
          sliceChanged(slice)
        },
        delete: sliceChanged,
      }),
    ]
    // What has been there is no news.
    this.#lookAtChanged()
    this.#hasNews = false
  }

  /**
   * The lines for pods of a namespace, by what is known now, in order. Where there are more than `hostLinesMax`, those of the services of the
   * namespace itself, as many as that.
   */
  lines(namespace: string): string {
    this.#lookAtChanged()
    const others: string[] = []
    let count = 0
    for (const [each, ofNamespace] of inOrder(this.#namespaces)) {
      ofNamespace.lines ??= joined(inOrder(ofNamespace.services).map(([, ofService]) => ofService))
      count += ofNamespace.lines.count
      if (each !== namespace) others.push(ofNamespace.lines.others)
    }
    const own = this.#namespaces.get(namespace)?.lines?.own ?? ''
    if (count <= hostLinesMax) return own + others.join('')
    this.#tellOfLimit(count)
    return firstLines(own, hostLinesMax)
  }

  /** Calls back when lines have changed, for many changes at once. Returns the way to end that. */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Follows nothing any more. */
  close(): void {
    for (const forget of this.#forget) forget()
    this.#timer?.cancel()
  }

  #hasChanged(key: string | undefined): void {
    if (key === undefined) return
    this.#changed.add(key)
    if (this.#timer !== undefined) return
    const { clock } = this.#options.environment
    const delayMs = Math.max(gatherMs, this.#toldAtMs + restMs - clock.monotonicMs())
    this.#timer = clock.setTimer(delayMs, () => this.#tell())
  }

  #tell(): void {
    this.#timer = undefined
    this.#lookAtChanged()
    if (!this.#hasNews) return
    this.#hasNews = false
    this.#toldAtMs = this.#options.environment.clock.monotonicMs()
    for (const listener of this.#listeners) listener()
  }

  #lookAtChanged(): void {
    for (const key of this.#changed) this.#lookAt(key)
    this.#changed.clear()
  }

  #lookAt(key: string): void {
    const { services, slices } = this.#options
    const { namespace = '', name } = splitKey(key)
    const known = this.#namespaces.get(namespace) ?? { services: new Map<string, Lines>(), lines: undefined }
    const service = services.get(key)
    const { own, others } =
      service === undefined ? noLines : serviceLines(service, slices.byIndex('dnsService', key), this.#options)
    const lines = { own: own.join(''), others: others.join(''), count: own.length }
    if (lines.own === (known.services.get(name)?.own ?? '')) return
    if (lines.count === 0) known.services.delete(name)
    else known.services.set(name, lines)
    known.lines = undefined
    if (known.services.size === 0) this.#namespaces.delete(namespace)
    else this.#namespaces.set(namespace, known)
    this.#hasNews = true
  }

  #tellOfLimit(count: number): void {
    if (this.#toldOfLimit) return
    this.#toldOfLimit = true
    this.#options.environment.logger.warn(
      'there are too many names of services for hosts files: processes find those of their own namespace by name',
      { count, most: hostLinesMax },
    )
  }
}

const noLines = { own: [], others: [] }

const joined = (all: readonly Lines[]): Lines => ({
  own: all.map(({ own }) => own).join(''),
  others: all.map(({ others }) => others).join(''),
  count: all.reduce((sum, { count }) => sum + count, 0),
})

const inOrder = <T>(map: ReadonlyMap<string, T>): readonly (readonly [string, T])[] =>
  [...map].sort(([a], [b]) => compareText(a, b))

const firstLines = (text: string, count: number): string =>
  text
    .split('\n')
    .slice(0, count)
    .map((line) => `${line}\n`)
    .join('')
