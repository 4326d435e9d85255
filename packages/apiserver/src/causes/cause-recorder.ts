import type { Clock } from '@coracle/environment'
import { registryPrefix } from '../watch-cache/store-feed.ts'
import { encodeCause, type NotedChange, type WriteOrigin } from './cause-note.ts'

/**
 * What is written without a cause: records that things go on as before, by the hundred a second in a large cluster. They would
 * push everything else out of the record, and nothing follows from any one of them.
 */
const unrecordedPrefixes: ReadonlySet<string> = new Set([
  `${registryPrefix}coordination.k8s.io/leases/`,
  `${registryPrefix}core/events/`,
  `${registryPrefix}events.k8s.io/events/`,
])

/** A change that is about to be committed. */
export interface RecordedChange {
  readonly operation: NotedChange[0]
  /** What the keys of its kind begin with. */
  readonly prefix: string
  /** The rest of its key: `default/web`. */
  readonly key: string
  readonly uid: string
}

/** Told of a write by a component of the cluster that does not say why. */
export type OnUnexplained = (userName: string, what: string) => void

/** Makes the notes that transactions carry. */
export class CauseRecorder {
  readonly #clock: Clock
  readonly #onUnexplained: OnUnexplained | undefined

  constructor(clock: Clock, onUnexplained?: OnUnexplained) {
    this.#clock = clock
    this.#onUnexplained = onUnexplained
  }

  /** The note of a transaction; undefined where it is not recorded. The first change is what was asked for. */
  noteOf(origin: WriteOrigin | undefined, changes: readonly RecordedChange[]): Uint8Array | undefined {
    const [first] = changes
    if (origin === undefined || first === undefined || unrecordedPrefixes.has(first.prefix)) return undefined
    if (this.#onUnexplained !== undefined) this.#checkExplained(origin, first, this.#onUnexplained)
    const noted = changes.map(({ operation, prefix, key, uid }): NotedChange => {
      return [operation, prefix.slice(registryPrefix.length) + key, uid]
    })
    return encodeCause(this.#clock.now(), origin, noted)
  }

  #checkExplained({ context, verb, subresource }: WriteOrigin, change: RecordedChange, tell: OnUnexplained): void {
    const { user, claim } = context
    if (claim?.because !== undefined || !isComponent(user.name)) return
    const part = subresource === '' ? '' : ` (${subresource})`
    tell(user.name, `${verb} ${change.prefix.slice(registryPrefix.length)}${change.key}${part}`)
  }
}

const componentNames: ReadonlySet<string> = new Set([
  'system:apiserver',
  'system:kube-controller-manager',
  'system:kube-scheduler',
  'system:simulated-nodes',
])

/** Whether a user is part of the cluster, whose word for why it acts is taken. What others say is shown as their claim. */
export function isComponent(userName: string): boolean {
  return (
    componentNames.has(userName) ||
    userName.startsWith('system:serviceaccount:kube-system:') ||
    userName.startsWith('system:node:')
  )
}
