import type { KubernetesObject, Resource } from '@coracle/api'
import { keyOf } from '@coracle/client'
import type { Change } from './predicates.ts'

/** Changes of which it is not known yet whose they are, at most. With one more all are told on. */
export const heldChangesMax = 64

interface Held {
  readonly mark: string
  tell(): void
}

/**
 * What one reconcile writes, for whoever hears of changes: is this one of them? A change may come before its write is answered. While
 * one is under way changes are held until that is known. As soon as one is told on, so are all: the key is looked at again anyway.
 */
export class ReconcileWrites {
  readonly #written = new Set<string>()
  #held: Held[] = []
  #inFlight = 0
  #tellsOn = false

  /** A write begins. */
  begin(): void {
    this.#inFlight++
  }

  /** It is over. */
  end(): void {
    this.#inFlight--
    if (this.#inFlight === 0 && this.#held.some(({ mark }) => !this.#written.has(mark))) this.release()
  }

  wrote(resource: Resource, objectKey: string, version: string): void {
    this.#written.add(markOf(resource, objectKey, version))
  }

  deleted(resource: Resource, objectKey: string, uid: string): void {
    this.#written.add(markOf(resource, objectKey, uid))
  }

  /** Whether a change is one of this reconcile's writes, or may be: `tell` is called as soon as it is to be told on after all. */
  holds(resource: Resource, change: Change<KubernetesObject>, tell: () => void): boolean {
    if (this.#tellsOn || (this.#inFlight === 0 && this.#written.size === 0)) return false
    const mark = markOfChange(resource, change)
    const mayBeOwn = this.#inFlight > 0 ? this.#held.length < heldChangesMax : this.#written.has(mark)
    if (mayBeOwn) this.#held.push({ mark, tell })
    else this.release()
    return mayBeOwn
  }

  /** Tells on all that has been held and all that comes: the reconcile's writes are to be looked at, too. */
  release(): void {
    this.#tellsOn = true
    for (const { tell } of this.#held.splice(0)) tell()
  }

  /** Leaves out the reconcile's writes, those that have been held and those to come. */
  leaveOut(): void {
    this.#held = []
  }
}

const markOf = ({ group, plural }: Resource, objectKey: string, state: string): string =>
  `${group}/${plural}/${objectKey}@${state}`

const markOfChange = (resource: Resource, { type, object }: Change<KubernetesObject>): string =>
  markOf(resource, keyOf(object), (type === 'delete' ? object.metadata.uid : object.metadata.resourceVersion) ?? '')
