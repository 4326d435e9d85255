import type { ServerResponse } from 'node:http'
import {
  apiVersionOf,
  columnDefinitions,
  type IncludeObject,
  type KubernetesObject,
  partialObjectMetadata,
  type ResourceDefinition,
  type TableColumnDefinition,
  tableRow,
} from '@coracle/api'
import type { WatchOptions } from '@coracle/client'
import type { Clock, Environment } from '@coracle/environment'
import type { Registry, RegistryWatch, WatchDelivery } from '../registry-contract.ts'
import type { Rendering } from './media-types.ts'
import type { WorkTurns } from './work-turns.ts'

/** A client that is further behind than this is dropped; it watches again from where it was. */
export const watchBufferBytesMax = 8 * 1024 * 1024

/** Watches end after a random time between this and twice as much unless they say otherwise (upstream's default). */
const watchMinSeconds = 1800

/** How long a client may take for what was sent before its watch ended. */
const lastEventsGraceMs = 30_000

export interface WatchRequest {
  readonly registry: Registry
  readonly options: WatchOptions
  readonly rendering: Rendering
  readonly includeObject: IncludeObject
}

/**
 * Streams the events of a watch, a line of JSON each, until the watch ends or `signal` is aborted. A client that reads
 * slowly gets them as it can take them, within the limits of the registry and of this side's buffer.
 * Rejects with an ApiError where the watch cannot begin; nothing has been sent then.
 */
export async function streamWatch(
  response: ServerResponse,
  { registry, options, rendering, includeObject }: WatchRequest,
  { clock, random }: Environment,
  signal: AbortSignal,
  turns: WorkTurns,
): Promise<void> {
  const render = rendererOf(registry.definition, rendering, includeObject, clock)
  const begin = () => {
    if (response.headersSent) return
    response.writeHead(200, ['Content-Type', 'application/json', 'Cache-Control', 'no-cache, private'])
    response.flushHeaders()
  }
  let watch: RegistryWatch | undefined
  /** What is to be written in a later turn: one event may go to thousands of watchers. */
  let waiting: WatchDelivery[] = []
  const onEvent = (delivery: WatchDelivery): boolean => {
    if (response.destroyed) return false
    const wait = waiting.length > 0 ? undefined : turns.take()
    if (waiting.length === 0 && wait === undefined) return write(delivery)
    waiting.push(delivery)
    watch?.pause()
    void wait?.then(() => {
      if (!writeWaiting()) watch?.close()
      else if (!response.writableNeedDrain) watch?.resume()
    })
    return true
  }
  const writeWaiting = (): boolean => {
    const deliveries = waiting
    waiting = []
    return deliveries.every(write)
  }
  const write = (delivery: WatchDelivery): boolean => {
    if (response.destroyed) return false
    begin()
    if (response.write(render(delivery))) return true
    watch?.pause()
    if (response.writableLength <= watchBufferBytesMax) return true
    response.destroy()
    return false
  }
  const onEnd = () => {
    if (response.destroyed || response.writableEnded || !writeWaiting()) return
    begin()
    response.end()
    // One that does not read would keep its connection for ever.
    const grace = clock.setTimer(lastEventsGraceMs, () => response.destroy())
    response.once('close', () => grace.cancel())
  }
  response.on('drain', () => watch?.resume())

  const timeoutSeconds = options.timeoutSeconds ?? Math.round(watchMinSeconds * (1 + random.next()))
  watch = await registry.watch({ ...options, timeoutSeconds }, onEvent, onEnd)
  if (signal.aborted || response.destroyed) {
    watch.close()
    onEnd()
    return
  }
  begin()
  const stop = () => {
    watch.close()
    onEnd()
  }
  signal.addEventListener('abort', stop, { once: true })
}

type Render = (delivery: WatchDelivery) => Buffer

function rendererOf(
  definition: ResourceDefinition,
  rendering: Rendering,
  includeObject: IncludeObject,
  clock: Clock,
): Render {
  const { as, metaVersion } = rendering
  if (as === undefined) return (delivery) => delivery.bytes
  const apiVersion = `meta.k8s.io/${metaVersion}`
  if (as !== 'Table') {
    return (delivery) =>
      delivery.event.type === 'ERROR'
        ? delivery.bytes
        : lineOf(delivery.event.type, { ...partialObjectMetadata(delivery.event.object), apiVersion })
  }
  // Clients keep the heads of the first table for all that follow.
  let heads: readonly TableColumnDefinition[] | null = columnDefinitions(definition)
  return (delivery) => {
    const { event } = delivery
    if (event.type === 'ERROR') return delivery.bytes
    const { object } = event
    const row =
      event.type === 'BOOKMARK'
        ? { cells: [], object: bookmarkObject(definition, object, includeObject) }
        : tableRow(definition, object, clock.now(), includeObject)
    const table = {
      kind: 'Table',
      apiVersion,
      metadata: { resourceVersion: object.metadata.resourceVersion ?? '' },
      columnDefinitions: heads,
      rows: [row],
    }
    heads = null
    return lineOf(event.type, table)
  }
}

/** A bookmark has no fields to make cells of: only what tells the position. */
function bookmarkObject(definition: ResourceDefinition, object: KubernetesObject, includeObject: IncludeObject) {
  if (includeObject === 'None') return null
  if (includeObject === 'Metadata') return partialObjectMetadata(object)
  return { kind: definition.kind, apiVersion: apiVersionOf(definition), metadata: object.metadata }
}

const lineOf = (type: string, object: unknown): Buffer => Buffer.from(`${JSON.stringify({ type, object })}\n`)
