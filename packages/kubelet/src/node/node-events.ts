import { type Client, createEventRecorder, type EventRecorder } from '@coracle/client'
import type { Environment } from '@coracle/environment'

/** What records the events of one node. */
export type NodeRecorder = Pick<EventRecorder, 'event'>

/**
 * The events of many nodes. Most nodes never have one to record, so that a node gets its recorder, which keeps what was
 * recorded lately, with its first.
 */
export class NodeEvents {
  readonly #client: Client
  readonly #environment: Environment
  readonly #warningsOnly: boolean
  readonly #recorders = new Map<string, EventRecorder>()

  /** With `warningsOnly` what goes as it should is not recorded. */
  constructor(client: Client, environment: Environment, { warningsOnly }: { readonly warningsOnly: boolean }) {
    this.#client = client
    this.#environment = environment
    this.#warningsOnly = warningsOnly
  }

  /** Records for the agent of a node. */
  of(nodeName: string): NodeRecorder {
    return {
      event: (about, type, ...rest) => {
        if (type === 'Warning' || !this.#warningsOnly) this.#recorderOf(nodeName).event(about, type, ...rest)
      },
    }
  }

  /** Drops what is not written yet. */
  stop(): void {
    for (const recorder of this.#recorders.values()) recorder.stop()
  }

  #recorderOf(host: string): EventRecorder {
    const known = this.#recorders.get(host)
    if (known !== undefined) return known
    const recorder = createEventRecorder(this.#client, this.#environment, { component: 'kubelet', host })
    this.#recorders.set(host, recorder)
    return recorder
  }
}
