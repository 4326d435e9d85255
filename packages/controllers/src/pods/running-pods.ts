import type { Pod } from '@coracle/api'
import type { Aggregate } from '@coracle/client'
import { controllerOf } from '@coracle/controller-runtime'
import { hasEnded } from './pod-state.ts'

/** How many pods of each controller have not ended, those on their way out among them. */
export class RunningPods implements Aggregate<Pod> {
  readonly #counts = new Map<string, number>()

  add(pod: Pod): void {
    this.#count(pod, 1)
  }

  remove(pod: Pod): void {
    this.#count(pod, -1)
  }

  /** Whether the object of this identity controls a pod that has not ended. */
  hasAny(controllerUid: string): boolean {
    return this.#counts.has(controllerUid)
  }

  #count(pod: Pod, by: 1 | -1): void {
    const uid = controllerOf(pod)?.uid
    if (uid === undefined || hasEnded(pod)) return
    const count = (this.#counts.get(uid) ?? 0) + by
    if (count === 0) this.#counts.delete(uid)
    else this.#counts.set(uid, count)
  }
}
