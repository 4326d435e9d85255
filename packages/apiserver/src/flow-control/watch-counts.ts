import { parseFieldSelector } from '@coracle/api'
import type { ResourceRoute } from '../http/routes.ts'
import { selectedName } from '../request.ts'

type Watched = Pick<ResourceRoute, 'group' | 'plural' | 'namespace' | 'name'>

/**
 * How many clients watch what, over HTTP (apiserver, util/flowcontrol/watch_tracker.go): that tells how much work it is to write something.
 * Watches in this process share the event as it is, and cost next to nothing.
 */
export class WatchCounts {
  readonly #counts = new Map<string, number>()

  /** Counts a watch until the returned function is called. One of the pods of a node counts nowhere: it hears of few changes. */
  register(watched: Watched, fieldSelector: string): () => void {
    if (watched.plural === 'pods' && selectsNode(fieldSelector)) return () => {}
    const name = watched.name === '' ? (selectedName(fieldSelector) ?? '') : watched.name
    const key = keyOf(watched, watched.namespace, name)
    this.#change(key, 1)
    let isCounted = true
    return () => {
      if (isCounted) this.#change(key, -1)
      isCounted = false
    }
  }

  /** How many watches a write may concern: those of all its resource, of its namespace, and of the object itself. */
  interestedIn(written: Watched): number {
    const { namespace, name } = written
    let count = this.#of(keyOf(written, '', ''))
    if (namespace !== '') count += this.#of(keyOf(written, namespace, ''))
    if (name !== '') count += this.#of(keyOf(written, namespace, name))
    return count
  }

  #of(key: string): number {
    return this.#counts.get(key) ?? 0
  }

  #change(key: string, change: 1 | -1): void {
    const count = this.#of(key) + change
    if (count === 0) this.#counts.delete(key)
    else this.#counts.set(key, count)
  }
}

const keyOf = ({ group, plural }: Watched, namespace: string, name: string): string =>
  `${plural}.${group}/${namespace}/${name}`

/** Whether one node is asked for. A selector that cannot be read is for others to refuse. */
function selectsNode(fieldSelector: string): boolean {
  if (!fieldSelector.includes('spec.nodeName')) return false
  try {
    const { terms } = parseFieldSelector(fieldSelector)
    return terms.some(({ field, operator, value }) => field === 'spec.nodeName' && operator === '=' && value !== '')
  } catch {
    return false
  }
}
