import { type EventV1, eventsV1, formatMicroTime } from '@coracle/api'
import type { Environment, Timer } from '@coracle/environment'
import { BoundedMap } from './bounded-map.ts'
import type { Client } from './client.ts'
import { storeEvent } from './counted-event.ts'
import { correlatorEntriesMax, createSpamFilter } from './event-correlator.ts'
import { eventName, eventNamespaceOf, identityText, referenceTo, shorten } from './event-parts.ts'
import type { EventDetails, EventRecorder, EventSource, EventTarget, EventType } from './event-recorder.ts'
import { EventWriter, type WaitingEvent } from './event-writer.ts'

/** What happens again within this time continues the series; later it is another Event (client-go's). */
export const seriesGapMaxMs = 360_000

/** How often the count of a series is written, at most. Its first repetition is written at once. */
export const seriesRefreshMs = 60_000

/** One Event object, and the series it is the first of. */
interface Entry extends WaitingEvent {
  readonly type: EventType
  readonly message: string
  readonly details: EventDetails
  readonly firstMs: number
  name: string
  lastMs: number
  count: number
  /** The count the server has; 0 where it does not have the event. */
  storedCount: number
  writtenMs: number
  refresh: Timer | undefined
  /** Whether it is to be written, perhaps once more: what is being written may say less. */
  isDue: boolean
}

/**
 * Events of events.k8s.io/v1 (KEP-383). Events are alike when object, type, reason, action and reporter are: the note is that of the
 * first. An object that has changed since is another one to them, as upstream. An object that keeps failing is written about 25 times, then
 * once in five minutes.
 */
export class SeriesEventRecorder implements EventRecorder {
  readonly #client: Client
  readonly #environment: Environment
  readonly #source: EventSource
  readonly #entries = new BoundedMap<string, Entry>(correlatorEntriesMax)
  readonly #isSpam: (about: string) => boolean
  readonly #writer: EventWriter<Entry>

  constructor(client: Client, environment: Environment, source: EventSource) {
    this.#client = client
    this.#environment = environment
    this.#source = source
    this.#isSpam = createSpamFilter(environment.clock)
    this.#writer = new EventWriter(environment, async (entry) => {
      entry.isDue = false
      await this.#write(entry)
      // Further repetitions have a time of their own.
      return !entry.isDue
    })
  }

  event(about: EventTarget, type: EventType, reason: string, message: string, details: EventDetails = {}): void {
    if (this.#writer.isStopped) return
    const { clock } = this.#environment
    const nowMs = clock.now()
    const identity = identityText(about)
    const related = details.related === undefined ? '' : identityText(details.related)
    const { resourceVersion = '' } = about.metadata
    const what = [type, reason, details.action ?? reason, details.fieldPath ?? '']
    const key = [identity, resourceVersion, related, ...what].join('\n')
    const entry = this.#entries.get(key)
    if (entry === undefined || nowMs - entry.lastMs > seriesGapMaxMs) {
      const name = eventName(about, this.#environment)
      const counts = { count: 1, storedCount: 0, writtenMs: 0, refresh: undefined, isPending: false, isDue: true }
      const started = { about, type, reason, message: shorten(message), details, firstMs: nowMs, name, lastMs: nowMs }
      const first: Entry = { ...started, ...counts }
      this.#entries.set(key, first)
      if (!this.#isSpam(identity)) this.#writer.enqueue(first)
      return
    }
    entry.count += 1
    entry.lastMs = nowMs
    this.#continueSeries(entry, identity, nowMs)
  }

  flush(): Promise<void> {
    return this.#writer.flush()
  }

  stop(): void {
    this.#writer.stop()
  }

  #continueSeries(entry: Entry, identity: string, nowMs: number): void {
    if (entry.refresh !== undefined) return
    const write = () => {
      entry.refresh = undefined
      if (this.#isSpam(identity)) return
      entry.isDue = true
      this.#writer.enqueue(entry)
    }
    const waitMs = entry.count === 2 ? 0 : entry.writtenMs + seriesRefreshMs - nowMs
    if (waitMs <= 0) write()
    else entry.refresh = this.#environment.clock.setTimer(waitMs, write, { housekeeping: true })
  }

  #write(entry: Entry): Promise<void> {
    const { count, lastMs } = entry
    entry.writtenMs = this.#environment.clock.now()
    return storeEvent(this.#client, this.#environment, entry, {
      resource: eventsV1,
      raised: { series: { count, lastObservedTime: formatMicroTime(lastMs) } },
      made: () => this.#objectOf(entry),
    })
  }

  #objectOf({ about, details, name, type, reason, message, firstMs, lastMs, count }: Entry): EventV1 {
    const { component, host, instance = host ?? component } = this.#source
    const { annotations, related, action = reason, fieldPath } = details
    return {
      apiVersion: 'events.k8s.io/v1',
      kind: 'Event',
      metadata: { name, namespace: eventNamespaceOf(about), ...(annotations === undefined ? {} : { annotations }) },
      eventTime: formatMicroTime(firstMs),
      ...(count === 1 ? {} : { series: { count, lastObservedTime: formatMicroTime(lastMs) } }),
      reportingController: component,
      reportingInstance: instance,
      action,
      reason,
      regarding: referenceTo(about, fieldPath),
      ...(related === undefined ? {} : { related: referenceTo(related) }),
      note: message,
      type,
    }
  }
}
