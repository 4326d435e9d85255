import {
  ApiError,
  type Event as CoreEvent,
  eventMessageMax,
  events,
  formatTime,
  hasReason,
  type KubernetesObject,
} from '@coracle/api'
import { type Environment, sleep } from '@coracle/environment'
import { BoundedMap } from './bounded-map.ts'
import type { Client } from './client.ts'
import { correlatorEntriesMax, createEventCorrelator } from './event-correlator.ts'

/** Events that wait to be written, at most; further ones are dropped with a log line. */
export const eventQueueMax = 1000

/** Writes under way at a time. */
const eventWritersMax = 8

/** Tries per event while the server cannot be reached, and the wait between them (client-go's). */
const writeTriesMax = 12
const writeRetryMs = 10_000

export type EventType = 'Normal' | 'Warning'

export interface EventDetails {
  /** The part of the object, such as `spec.containers{web}`. */
  readonly fieldPath?: string
  readonly annotations?: Readonly<Record<string, string>>
}

/** What an event is about: an object, or as much of one as is known. */
export type EventTarget = Pick<KubernetesObject, 'apiVersion' | 'kind' | 'metadata'>

/** Tells users what a component does and meets. Recording never fails and never waits: events are worth less than work. */
export interface EventRecorder {
  /** `reason` is a short CamelCase word that programs may match, `message` a sentence for people. */
  event(about: EventTarget, type: EventType, reason: string, message: string, details?: EventDetails): void
  /** Resolves once all that was recorded is written or given up. */
  flush(): Promise<void>
  /** Drops what is not written yet and records nothing more. */
  stop(): void
}

export interface EventSource {
  /** Who reports, such as `replicaset-controller`. */
  readonly component: string
  /** The node, where the component belongs to one. */
  readonly host?: string
}

/** A recorder of core/v1 Events that counts identical ones and combines similar ones as client-go does. */
export function createEventRecorder(client: Client, environment: Environment, source: EventSource): EventRecorder {
  return new CorrelatingRecorder(client, environment, source)
}

/** One Event object: identical occurrences only raise its count. */
interface Entry {
  readonly about: EventTarget
  readonly type: EventType
  readonly reason: string
  readonly details: EventDetails
  readonly firstMs: number
  name: string
  message: string
  lastMs: number
  count: number
  /** The count the server has; 0 where it does not have the event. */
  storedCount: number
  isPending: boolean
}

class CorrelatingRecorder implements EventRecorder {
  readonly #client: Client
  readonly #environment: Environment
  readonly #source: EventSource
  readonly #correlate: ReturnType<typeof createEventCorrelator>
  readonly #entries = new BoundedMap<string, Entry>(correlatorEntriesMax)
  readonly #queue: Entry[] = []
  readonly #stopping = new AbortController()
  #writers = 0
  #flushed: (() => void)[] = []

  constructor(client: Client, environment: Environment, source: EventSource) {
    this.#client = client
    this.#environment = environment
    this.#source = source
    this.#correlate = createEventCorrelator(environment.clock)
  }

  event(about: EventTarget, type: EventType, reason: string, message: string, details: EventDetails = {}): void {
    if (this.#stopping.signal.aborted) return
    const { namespace = '', name = '', uid = '' } = about.metadata
    const correlated = this.#correlate({
      about: [about.apiVersion, about.kind, namespace, name, uid].join('\n'),
      what: [type, reason, details.fieldPath ?? ''].join('\n'),
      message,
    })
    const entry = this.#entries.get(correlated.key) ?? this.#newEntry(about, type, reason, details)
    entry.message = shorten(correlated.message)
    entry.lastMs = this.#environment.clock.now()
    entry.count += 1
    this.#entries.set(correlated.key, entry)
    if (!correlated.isSpam) this.#enqueue(entry)
  }

  flush(): Promise<void> {
    if (this.#writers === 0) return Promise.resolve()
    return new Promise((resolve) => this.#flushed.push(resolve))
  }

  stop(): void {
    this.#queue.length = 0
    this.#stopping.abort(new Error('the event recorder is stopped'))
  }

  #newEntry(about: EventTarget, type: EventType, reason: string, details: EventDetails): Entry {
    const firstMs = this.#environment.clock.now()
    const name = this.#eventName(about)
    return {
      about,
      type,
      reason,
      details,
      firstMs,
      name,
      message: '',
      lastMs: firstMs,
      count: 0,
      storedCount: 0,
      isPending: false,
    }
  }

  /** Upstream's `<object>.<nanoseconds in hexadecimal>`. What a clock does not resolve is drawn, so that names differ. */
  #eventName(about: EventTarget): string {
    const { clock, random } = this.#environment
    const nanoseconds = BigInt(Math.floor(clock.now())) * 1_000_000n + BigInt(Math.floor(random.next() * 1_000_000))
    return `${about.metadata.name ?? ''}.${nanoseconds.toString(16)}`
  }

  #enqueue(entry: Entry): void {
    if (entry.isPending) return
    if (this.#queue.length >= eventQueueMax) {
      this.#environment.logger.warn('event dropped: too many wait', {
        reason: entry.reason,
        about: entry.about.metadata.name,
      })
      return
    }
    entry.isPending = true
    this.#queue.push(entry)
    if (this.#writers < eventWritersMax) void this.#drain()
  }

  async #drain(): Promise<void> {
    this.#writers++
    for (let entry = this.#queue.shift(); entry !== undefined; entry = this.#queue.shift())
      await this.#writeUntilDone(entry)
    this.#writers--
    if (this.#writers === 0) for (const flushed of this.#flushed.splice(0)) flushed()
  }

  async #writeUntilDone(entry: Entry): Promise<void> {
    const { clock, random, logger } = this.#environment
    const { signal } = this.#stopping
    for (let tries = 1; !signal.aborted; tries++) {
      try {
        await this.#write(entry)
        if (entry.storedCount === entry.count) break
        tries = 0
      } catch (error) {
        const isFinal = (error instanceof ApiError && !hasReason(error, 'AlreadyExists')) || tries >= writeTriesMax
        if (isFinal) {
          if (!signal.aborted)
            logger.warn('event given up', { reason: entry.reason, about: entry.about.metadata.name, error })
          break
        }
        // The first wait is drawn so that many components do not return in step.
        await sleep(clock, writeRetryMs * (tries === 1 ? random.next() : 1), signal).catch(() => {})
      }
    }
    entry.isPending = false
  }

  async #write(entry: Entry): Promise<void> {
    const { count, message, lastMs } = entry
    if (entry.storedCount > 0) {
      const body = { count, message, lastTimestamp: formatTime(lastMs) }
      const key = { namespace: namespaceOf(entry.about), name: entry.name }
      try {
        await this.#client.patch(events, key, { type: 'merge', body })
        entry.storedCount = count
        return
      } catch (error) {
        // The server forgets events after an hour; then it is told anew.
        if (!hasReason(error, 'NotFound')) throw error
        entry.storedCount = 0
      }
    }
    try {
      await this.#client.create(events, this.#objectOf(entry))
      entry.storedCount = count
    } catch (error) {
      if (hasReason(error, 'AlreadyExists')) entry.name = this.#eventName(entry.about)
      throw error
    }
  }

  #objectOf(entry: Entry): CoreEvent {
    const { about, details } = entry
    const { component, host } = this.#source
    const event = {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: {
        name: entry.name,
        namespace: namespaceOf(about),
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
      reportingComponent: component,
      reportingInstance: host ?? '',
    }
    return event
  }
}

/** Events about objects without a namespace are kept in `default`. */
const namespaceOf = (about: EventTarget): string => about.metadata.namespace || 'default'

function referenceTo(
  { apiVersion, kind, metadata }: EventTarget,
  fieldPath: string | undefined,
): Readonly<Record<string, string>> {
  const { namespace, name, uid, resourceVersion } = metadata
  const parts = { kind, namespace, name, uid, apiVersion, resourceVersion, fieldPath }
  return Object.fromEntries(
    Object.entries(parts).filter((part): part is [string, string] => part[1] !== undefined && part[1] !== ''),
  )
}

function shorten(message: string): string {
  return message.length <= eventMessageMax ? message : `${message.slice(0, eventMessageMax - 3)}...`
}
