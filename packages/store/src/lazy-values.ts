/**
 * Changes and entries of a store that keeps operations as they come: values are read from the operation when somebody asks for
 * them. What only this process needs, which has the object itself, is never made into bytes.
 *
 * They are classes: a literal with a getter has a hidden class of its own, and each place that reads such objects gets slow.
 */
import type { Entry, LazyNote, Operation, Revision, StoreEvent } from './store.ts'
import { type ChangeExtras, noteBytes, valueHolder } from './transaction.ts'

/** The change that an operation makes. It keeps no older change alive: of that it holds what has its value. */
export function lazyChange(
  operation: Operation,
  revision: Revision,
  previous: Entry | undefined,
  beside: ChangeExtras,
): StoreEvent {
  return new LazyChange(operation, revision, previous, beside)
}

/** The entry a key has after a change; undefined where it has none. */
export function lazyEntryAfter(event: StoreEvent): Entry | undefined {
  return event.type === 'delete' ? undefined : new LazyEntry(event)
}

class LazyChange implements StoreEvent {
  readonly type: StoreEvent['type']
  readonly key: string
  readonly revision: Revision
  readonly createRevision: Revision
  readonly previousRevision: Revision
  readonly token?: object
  readonly holder: ValueHolder
  readonly #previous: ValueHolder | undefined
  readonly #note: Uint8Array | LazyNote | undefined

  constructor(
    operation: Operation,
    revision: Revision,
    previous: Entry | undefined,
    { previous: carried, note }: ChangeExtras,
  ) {
    this.type = operation.type
    this.key = operation.key
    this.revision = revision
    this.createRevision = previous?.createRevision ?? revision
    this.previousRevision = previous?.modRevision ?? 0
    this.#note = note
    if (operation.type === 'put' && operation.token !== undefined) this.token = operation.token
    this.holder = holderOf(valueHolder(operation, previous))
    this.#previous = carried && holderOf(carried)
  }

  get value(): Uint8Array {
    return this.holder.value
  }

  get note(): Uint8Array | undefined {
    return this.#note && noteBytes(this.#note)
  }

  get previousValue(): Uint8Array | undefined {
    return this.#previous?.value
  }
}

class LazyEntry implements Entry {
  readonly key: string
  readonly modRevision: Revision
  readonly createRevision: Revision
  readonly holder: ValueHolder

  constructor(event: StoreEvent) {
    this.key = event.key
    this.modRevision = event.revision
    this.createRevision = event.createRevision
    this.holder = holderOf(event)
  }

  get value(): Uint8Array {
    return this.holder.value
  }
}

/** What has a value, as bytes or as something that makes them. */
interface ValueHolder {
  readonly value: Uint8Array
}

/** The operation behind a change or an entry, which alone has the value. */
const holderOf = (value: ValueHolder): ValueHolder =>
  value instanceof LazyEntry || value instanceof LazyChange ? value.holder : value
