import { CliError, ListError } from '../cli-error.ts'
import type { Manifest, ManifestList } from './parse-manifests.ts'

/** No server says what kinds there are. */
export class UnrecognizedError extends CliError {
  /** What is told of once, and not looked into further: a file that cannot be validated, a list. Undefined: nothing but the object. */
  readonly unit: string | ManifestList | undefined

  constructor(message: string, unit: string | ManifestList | undefined) {
    super(message)
    this.unit = unit
  }
}

/** What is wrong with objects of files, in their order. What is wrong with the items of one list is one error. */
export class ManifestFailures {
  readonly #all: (readonly unknown[])[] = []
  readonly #ofLists = new Map<ManifestList, unknown[]>()
  readonly #unrecognized = new Set<string | ManifestList>()

  add(error: unknown, { list }: Pick<Manifest, 'list'>): void {
    if (error instanceof UnrecognizedError && error.unit !== undefined) {
      if (!this.#unrecognized.has(error.unit)) this.#all.push([error])
      this.#unrecognized.add(error.unit)
      return
    }
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
