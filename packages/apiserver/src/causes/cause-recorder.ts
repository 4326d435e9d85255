import type { Clock } from '@coracle/environment'
import type { LazyNote } from '@coracle/store'
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

/** Changes of a transaction whose note need not be made to know that it is short. */
export const lazyChangesMax = 4

// A class, as every literal with a getter is of a hidden class of its own.
class LazyCause implements LazyNote {
  readonly #timeMs: number
  readonly #origin: WriteOrigin
  readonly #changes: readonly RecordedChange[]
  #made: Uint8Array | undefined

  constructor(timeMs: number, origin: WriteOrigin, changes: readonly RecordedChange[]) {
    this.#timeMs = timeMs
    this.#origin = origin
    this.#changes = changes
  }

  get bytes(): Uint8Array {
    this.#made ??= encodeCause(this.#timeMs, this.#origin, this.#changes.map(notedChange))
    return this.#made
  }
}

/** A change that is about to be committed. */
export interface RecordedChange {
  readonly operation: NotedChange[0]
  /** What the keys of its kind begin with. */
  readonly prefix: string
  /** The rest of its key: `default/web`. */
  readonly key: string
  readonly uid: string
}

const notedChange = ({ operation, prefix, key, uid }: RecordedChange): NotedChange => [
  operation,
  prefix.slice(registryPrefix.length) + key,
  uid,
]

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

  /**
   * The note of a transaction; undefined where it is not recorded. The first change is what was asked for. `isLazy`: the store keeps it as it
   * comes.
   */
  noteOf(
    origin: WriteOrigin | undefined,
    changes: readonly RecordedChange[],
    isLazy: boolean,
  ): Uint8Array | LazyNote | undefined {
    const [first] = changes
    if (origin === undefined || first === undefined || unrecordedPrefixes.has(first.prefix)) return undefined
    if (this.#onUnexplained !== undefined) this.#checkExplained(origin, first, this.#onUnexplained)
    const timeMs = this.#clock.now()
    // That of many changes may be too long, which shows when it is made.
    return isLazy && changes.length <= lazyChangesMax
      ? new LazyCause(timeMs, origin, changes)
      : encodeCause(timeMs, origin, changes.map(notedChange))
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
