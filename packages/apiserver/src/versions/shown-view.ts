import type { KubernetesObject } from '@coracle/api'
import type { Stored, WatchDelivery } from '../registry-contract.ts'
import { ObjectDelivery } from '../watch-cache/cache-event.ts'
import { withRevision } from '../watch-cache/object-codec.ts'
import { unstored } from '../watch-cache/stored-object.ts'

/**
 * What a watch has in view that selects by the form objects are shown in, which the watch cache does not know. It knows what is in view
 * by having seen it, and tells from that whether an object comes into view, changes in it or leaves it.
 */
export class ShownView {
  readonly #matches: (object: KubernetesObject) => boolean
  readonly #inView = new Map<string, Stored>()

  constructor(matches: (object: KubernetesObject) => boolean) {
    this.#matches = matches
  }

  /** What there is when the watch begins, of which it is told nothing. */
  begin(items: readonly Stored[]): void {
    for (const item of items) if (this.#matches(item.object)) this.#inView.set(keyOf(item), item)
  }

  /** What the watch gets of a delivery, which shows the object; undefined where it concerns nothing in view. In the order of events. */
  take(delivery: WatchDelivery): WatchDelivery | undefined {
    const { event, stored } = delivery
    if (stored === undefined) return delivery
    const key = keyOf(stored)
    const before = this.#inView.get(key)
    if (event.type !== 'DELETED' && this.#matches(stored.object)) {
      this.#inView.set(key, stored)
      const type = before === undefined ? 'ADDED' : 'MODIFIED'
      return event.type === type ? delivery : new ObjectDelivery(type, stored)
    }
    if (before === undefined) return undefined
    this.#inView.delete(key)
    return event.type === 'DELETED' ? delivery : new ObjectDelivery('DELETED', at(stored.revision, before))
  }
}

/** An object that leaves the view is shown as it last was in it, at the revision at which it left. */
function at(revision: number, { object, owners }: Stored): Stored {
  return unstored(withRevision(object, revision), revision, owners)
}

const keyOf = ({ object: { metadata } }: Stored): string => `${metadata.namespace ?? ''}/${metadata.name ?? ''}`
