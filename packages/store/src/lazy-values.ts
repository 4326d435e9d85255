/**
 * Changes and entries of a store that keeps operations as they come: values are read from the operation when somebody asks for
 * them. What only this process needs, which has the object itself, is never made into bytes.
 */
import type { Entry, Operation, Revision, StoreEvent } from './store.ts'
import { type ChangeExtras, valueHolder } from './transaction.ts'

/** The change that an operation makes. What it carries beside its value is read at once: it must not keep older changes alive. */
export function lazyChange(
  operation: Operation,
  revision: Revision,
  previous: Entry | undefined,
  beside: ChangeExtras,
): StoreEvent {
  const holder = valueHolder(operation, previous)
  const token = operation.type === 'put' ? operation.token : undefined
  return {
    type: operation.type,
    key: operation.key,
    get value() {
      return holder.value
    },
    revision,
    createRevision: previous?.createRevision ?? revision,
    previousRevision: previous?.modRevision ?? 0,
    ...beside,
    ...(token === undefined ? {} : { token }),
  }
}

/** The entry a key has after a change; undefined where it has none. */
export function lazyEntryAfter(event: StoreEvent): Entry | undefined {
  if (event.type === 'delete') return undefined
  return {
    key: event.key,
    get value() {
      return event.value
    },
    modRevision: event.revision,
    createRevision: event.createRevision,
  }
}
