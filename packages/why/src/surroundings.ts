import { type Event, events, hasReason, type KubernetesObject, type Resource } from '@coracle/api'
import type { Client } from '@coracle/client'
import { inOrder } from './events.ts'
import type { Facts, Read } from './facts.ts'

/** Objects of one list that are read at most. Longer ones are read so far, and nothing is concluded from what is not in them. */
export const objectsReadMax = 1000

const pageSize = 500

interface Listed {
  readonly items: readonly KubernetesObject[]
  readonly isComplete: boolean
}

/** Reads what is around objects, each list once. What may not be read is left out, and known to be. */
export class Surroundings {
  readonly #client: Pick<Client, 'list'>
  readonly #lists = new Map<string, Promise<Listed>>()

  constructor(client: Pick<Client, 'list'>) {
    this.#client = client
  }

  async factsOf(
    object: KubernetesObject,
    reads: readonly Read[],
    rest: Pick<Facts, 'causes' | 'nowMs'>,
  ): Promise<Facts> {
    const [told, ...lists] = await Promise.all([this.#read(eventsOf(object)), ...reads.map((read) => this.#read(read))])
    const byResource = new Map(reads.map(({ resource }, index) => [keyOf(resource), lists[index]]))
    const { uid } = object.metadata
    const about = ((told?.items ?? []) as readonly Event[]).filter(
      ({ involvedObject }) => involvedObject.uid === undefined || involvedObject.uid === uid || object.kind === 'Node',
    )
    const some = <R extends KubernetesObject>(resource: Resource<R>) =>
      (byResource.get(keyOf(resource))?.items ?? []) as readonly KubernetesObject[] as readonly R[]
    return {
      object,
      events: inOrder(about),
      ...rest,
      some,
      all: (resource) => (byResource.get(keyOf(resource))?.isComplete === true ? some(resource) : undefined),
    }
  }

  #read(read: Read): Promise<Listed> {
    const { resource, ...scope } = read
    const key = JSON.stringify([keyOf(resource), scope])
    const known = this.#lists.get(key)
    if (known !== undefined) return known
    const list = this.#list(read)
    this.#lists.set(key, list)
    return list
  }

  async #list({ resource, namespace, ...selectors }: Read): Promise<Listed> {
    const scope = { ...(namespace === undefined ? {} : { namespace }), ...selectors, limit: pageSize }
    const items: KubernetesObject[] = []
    let next: string | undefined
    try {
      do {
        const page = await this.#client.list(resource, next === undefined ? scope : { ...scope, continue: next })
        items.push(...page.items)
        next = page.metadata.continue
      } while (next !== undefined && next !== '' && items.length < objectsReadMax)
    } catch (error) {
      if (!isUnreadable(error)) throw error
      return { items, isComplete: false }
    }
    return { items, isComplete: next === undefined || next === '' }
  }
}

/** The reader may not see them, or the server does not have them. */
const isUnreadable = (error: unknown): boolean =>
  ['Forbidden', 'NotFound', 'Expired', 'MethodNotAllowed'].some((reason) => hasReason(error, reason))

const keyOf = ({ group, plural }: Resource): string => `${group} ${plural}`

/** Events about objects that are in no namespace are in `default`. */
function eventsOf({ kind, metadata: { namespace = 'default', name = '' } }: KubernetesObject): Read {
  return { resource: events, namespace, fieldSelector: `involvedObject.kind=${kind},involvedObject.name=${name}` }
}
