import type { FieldOwners, KubernetesObject } from '@coracle/api'
import { TransientMap } from '@coracle/environment/transient-map'
import type { StoreEvent } from '@coracle/store'
import type { ObjectPut } from './object-put.ts'
import type { StoredObject } from './stored-object.ts'

/**
 * A write on its way through the store. When its event comes back the cache takes the object from here instead of
 * parsing bytes that this process has just made.
 */
export interface InFlightWrite {
  /** Its key in the cache. */
  readonly key: string
  /** Its key in the store, by which events name it. */
  readonly storeKey: string
  /** The revision the write replaces: with the key, what at most one successful write can have. */
  readonly previousRevision: number
  /** What is put; undefined for a delete. */
  readonly put: ObjectPut | undefined
  /** The object without its resourceVersion; undefined for a delete. */
  readonly object: KubernetesObject | undefined
  readonly owners: FieldOwners
  /** What the cache made of it. */
  stored: StoredObject | undefined
}

/** The writes of one cache that are on their way. */
export class InFlightWrites {
  readonly #writes = new TransientMap<string, InFlightWrite[]>()

  /** To be called before the commit. */
  begin(
    write: Pick<InFlightWrite, 'key' | 'storeKey' | 'previousRevision' | 'put' | 'object' | 'owners'>,
  ): InFlightWrite {
    const { key, storeKey, previousRevision, put, object, owners } = write
    const begun: InFlightWrite = { key, storeKey, previousRevision, put, object, owners, stored: undefined }
    const others = this.#writes.get(storeKey)
    if (others === undefined) this.#writes.set(storeKey, [begun])
    else others.push(begun)
    return begun
  }

  /** The write that caused an event; undefined where another server's did. */
  take(event: StoreEvent): InFlightWrite | undefined {
    const found = this.#writes.get(event.key)?.find((write) => isCauseOf(write, event))
    if (found !== undefined) this.end(found)
    return found
  }

  /** Forgets a write: it failed, or its event has come. */
  end(write: InFlightWrite): void {
    const others = this.#writes.get(write.storeKey)
    if (others === undefined) return
    const at = others.indexOf(write)
    if (at >= 0) others.splice(at, 1)
    if (others.length === 0) this.#writes.delete(write.storeKey)
  }
}

function isCauseOf(write: InFlightWrite, event: StoreEvent): boolean {
  if (write.previousRevision !== event.previousRevision) return false
  const { put } = write
  if (event.type === 'delete' || put === undefined) return event.type === 'delete' && put === undefined
  if (event.token !== undefined) return event.token === put.token
  return put.value === event.value || Buffer.compare(put.value, event.value) === 0
}
