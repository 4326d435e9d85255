import type { Clock } from '@coracle/environment'
import type { ListedContainer } from './answers.ts'
import { dockerLabels } from './names.ts'

type Selector = Readonly<Record<string, string>>

/** Lists what has these labels: containers of one type, or of all. */
export type ListContainers = (type: string | undefined, selector: Selector) => Promise<readonly ListedContainer[]>

interface Batch {
  readonly types: Set<string>
  readonly answer: Promise<readonly ListedContainer[]>
}

/**
 * Lists of containers for an engine, which takes some milliseconds for each, Podman twenty. Whoever looks at a pod asks for its sandboxes and for its
 * containers: what is asked for at the same time is one list. An answer is never older than who asks for it.
 */
export class ListBatches {
  readonly #clock: Clock
  readonly #listContainers: ListContainers
  readonly #batches = new Map<string, Batch>()

  constructor(clock: Clock, listContainers: ListContainers) {
    this.#clock = clock
    this.#listContainers = listContainers
  }

  async list(type: string, selector: Selector): Promise<readonly ListedContainer[]> {
    const key = JSON.stringify(selector)
    const batch = this.#batches.get(key) ?? this.#begin(key, selector)
    batch.types.add(type)
    const found = await batch.answer
    return batch.types.size === 1 ? found : found.filter(({ Labels }) => Labels?.[dockerLabels.type] === type)
  }

  #begin(key: string, selector: Selector): Batch {
    const types = new Set<string>()
    const answer = new Promise<void>((resolve) => this.#clock.defer(resolve)).then(() => {
      this.#batches.delete(key)
      const [first, ...more] = types
      return this.#listContainers(more.length === 0 ? first : undefined, selector)
    })
    const batch = { types, answer }
    this.#batches.set(key, batch)
    return batch
  }
}
