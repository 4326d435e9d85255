import { ListError } from '../cli-error.ts'
import type { Manifest, ManifestList } from './parse-manifests.ts'

/** What is wrong with objects of files, in their order. What is wrong with the items of one list is one error. */
export class ManifestFailures {
  readonly #all: (readonly unknown[])[] = []
  readonly #ofLists = new Map<ManifestList, unknown[]>()

  add(error: unknown, { list }: Pick<Manifest, 'list'>): void {
    const others = list === undefined ? undefined : this.#ofLists.get(list)
    if (others !== undefined) {
      others.push(error)
      return
    }
    const group = [error]
    this.#all.push(group)
    if (list !== undefined) this.#ofLists.set(list, group)
  }

  get errors(): readonly unknown[] {
    const lists = new Set<readonly unknown[]>(this.#ofLists.values())
    return this.#all.map((group) => (lists.has(group) ? new ListError(group) : group[0]))
  }
}
