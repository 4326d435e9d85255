import type { Pod } from '@coracle/api'
import { type Aggregate, keyText } from '@coracle/client'
import { controllerOf } from '@coracle/controller-runtime'
import { hasEnded } from './pod-state.ts'

/** How many pods of each controller have not ended, those on their way out among them. */
export class RunningPods implements Aggregate<Pod> {
  /** By the namespace of the pods and the identity of the controller that they name: one elsewhere is none of theirs. */
  readonly #counts = new Map<string, number>()

  add(pod: Pod): void {
    this.#count(pod, 1)
  }

  remove(pod: Pod): void {
    this.#count(pod, -1)
  }

  /** Whether the object of this identity controls a pod of its namespace that has not ended. */
  hasAny(namespace: string | undefined, controllerUid: string): boolean {
    return this.#counts.has(keyText(namespace, controllerUid))
  }

  #count(pod: Pod, by: 1 | -1): void {
    const uid = controllerOf(pod)?.uid
    if (uid === undefined || hasEnded(pod)) return
    const key = keyText(pod.metadata.namespace, uid)
    const count = (this.#counts.get(key) ?? 0) + by
    if (count === 0) this.#counts.delete(key)
    else this.#counts.set(key, count)
  }
}
