import { InvalidTransactionError, TransactionTooLargeError } from './errors.ts'
import { keyBytesMax, noteBytesMax, notesPageMax, operationsMax, valueBytesMax } from './limits.ts'
import type { Condition, Entry, LazyNote, NotesQuery, Operation, Revision, StoreEvent, Transaction } from './store.ts'

/** The entry of a key as it stands at the moment of the call. */
export type Lookup = (key: string) => Entry | undefined

/** `lookup` for one transaction: conditions and operations are about the same keys, and each is read from the disk's pages once. */
export function lookupOnce(lookup: Lookup): Lookup {
  const found = new Map<string, Entry | undefined>()
  return (key) => {
    if (found.has(key)) return found.get(key)
    const entry = lookup(key)
    found.set(key, entry)
    return entry
  }
}

/** Throws an `InvalidTransactionError`, or a `TransactionTooLargeError`, unless every store can carry `transaction` out. */
export function checkTransaction(transaction: Transaction): void {
  const { conditions, operations, note } = transaction
  if (note instanceof Uint8Array && note.length > noteBytesMax) {
    throw new InvalidTransactionError(`the note has ${note.length} bytes, more than ${noteBytesMax}`)
  }
  if (operations.length > operationsMax || conditions.length > operationsMax) {
    throw new InvalidTransactionError(`a transaction has at most ${operationsMax} operations and as many conditions`)
  }
  for (const condition of conditions) checkKey(condition.key)
  for (const operation of operations) checkOperation(operation)
  if (operations.length < 2) return
  const keys = new Set<string>()
  for (const { key } of operations) {
    if (keys.has(key)) throw new InvalidTransactionError(`the key ${quote(key)} appears in more than one operation`)
    keys.add(key)
  }
}

/** Throws an `InvalidTransactionError` unless `key` is well-formed, not empty and at most `keyBytesMax` bytes of UTF-8. */
export function checkKey(key: string): void {
  if (key === '') throw new InvalidTransactionError('a key must not be empty')
  if (!key.isWellFormed()) throw new InvalidTransactionError(`the key ${quote(key)} has half a surrogate pair`)
  // A UTF-16 unit takes at most three bytes, so that most keys need no count.
  if (key.length * 3 > keyBytesMax && Buffer.byteLength(key) > keyBytesMax) {
    throw new InvalidTransactionError(`the key ${quote(key)} is longer than ${keyBytesMax} bytes`)
  }
}

/** Throws an `InvalidTransactionError` when `prefix` ends in half a character: no well-formed key starts with it alone. */
export function checkPrefix(prefix: string): void {
  if (!prefix.isWellFormed()) throw new InvalidTransactionError(`the prefix ${quote(prefix)} has half a surrogate pair`)
}

/** Throws an `InvalidTransactionError` unless a query asks for a sensible number of notes. */
export function checkNotesQuery({ limit }: NotesQuery): void {
  if (Number.isInteger(limit) && limit > 0 && limit <= notesPageMax) return
  throw new InvalidTransactionError(`between 1 and ${notesPageMax} notes may be asked for at once, not ${limit}`)
}

/** The entry found for each condition when one does not hold; undefined when all hold. */
export function findConflict(
  conditions: readonly Condition[],
  lookup: Lookup,
): readonly (Entry | undefined)[] | undefined {
  const current = conditions.map(({ key }) => lookup(key))
  const holds = conditions.every(({ modRevision }, index) => (current[index]?.modRevision ?? 0) === modRevision)
  return holds ? undefined : current
}

/**
 * What carrying a transaction out as `revision` changes. Deleting a key that does not exist changes nothing. A change of a
 * value written up to `carriedTo` carries that value, since the history may soon have it no longer; the first change carries the
 * transaction's note.
 */
export function changesOf(
  { operations, note }: Pick<Transaction, 'operations' | 'note'>,
  revision: Revision,
  lookup: Lookup,
  carriedTo: Revision,
  makeChange: typeof changeOf = changeOf,
): StoreEvent[] {
  const events: StoreEvent[] = []
  for (const operation of operations) {
    const { type, key } = operation
    const previous = lookup(key)
    if (type === 'delete' && previous === undefined) continue
    const isCarried = type === 'put' && previous !== undefined && previous.modRevision <= carriedTo
    const carried = isCarried ? { previous } : nothing
    const beside = note === undefined || events.length > 0 ? carried : { ...carried, note }
    events.push(makeChange(operation, revision, previous, beside))
  }
  return events
}

const nothing = {}

/** What a change carries beside its value: what has the value before it, and the note. */
export interface ChangeExtras {
  readonly previous?: Entry
  readonly note?: Uint8Array | LazyNote
}

function changeOf(
  operation: Operation,
  revision: Revision,
  previous: Entry | undefined,
  { previous: carried, note: given }: ChangeExtras,
): StoreEvent {
  const note = given && noteBytes(given)
  const { type, key } = operation
  const { value } = valueHolder(operation, previous)
  const createRevision = previous?.createRevision ?? revision
  const previousRevision = previous?.modRevision ?? 0
  if (carried === undefined && note !== undefined)
    return { type, key, value, revision, createRevision, previousRevision, note }
  const change = { type, key, value, revision, createRevision, previousRevision }
  if (carried === undefined) return change
  const previousValue = carried.value
  return note === undefined ? { ...change, previousValue } : { ...change, previousValue, note }
}

/** The note itself. */
export const noteBytes = (note: Uint8Array | LazyNote): Uint8Array => (note instanceof Uint8Array ? note : note.bytes)

/** What has the value of a change: the operation, or the entry that it deletes. */
export function valueHolder(operation: Operation, previous: Entry | undefined): { readonly value: Uint8Array } {
  return operation.type === 'put' ? operation : (previous as Entry)
}

/** The entry a key has after `event`. */
export function entryAfter(event: StoreEvent): Entry | undefined {
  if (event.type === 'delete') return undefined
  const { key, value, revision, createRevision } = event
  return { key, value, modRevision: revision, createRevision }
}

function checkOperation(operation: Operation): void {
  checkKey(operation.key)
  if (operation.type === 'put' && operation.lazy !== true && operation.value.length > valueBytesMax) {
    throw new TransactionTooLargeError(
      `the value of ${quote(operation.key)} has ${operation.value.length} bytes, more than ${valueBytesMax}`,
    )
  }
}

const quotedMax = 120

function quote(key: string): string {
  return JSON.stringify(key.length > quotedMax ? `${key.slice(0, quotedMax)}…` : key)
}
