import type { WatchOptions } from '@coracle/client'
import type { Environment } from '@coracle/environment'
import type { Registry, RegistryWatch, WatchDelivery } from '../registry-contract.ts'
import type { WorkTurns } from '../work-turns.ts'
import type { LongAnswer } from './long-answer.ts'
import type { EventStream } from './representation/representation.ts'

/** A client that is further behind than this is dropped; it watches again from where it was. */
export const watchBufferBytesMax = 8 * 1024 * 1024

/** Watches end after a random time between this and twice as much unless they say otherwise (upstream's default). */
const watchMinSeconds = 1800

/** How long a client may take for what was sent before its watch ended. */
const lastEventsGraceMs = 30_000

export interface WatchRequest {
  readonly registry: Registry
  readonly options: WatchOptions
  readonly events: EventStream
}

/**
 * Streams the events of a watch until the watch ends or `signal` is aborted. A client that reads
 * slowly gets them as it can take them, within the limits of the registry and of this side's buffer.
 * Rejects with an ApiError where the watch cannot begin; nothing has been sent then.
 */
export async function streamWatch(
  { output, begin }: LongAnswer,
  { registry, options, events }: WatchRequest,
  { clock, random }: Environment,
  signal: AbortSignal,
  turns: WorkTurns,
): Promise<void> {
  let watch: RegistryWatch | undefined
  /** What is to be written in a later turn: one event may go to thousands of watchers. */
  let waiting: WatchDelivery[] = []
  const onEvent = (delivery: WatchDelivery): boolean => {
    if (output.destroyed) return false
    const wait = waiting.length > 0 ? undefined : turns.take()
    if (waiting.length === 0 && wait === undefined) return write(delivery)
    waiting.push(delivery)
    watch?.pause()
    void wait?.then(() => {
      if (!writeWaiting()) watch?.close()
      else if (!output.writableNeedDrain) watch?.resume()
    })
    return true
  }
  const writeWaiting = (): boolean => {
    const deliveries = waiting
    waiting = []
    return deliveries.every(write)
  }
  const write = (delivery: WatchDelivery): boolean => {
    if (output.destroyed) return false
    begin()
    if (output.write(events.encode(delivery))) return true
    watch?.pause()
    if (output.writableLength <= watchBufferBytesMax) return true
    output.destroy()
    return false
  }
  const onEnd = () => {
    if (output.destroyed || output.writableEnded || !writeWaiting()) return
    begin()
    output.end()
    // One that does not read would keep its connection for ever.
    const grace = clock.setTimer(lastEventsGraceMs, () => output.destroy())
    output.once('close', () => grace.cancel())
  }
  output.on('drain', () => watch?.resume())

  const timeoutSeconds = options.timeoutSeconds ?? Math.round(watchMinSeconds * (1 + random.next()))
  watch = await registry.watch({ ...options, timeoutSeconds }, onEvent, onEnd)
  if (signal.aborted || output.destroyed) {
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
