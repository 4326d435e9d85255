import {
  type HorizontalPodAutoscaler,
  type KubernetesObject,
  type LabelSelectorObject,
  type MetricSpec,
  type PodMetrics,
  parseDurationNanos,
  parseTime,
  podMetrics,
  quantityMilli,
  type Resource,
  selectorFromLabelSelector,
} from '@coracle/api'
import type { Client } from '@coracle/client'
import type { PodMetric, PodReadings, Reading } from './readings.ts'

/** The window of metrics that do not tell theirs: metrics-server's of old. */
const windowDefaultMs = 60_000

/** Answers of adapters beyond this many bytes are refused. */
export const metricsBytesMax = 16 * 1024 * 1024

/** How many metrics of one autoscaler are asked for at a time. */
export const metricsAtOnceMax = 10

/** Where the metrics of one autoscaler are read. */
export interface MetricsSource {
  readonly client: Client
  /** The version of custom.metrics.k8s.io that is served; the newest that upstream knows where none is. */
  readonly customVersion: string
  /** Selects the pods of the workload, as a query string. */
  readonly podSelector: string
  readonly signal: AbortSignal
  /** The kinds that are served, for metrics of objects. */
  resources(): readonly Resource[]
}

/** Reads each metric of an autoscaler. What cannot be had is said in place of the reading; only an abort rejects. */
export async function readMetrics(
  autoscaler: HorizontalPodAutoscaler,
  source: MetricsSource,
): Promise<readonly Reading[]> {
  const { namespace = '' } = autoscaler.metadata
  const { metrics = [] } = autoscaler.spec
  // Several metrics may be of the same pods.
  let ofPods: Promise<readonly PodMetrics[]> | undefined
  const podMetricsOnce = () => {
    ofPods ??= listPodMetrics(source, namespace)
    return ofPods
  }
  const read = async (metric: MetricSpec): Promise<Reading> => {
    try {
      return await readMetric(metric, namespace, source, podMetricsOnce)
    } catch (error) {
      source.signal.throwIfAborted()
      return { error: error instanceof Error ? error.message : String(error) }
    }
  }
  const readings: Reading[] = []
  for (let at = 0; at < metrics.length; at += metricsAtOnceMax) {
    readings.push(...(await Promise.all(metrics.slice(at, at + metricsAtOnceMax).map(read))))
  }
  return readings
}

async function readMetric(
  metric: MetricSpec,
  namespace: string,
  source: MetricsSource,
  podMetricsOnce: () => Promise<readonly PodMetrics[]>,
): Promise<Reading> {
  const { resource, containerResource, pods, object, external } = metric
  if (resource !== undefined) return { pods: usageOfPods(await podMetricsOnce(), resource.name) }
  if (containerResource !== undefined) {
    const { name, container } = containerResource
    return { pods: usageOfContainers(await podMetricsOnce(), name, container) }
  }
  if (pods !== undefined) return { pods: await readPodsMetric(pods.metric, namespace, source) }
  if (object !== undefined) return { millis: await readObjectMetric(object, namespace, source) }
  if (external !== undefined) return { millis: await readExternalMetric(external.metric, namespace, source) }
  return { error: `nothing says where a metric of type ${JSON.stringify(metric.type)} comes from` }
}

async function listPodMetrics({ client, podSelector, signal }: MetricsSource, namespace: string) {
  const { items } = await unlessRefused('resource', () =>
    client.list(podMetrics, { namespace, labelSelector: podSelector, signal }),
  )
  if (items.length === 0) throw new Error('no metrics returned from resource metrics API')
  return items
}

/** A pod of which a container does not tell is left out: what it uses is not known. */
function usageOfPods(metrics: readonly PodMetrics[], resource: string): PodReadings {
  return new Map(
    metrics.flatMap((pod) => {
      const amounts = pod.containers.map(({ usage }) => usage[resource])
      if (amounts.length === 0 || amounts.some((amount) => amount === undefined)) return []
      const millis = amounts.reduce((sum, amount) => sum + quantityMilli(amount ?? '0'), 0)
      return [[pod.metadata.name ?? '', readingOf(pod, millis)] as const]
    }),
  )
}

function usageOfContainers(metrics: readonly PodMetrics[], resource: string, container: string): PodReadings {
  return new Map(
    metrics.flatMap((pod) => {
      const amount = pod.containers.find(({ name }) => name === container)?.usage[resource]
      return amount === undefined ? [] : [[pod.metadata.name ?? '', readingOf(pod, quantityMilli(amount))] as const]
    }),
  )
}

function readingOf({ timestamp, window }: PodMetrics, millis: number): PodMetric {
  return { millis, atMs: parseTime(timestamp), windowMs: Number(parseDurationNanos(window) ?? 0n) / 1e6 }
}

interface Identifier {
  readonly name: string
  readonly selector?: LabelSelectorObject | undefined
}

/** An element of a MetricValueList of custom.metrics.k8s.io, in either version. */
interface CustomMetric {
  readonly describedObject: { readonly name: string }
  readonly timestamp?: string
  readonly windowSeconds?: number
  readonly window?: number
  readonly value: string
}

async function readPodsMetric(metric: Identifier, namespace: string, source: MetricsSource): Promise<PodReadings> {
  const values = await customMetrics(source, podResource(source), { namespace, name: '*' }, metric, source.podSelector)
  if (values.length === 0) throw new Error('no metrics returned from custom metrics API')
  return new Map(
    values.map(({ describedObject, timestamp = '', windowSeconds, window, value }) => {
      const seconds = windowSeconds ?? window
      const windowMs = seconds === undefined ? windowDefaultMs : seconds * 1000
      return [describedObject.name, { millis: quantityMilli(value), atMs: parseTime(timestamp), windowMs }]
    }),
  )
}

async function readObjectMetric(
  { describedObject, metric }: NonNullable<MetricSpec['object']>,
  namespace: string,
  source: MetricsSource,
): Promise<number> {
  const { apiVersion = '', kind, name } = describedObject
  const group = apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : ''
  const about = kind === 'Namespace' && group === '' ? namespaceResource : resourceOf(source, group, kind)
  const isNamespaced = about !== namespaceResource && about.namespaced
  const key = isNamespaced ? { namespace, name } : { name: about === namespaceResource ? namespace : name }
  const values = await customMetrics(source, about, key, metric, '')
  const [value] = values
  if (value === undefined || values.length > 1) {
    const why = `the custom metrics API server returned ${values.length} results when we asked for exactly one`
    throw new Error(`unable to fetch metrics from custom metrics API: ${why}`)
  }
  return quantityMilli(value.value)
}

const namespaceResource = { group: '', version: 'v1', kind: 'Namespace', plural: 'namespaces', namespaced: false }

const podResource = ({ resources }: MetricsSource): Resource =>
  resources().find(({ group, kind }) => group === '' && kind === 'Pod') ?? {
    ...namespaceResource,
    kind: 'Pod',
    plural: 'pods',
    namespaced: true,
  }

function resourceOf({ resources }: MetricsSource, group: string, kind: string): Resource {
  const found = resources().find((each) => each.group === group && each.kind === kind)
  if (found === undefined) {
    throw new Error(`no matches for kind ${JSON.stringify(kind)} in group ${JSON.stringify(group)}`)
  }
  return found
}

/** The API of custom metrics has a path like a subresource for each metric of each object. */
async function customMetrics(
  { client, customVersion, signal }: MetricsSource,
  about: Resource,
  key: { readonly namespace?: string; readonly name: string },
  { name, selector }: Identifier,
  labelSelector: string,
): Promise<readonly CustomMetric[]> {
  const metricLabelSelector = selector === undefined ? '' : selectorFromLabelSelector(selector).toString()
  const query = {
    ...(labelSelector === '' ? {} : { labelSelector }),
    ...(metricLabelSelector === '' ? {} : { metricLabelSelector }),
  }
  const { group, plural, namespaced } = about
  const path: Resource = {
    group: 'custom.metrics.k8s.io',
    version: customVersion,
    kind: 'MetricValueList',
    plural: group === '' ? plural : `${plural}.${group}`,
    namespaced,
  }
  const pieces = await unlessRefused('custom', () => client.stream(path, key, name, query, signal))
  return ((await readJson(pieces)) as { readonly items?: readonly CustomMetric[] }).items ?? []
}

interface ExternalMetric extends KubernetesObject {
  readonly value: string
}

async function readExternalMetric(
  { name, selector }: Identifier,
  namespace: string,
  { client, signal }: MetricsSource,
): Promise<number> {
  const path: Resource<ExternalMetric> = {
    group: 'external.metrics.k8s.io',
    version: 'v1beta1',
    kind: 'ExternalMetricValueList',
    plural: name,
    namespaced: true,
  }
  const labelSelector = selector === undefined ? '' : selectorFromLabelSelector(selector).toString()
  const options = { namespace, signal, ...(labelSelector === '' ? {} : { labelSelector }) }
  const { items } = await unlessRefused('external', () => client.list(path, options))
  if (items.length === 0) throw new Error('no metrics returned from external metrics API')
  return items.reduce((sum, { value }) => sum + quantityMilli(value), 0)
}

async function unlessRefused<T>(api: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read()
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new Error(`unable to fetch metrics from ${api} metrics API: ${why}`, { cause: error })
  }
}

async function readJson(pieces: AsyncIterable<Uint8Array>): Promise<unknown> {
  const parts: Uint8Array[] = []
  let size = 0
  for await (const piece of pieces) {
    size += piece.length
    if (size > metricsBytesMax) throw new Error(`metrics take more than ${metricsBytesMax} bytes`)
    parts.push(piece)
  }
  return JSON.parse(Buffer.concat(parts).toString())
}
