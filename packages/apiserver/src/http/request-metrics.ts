import type { ResourceDefinition } from '@coracle/api'
import type { Clock, Counter, Gauge, Histogram, Metric, MetricsRegistry } from '@coracle/environment'
import type { Exchange } from './exchange.ts'
import type { ResourceRoute, Route } from './routes.ts'

/** The buckets of upstream's `apiserver_request_duration_seconds`. */
const secondsBuckets = [
  0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60,
]

/** Requests that are being answered now, those left out that go on for long by nature. */
export interface RequestsInFlight {
  readonly mutating: number
  readonly readOnly: number
}

const routeLabels = ['component', 'group', 'resource', 'scope', 'subresource', 'verb', 'version'] as const
const requestLabels = [...routeLabels, 'dry_run'] as const
type RouteLabels = Readonly<Record<(typeof routeLabels)[number], string>>
type RequestLabel = (typeof requestLabels)[number]

/**
 * Counts requests for resources and how long they take, under the names and labels that are stable upstream
 * (apiserver/pkg/endpoints/metrics). Requests for what there is not, or that their user may not make, are not counted, as there.
 */
export class RequestMetrics {
  readonly #clock: Clock
  readonly #requests: Metric<RequestLabel | 'code', Counter>
  readonly #seconds: Metric<RequestLabel, Histogram>
  readonly #longRunning: Metric<(typeof routeLabels)[number], Gauge>
  /** Ends what looks at the requests that are being answered. */
  readonly close: () => void
  /** Series are kept by what a request is about, since to look them up by labels takes longer than to write them. */
  readonly #byDefinition = new WeakMap<ResourceDefinition, RouteSeries[]>()

  constructor(metrics: MetricsRegistry, clock: Clock, inFlight: () => RequestsInFlight) {
    this.#clock = clock
    this.#requests = metrics.counter({
      name: 'apiserver_request_total',
      help: 'Requests by verb, dry run, resource, scope and code of the answer.',
      labels: [...requestLabels, 'code'],
    })
    this.#seconds = metrics.histogram({
      name: 'apiserver_request_duration_seconds',
      help: 'Seconds until a request was answered, by verb, dry run, resource and scope.',
      labels: requestLabels,
      buckets: secondsBuckets,
    })
    this.#longRunning = metrics.gauge({
      name: 'apiserver_longrunning_requests',
      help: 'Watches, logs and connections that go on now.',
      labels: routeLabels,
    })
    const current = metrics.gauge({
      name: 'apiserver_current_inflight_requests',
      help: 'Requests that are being answered now, by whether they change something.',
      labels: ['request_kind'],
    })
    this.close = metrics.onCollect(() => {
      const { mutating, readOnly } = inFlight()
      current.with({ request_kind: 'mutating' }).set(mutating)
      current.with({ request_kind: 'readOnly' }).set(readOnly)
    })
  }

  /** Counts a request until its answer has gone out, or its client. */
  follow(
    { request, response, query, startedMs }: Exchange,
    route: ResourceRoute,
    definition: ResourceDefinition,
  ): void {
    const verb = verbOf(route, definition, request.headers['content-type'])
    if (verb === undefined) return
    const series = this.#seriesOf(route, definition, verb)
    const dryRun = query.size > 0 && query.get('dryRun') === 'All' ? 'All' : ''
    series.longRunning?.inc()
    response.on('close', () => {
      series.longRunning?.dec()
      series.answered(dryRun, response.statusCode, (this.#clock.monotonicMs() - startedMs) / 1000)
    })
  }

  #seriesOf(route: ResourceRoute, definition: ResourceDefinition, verb: string): RouteSeries {
    const { subresource } = route
    const scope = scopeOf(route)
    const all = this.#byDefinition.get(definition) ?? []
    for (const series of all) if (series.isOf(verb, scope, subresource)) return series
    const { group, version, plural } = definition
    const labels = { component: 'apiserver', group, resource: plural, scope, subresource, verb, version }
    const isLong = verb === 'WATCH' || longSubresources.has(subresource)
    const longRunning = isLong ? this.#longRunning.with(labels) : undefined
    const made = new RouteSeries(labels, { requests: this.#requests, seconds: this.#seconds }, longRunning)
    all.push(made)
    this.#byDefinition.set(definition, all)
    return made
  }
}

interface AnsweredMetrics {
  readonly requests: Metric<RequestLabel | 'code', Counter>
  readonly seconds: Metric<RequestLabel, Histogram>
}

/** The series of requests of one kind. */
class RouteSeries {
  readonly longRunning: Gauge | undefined
  readonly #labels: RouteLabels
  readonly #metrics: AnsweredMetrics
  readonly #byDryRun = new Map<string, { readonly seconds: Histogram; readonly codes: Map<number, Counter> }>()

  constructor(labels: RouteLabels, metrics: AnsweredMetrics, longRunning: Gauge | undefined) {
    this.#labels = labels
    this.#metrics = metrics
    this.longRunning = longRunning
  }

  isOf(verb: string, scope: string, subresource: string): boolean {
    const labels = this.#labels
    return labels.verb === verb && labels.scope === scope && labels.subresource === subresource
  }

  answered(dryRun: '' | 'All', code: number, seconds: number): void {
    const series = this.#byDryRun.get(dryRun) ?? this.#begin(dryRun)
    series.seconds.observe(seconds)
    const counter =
      series.codes.get(code) ?? this.#metrics.requests.with({ ...this.#labels, dry_run: dryRun, code: String(code) })
    series.codes.set(code, counter)
    counter.inc()
  }

  #begin(dryRun: string) {
    const made = { seconds: this.#metrics.seconds.with({ ...this.#labels, dry_run: dryRun }), codes: new Map() }
    this.#byDryRun.set(dryRun, made)
    return made
  }
}

const verbs: Readonly<Record<string, string>> = {
  get: 'GET',
  list: 'LIST',
  watch: 'WATCH',
  create: 'POST',
  update: 'PUT',
  patch: 'PATCH',
  delete: 'DELETE',
  deletecollection: 'DELETECOLLECTION',
}

const connecting: ReadonlySet<string> = new Set(['attach', 'exec', 'portforward', 'proxy'])
const longSubresources: ReadonlySet<string> = new Set([...connecting, 'log'])

/** Whether a request goes on for long by nature, whoever serves it; watches are left out. */
export const isLongSubresource = (route: Route): boolean =>
  route.kind === 'resource' && route.verb !== 'watch' && longSubresources.has(route.subresource)

/** Upstream's name of what is done; undefined where it cannot be done. */
function verbOf(
  { verb, subresource }: ResourceRoute,
  definition: ResourceDefinition,
  contentType = '',
): string | undefined {
  if (subresource !== '' && !hasSubresource(definition, subresource)) return undefined
  if (connecting.has(subresource)) return 'CONNECT'
  return verb === 'patch' && contentType.startsWith('application/apply-patch') ? 'APPLY' : verbs[verb]
}

function hasSubresource({ hasStatus, scale, subresources }: ResourceDefinition, name: string): boolean {
  return (
    (name === 'status' && hasStatus) || (name === 'scale' && scale !== undefined) || Object.hasOwn(subresources, name)
  )
}

/** Whether a request is about one object, those of a namespace, or all. */
function scopeOf({ name, namespace, verb }: ResourceRoute): 'resource' | 'namespace' | 'cluster' {
  return name !== '' || verb === 'create' ? 'resource' : namespace !== '' ? 'namespace' : 'cluster'
}
