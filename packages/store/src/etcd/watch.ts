import { type Environment, sleep, type Timer } from '@coracle/environment'
import type { Decoded, Encodable } from '@coracle/environment/grpc'
import type { ClientDuplexStream } from '@grpc/grpc-js'
import { StoreFullError } from '../errors.ts'
import { etcdProgressDelayMs, etcdRetryMs } from '../limits.ts'
import { CompactedError, type Revision, type StoreEvent, type StoreWatch, type WatchOptions } from '../store.ts'
import { eventDelete, watchRequest, watchResponse } from './api.ts'
import type { Connection } from './connection.ts'
import type { KeySpace } from './key-space.ts'
import { isNoteKey } from './notes.ts'

/** Written under the prefix of a watch to learn how far it is, by whichever process; no part of the store. */
export const markerName = 'coracle-watch-progress'
export const markerValue = Buffer.from('{"purpose":"the event of this key tells a watch how far it is"}')

/** Whether something was written for a watch, of this process or of another: its name alone somebody's object may have, too. */
export const isMarker = ({ key, value }: { readonly key: string; readonly value: Uint8Array }): boolean =>
  key.endsWith(markerName) && markerValue.equals(value)

export interface EtcdWatchParts {
  readonly connection: Connection
  readonly environment: Environment
  readonly keys: KeySpace
  readonly prefix: string
  readonly options: WatchOptions
  /** Writes the marker under the prefix, which is never told of. */
  readonly mark: () => Promise<{ readonly revision: Revision }>
  /** Whether etcd's own answer to how far a watch is comes after the events before it. */
  readonly tellsProgress: () => Promise<boolean>
  readonly onClosed: (watch: EtcdWatch) => void
}

type WatchResponse = Decoded<typeof watchResponse>
type WatchStream = ClientDuplexStream<Encodable<typeof watchRequest>, WatchResponse>

const watchMethod = { path: '/etcdserverpb.Watch/Watch', request: watchRequest, response: watchResponse }

/** A watch on etcd. Where its stream is cut off it opens another, which goes on after the last revision delivered. */
export class EtcdWatch implements StoreWatch {
  readonly #parts: EtcdWatchParts
  readonly #closing = new AbortController()
  /** Everything up to this revision has been delivered. */
  #position: Revision
  #stream: WatchStream | undefined
  /** The events of a response that etcd sends in several parts. */
  #part: StoreEvent[] = []
  /** The revision that progress was asked for, and that of the marker whose event is to come. */
  #wanted: Revision = 0
  #marked: Revision = 0
  #progressTimer: Timer | undefined
  /** The stream on which etcd was asked how far the watch is. */
  #asked: WatchStream | undefined

  constructor(parts: EtcdWatchParts) {
    this.#parts = parts
    this.#position = parts.options.after
    void this.#run()
  }

  close(): void {
    if (this.#closing.signal.aborted) return
    this.#closing.abort()
    this.#progressTimer?.cancel()
    this.#stream?.cancel()
    this.#parts.onClosed(this)
  }

  /** Ends the watch for good, telling its owner why. */
  end(error: Error): void {
    if (this.#closing.signal.aborted) return
    this.close()
    this.#parts.options.onEnd(error)
  }

  /**
   * Writes the marker, whose event tells how far the watch is: it comes after everything before it. etcd has a request for
   * that, whose answers overtake events in versions before 3.4.25 and 3.5.8 (etcd issue 15220): it is made where etcd is full, takes no
   * marker, and is of a later version. Events that are on their way get a moment first.
   */
  requestProgress(revision: Revision): void {
    this.#wanted = Math.max(this.#wanted, revision)
    if (this.#closing.signal.aborted || !this.#needsMarker()) return
    this.#progressTimer ??= this.#parts.environment.clock.setTimer(etcdProgressDelayMs, () => void this.#mark())
  }

  #needsMarker(): boolean {
    return this.#wanted > this.#position && this.#wanted > this.#marked
  }

  async #mark(): Promise<void> {
    const { mark, environment } = this.#parts
    const { signal } = this.#closing
    let told = ''
    while (this.#needsMarker() && !signal.aborted) {
      try {
        this.#marked = (await mark()).revision
      } catch (error) {
        const isAsked = error instanceof StoreFullError && (await this.#askEtcd())
        if (signal.aborted) return
        // It is tried many times before anything changes.
        if (!isAsked && told !== String(error)) {
          told = String(error)
          environment.logger.warn('a watch cannot ask how far it is, trying again', { error: told })
        }
        await sleep(environment.clock, etcdRetryMs, signal).catch(() => {})
      }
    }
    this.#progressTimer = undefined
  }

  /** Asks etcd how far the watch is, where its answer can be relied on. */
  async #askEtcd(): Promise<boolean> {
    const tells = await this.#parts.tellsProgress().catch(() => false)
    const stream = this.#stream
    if (!tells || stream === undefined || this.#closing.signal.aborted) return false
    this.#asked = stream
    stream.write({ progressRequest: {} })
    return true
  }

  async #run(): Promise<void> {
    const { environment } = this.#parts
    const { signal } = this.#closing
    // Nothing is called back before the caller has the watch.
    await Promise.resolve()
    while (!signal.aborted) {
      try {
        await this.#follow()
      } catch (error) {
        if (!signal.aborted) environment.logger.warn('a watch was cut off, trying again', { error: String(error) })
      }
      await sleep(environment.clock, etcdRetryMs, signal).catch(() => {})
    }
  }

  /** Follows one stream to its end. */
  async #follow(): Promise<void> {
    const { connection, keys, prefix } = this.#parts
    const stream: WatchStream = await connection.stream(watchMethod)
    if (this.#closing.signal.aborted) {
      stream.on('error', () => {})
      stream.cancel()
      return
    }
    this.#stream = stream
    this.#part = []
    // From the last revision delivered on, not the next: that one may be compacted without etcd telling so.
    const startRevision = Math.max(1, this.#position)
    stream.write({ createRequest: { ...keys.rangeOf(prefix), startRevision, prevKv: true, fragment: true } })
    await new Promise<void>((resolve, reject) => {
      stream.on('data', (response: WatchResponse) => {
        const refusal = this.#take(stream, response)
        if (refusal === undefined) return
        reject(refusal)
        stream.cancel()
      })
      // An error that nobody listens for would end the process, and there may be more than one.
      stream.on('error', reject)
      stream.once('end', resolve)
    })
  }

  /** Why etcd has ended the watch, but not the stream, where it has. */
  #take(stream: WatchStream, response: WatchResponse): Error | undefined {
    if (this.#closing.signal.aborted || stream !== this.#stream) return
    const { header, created, canceled, compactRevision, cancelReason, events, fragment } = response
    if (compactRevision > 0) {
      this.#gap(compactRevision)
      return
    }
    if (canceled) return new Error(cancelReason === '' ? 'etcd has ended the watch' : cancelReason)
    for (const event of events) {
      const revision = event.kv?.modRevision ?? 0
      if (revision <= this.#position) continue
      const change = this.#changeOf(event)
      if (change === undefined) {
        this.#gap(revision)
        return
      }
      this.#part.push(change)
    }
    if (fragment) return
    if (events.length === 0 && !created && stream === this.#asked) this.#advance(header?.revision ?? 0)
    if (this.#part.length === 0) return
    const whole = this.#part
    this.#part = []
    this.#deliver(whole)
  }

  /** Undefined where the value before it has been compacted: only what was delivered already can have that. */
  #changeOf({ type, kv, prevKv }: WatchResponse['events'][number]): StoreEvent | undefined {
    if (kv === undefined) return undefined
    const isDelete = type === eventDelete
    if (prevKv === undefined && (isDelete || kv.version > 1)) return undefined
    const previous = prevKv === undefined ? {} : { previousValue: prevKv.value }
    return {
      type: isDelete ? 'delete' : 'put',
      key: this.#parts.keys.keyOf(kv.key),
      value: isDelete ? (prevKv?.value ?? kv.value) : kv.value,
      revision: kv.modRevision,
      createRevision: isDelete ? (prevKv?.createRevision ?? 0) : kv.createRevision,
      previousRevision: prevKv?.modRevision ?? 0,
      ...previous,
    }
  }

  #deliver(events: readonly StoreEvent[]): void {
    const last = events.at(-1)?.revision ?? this.#position
    const visible = events.filter((event) => !isMarker(event) && !isNoteKey(event.key))
    this.#tell(visible, last)
  }

  /** There is nothing to tell of up to a revision. */
  #advance(revision: Revision): void {
    if (revision > this.#position) this.#tell([], revision)
  }

  #tell(visible: readonly StoreEvent[], last: Revision): void {
    const { options } = this.#parts
    this.#position = last
    try {
      if (visible.length > 0) options.onEvents(visible)
      if (visible.at(-1)?.revision !== last && !this.#closing.signal.aborted) options.onProgress?.(last)
    } catch (error) {
      // A defect of whoever watches: it gets nothing more, and the process hears of it.
      this.close()
      queueMicrotask(() => {
        throw error
      })
    }
  }

  #gap(compacted: Revision): void {
    const error = new CompactedError(this.#position, compacted)
    this.close()
    this.#parts.options.onGap(error)
  }
}
