import type { KubernetesObject } from '@coracle/api'

/** Which webhooks or policies have been asked about a request, and which are to be asked again. */
export class Invocations {
  /** Asked before, and to be asked again once something changes. */
  #waiting = new Set<string>()
  readonly again = new Set<string>()
  /** What they made of the object. */
  made: KubernetesObject | undefined

  asked(id: string): void {
    this.#waiting.add(id)
  }

  somethingChanged(): void {
    for (const id of this.#waiting) this.again.add(id)
    this.#waiting = new Set()
  }
}
