import { type Event as CoreEvent, events, formatTime } from '@coracle/api'
import type { Environment } from '@coracle/environment'
import { BoundedMap } from './bounded-map.ts'
import type { Client } from './client.ts'
import { storeEvent } from './counted-event.ts'
import { correlatorEntriesMax, createEventCorrelator } from './event-correlator.ts'
import { eventName, eventNamespaceOf, identityText, referenceTo, shorten } from './event-parts.ts'
import type { EventDetails, EventRecorder, EventSource, EventTarget, EventType } from './event-recorder.ts'
import { EventWriter, type WaitingEvent } from './event-writer.ts'

/** One Event object: identical occurrences only raise its count. */
interface Entry extends WaitingEvent {
  readonly type: EventType
  readonly details: EventDetails
  readonly firstMs: number
  readonly isCombined: boolean
  name: string
  message: string
  lastMs: number
  count: number
  /** The count the server has; 0 where it does not have the event. */
  storedCount: number
}

/** Events of core/v1, counted and combined by the rules of client-go. */
export class CoreEventRecorder implements EventRecorder {
  readonly #client: Client
  readonly #environment: Environment
  readonly #source: EventSource
  readonly #correlate: ReturnType<typeof createEventCorrelator>
  readonly #entries = new BoundedMap<string, Entry>(correlatorEntriesMax)
  readonly #writer: EventWriter<Entry>

  constructor(client: Client, environment: Environment, source: EventSource) {
    this.#client = client
    this.#environment = environment
    this.#source = source
    this.#correlate = createEventCorrelator(environment.clock)
    this.#writer = new EventWriter(environment, async (entry) => {
      await this.#write(entry)
      return entry.storedCount === entry.count
    })
  }

  event(about: EventTarget, type: EventType, reason: string, message: string, details: EventDetails = {}): void {
    if (this.#writer.isStopped) return
    const correlated = this.#correlate({
      about: identityText(about),
      what: [type, reason, details.fieldPath ?? ''].join('\n'),
      message,
    })
    const entry =
      this.#entries.get(correlated.key) ?? this.#newEntry(about, type, reason, details, correlated.isCombined)
    entry.message = shorten(correlated.message)
    entry.lastMs = this.#environment.clock.now()
    entry.count += 1
    this.#entries.set(correlated.key, entry)
    if (!correlated.isSpam) this.#writer.enqueue(entry)
  }

  flush(): Promise<void> {
    return this.#writer.flush()
  }

  stop(): void {
    this.#writer.stop()
  }

  #newEntry(about: EventTarget, type: EventType, reason: string, details: EventDetails, isCombined: boolean): Entry {
    const firstMs = this.#environment.clock.now()
    const name = eventName(about, this.#environment)
    const counts = { count: 0, storedCount: 0, isPending: false }
    return { about, type, reason, details, isCombined, firstMs, name, message: '', lastMs: firstMs, ...counts }
  }

  #write(entry: Entry): Promise<void> {
    const { count, message, lastMs } = entry
    return storeEvent(this.#client, this.#environment, entry, {
      resource: events,
      raised: { count, message, lastTimestamp: formatTime(lastMs) },
      made: () => this.#objectOf(entry),
    })
  }

  #objectOf(entry: Entry): CoreEvent {
    const { about, details } = entry
    const { host } = this.#source
    const component = details.component ?? this.#source.component
    return {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: {
        name: entry.name,
        namespace: eventNamespaceOf(about),
        ...(details.annotations === undefined ? {} : { annotations: details.annotations }),
      },
      involvedObject: referenceTo(about, details.fieldPath),
      type: entry.type,
      reason: entry.reason,
      message: entry.message,
      source: { component, ...(host === undefined ? {} : { host }) },
      firstTimestamp: formatTime(entry.firstMs),
      lastTimestamp: formatTime(entry.lastMs),
      count: entry.count,
      // One that stands for several names its source alone (client-go's).
      reportingComponent: entry.isCombined ? '' : component,
      reportingInstance: entry.isCombined ? '' : (host ?? ''),
    }
  }
}
