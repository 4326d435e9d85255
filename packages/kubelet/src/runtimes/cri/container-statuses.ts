import { type CriCalls, isNotFound } from './calls.ts'
import { lastWordsOf } from './last-words.ts'
import type { CriContainerStatus } from './statuses.ts'

/** What is known of a container, which does not change while it is in a state. */
export interface KnownContainer {
  readonly state: number
  readonly status: CriContainerStatus
  readonly lastWords: string
}

/** The statuses of containers: each is asked for, and its last words are read, once for each state the container is in. */
export class ContainerStatuses {
  readonly #calls: Pick<CriCalls, 'containerStatus'>
  readonly #known = new Map<string, KnownContainer>()

  constructor(calls: Pick<CriCalls, 'containerStatus'>) {
    this.#calls = calls
  }

  /** The status of a container that is in this state; undefined where it has gone. */
  async inState(id: string, state: number | undefined): Promise<KnownContainer | undefined> {
    const known = this.#known.get(id)
    if (known !== undefined && known.state === state) return known
    return this.ask(id)
  }

  /** The status of a container as of now; undefined where it has gone. */
  async ask(id: string): Promise<KnownContainer | undefined> {
    try {
      const { status } = await this.#calls.containerStatus({ containerId: id })
      if (status === undefined) return undefined
      const lastWords = status.finishedAt > 0 ? await lastWordsOf(status) : ''
      const found = { state: status.state, status, lastWords }
      this.#known.set(id, found)
      return found
    } catch (error) {
      if (isNotFound(error)) return undefined
      throw error
    }
  }

  /** The status as it was last seen; undefined for a container that was never asked for. */
  lastSeen(id: string): CriContainerStatus | undefined {
    return this.#known.get(id)?.status
  }

  /** The containers that were seen, with their statuses of then. */
  *seen(): Generator<readonly [string, CriContainerStatus]> {
    for (const [id, { status }] of this.#known) yield [id, status]
  }

  forget(id: string): void {
    this.#known.delete(id)
  }
}
