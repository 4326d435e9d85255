import { apiVersionOf, type KubernetesObject, type Resource } from '@coracle/api'
import type { Watch, WatchEvent } from '../client.ts'

/** A change of one object: its new state, or its last one where it is gone. */
export interface Change {
  readonly object: KubernetesObject
  readonly old: KubernetesObject | undefined
  readonly isDeleted: boolean
}

/** A watch whose delivery can be held up. Changes outside its selector become nothing, or ADDED and DELETED at its border. */
export class FakeWatch implements Watch<KubernetesObject> {
  readonly resource: Resource
  readonly #matches: (object: KubernetesObject) => boolean
  readonly #onClose: () => void
  readonly #events: WatchEvent<KubernetesObject>[] = []
  #isHeld = false
  #isClosed = false
  #wake: () => void = () => {}

  constructor(resource: Resource, matches: (object: KubernetesObject) => boolean, onClose: () => void) {
    this.resource = resource
    this.#matches = matches
    this.#onClose = onClose
  }

  hold(isHeld: boolean): void {
    this.#isHeld = isHeld
    this.#wake()
  }

  push({ object, old, isDeleted }: Change): void {
    const was = old !== undefined && this.#matches(old)
    const is = !isDeleted && this.#matches(object)
    if (!was && !is) return
    this.#events.push({ type: is ? (was ? 'MODIFIED' : 'ADDED') : 'DELETED', object })
    this.#wake()
  }

  /** Delivers a bookmark at a version. */
  bookmark(resourceVersion: string): void {
    const { kind } = this.resource
    this.#events.push({
      type: 'BOOKMARK',
      object: { apiVersion: apiVersionOf(this.resource), kind, metadata: { resourceVersion } },
    })
    this.#wake()
  }

  close(): void {
    this.#isClosed = true
    this.#onClose()
    this.#wake()
  }

  async *[Symbol.asyncIterator](): AsyncIterator<WatchEvent<KubernetesObject>> {
    for (;;) {
      if (this.#isClosed) return
      const event = this.#isHeld ? undefined : this.#events.shift()
      if (event !== undefined) yield event
      else {
        await new Promise<void>((resolve) => {
          this.#wake = resolve
        })
      }
    }
  }
}
