import { type CauseClaim, hasReason, type KubernetesObject, type OwnerReference } from '@coracle/api'
import { type Client, retryOnConflict } from '@coracle/client'
import type { Environment } from '@coracle/environment'
import type { GraphNode } from './graph.ts'
import { identityOf } from './identity.ts'
import type { Kinds } from './kinds.ts'
import type { LiveObjects } from './live-objects.ts'

/** Members of metadata to set; null takes one away. Undefined: there is nothing to change. */
type MetadataChange = Readonly<Record<string, unknown>> | undefined

/** Changes the metadata of objects of any kind, as they are now or not at all. */
export class ObjectEditor {
  readonly #client: Client
  readonly #kinds: Kinds
  readonly #live: LiveObjects
  readonly #environment: Environment

  constructor(client: Client, kinds: Kinds, live: LiveObjects, environment: Environment) {
    this.#client = client
    this.#kinds = kinds
    this.#live = live
    this.#environment = environment
  }

  /** Takes owners off an object. */
  dropOwners(
    node: GraphNode,
    uids: readonly string[],
    cause: CauseClaim,
    signal: AbortSignal,
  ): Promise<KubernetesObject | undefined> {
    const dropped = new Set(uids)
    return this.#edit(node, cause, signal, ({ metadata }) => {
      const left = metadata.ownerReferences?.filter(({ uid }) => !dropped.has(uid)) ?? []
      return left.length === (metadata.ownerReferences?.length ?? 0) ? undefined : { ownerReferences: orNull(left) }
    })
  }

  /** Lets an object's owners go before it. */
  unblockOwners(node: GraphNode, cause: CauseClaim, signal: AbortSignal): Promise<KubernetesObject | undefined> {
    return this.#edit(node, cause, signal, ({ metadata: { ownerReferences = [] } }) => {
      if (!ownerReferences.some(isBlocking)) return undefined
      return {
        ownerReferences: ownerReferences.map((each) =>
          isBlocking(each) ? { ...each, blockOwnerDeletion: false } : each,
        ),
      }
    })
  }

  /** Takes a finalizer off an object. */
  removeFinalizer(
    node: GraphNode,
    finalizer: string,
    cause: CauseClaim,
    signal: AbortSignal,
  ): Promise<KubernetesObject | undefined> {
    return this.#edit(node, cause, signal, ({ metadata: { finalizers = [] } }) =>
      finalizers.includes(finalizer)
        ? { finalizers: orNull(finalizers.filter((each) => each !== finalizer)) }
        : undefined,
    )
  }

  /**
   * Changes an object: from the state the graph has seen, and where that is not the latest, at once from what the server has. Only
   * conflicts with the latter are worth a wait: somebody writes at this moment. Resolves to the object then, or undefined where it
   * is gone.
   */
  async #edit(
    node: GraphNode,
    cause: CauseClaim,
    signal: AbortSignal,
    change: (object: KubernetesObject) => MetadataChange,
  ): Promise<KubernetesObject | undefined> {
    const write = async (object: KubernetesObject) => {
      const metadata = change(object)
      return metadata === undefined ? object : this.#patch(object, metadata, cause)
    }
    const writeLatest = async () => {
      const object = await this.#live.find(node.identity)
      return object === undefined || object === 'impossible' ? undefined : write(object)
    }
    const retry = () => retryOnConflict(writeLatest, this.#environment, signal)
    try {
      return node.object === undefined ? await retry() : await write(node.object).catch(onConflict(retry))
    } catch (error) {
      if (hasReason(error, 'NotFound')) return undefined
      throw error
    }
  }

  #patch(
    object: KubernetesObject,
    metadata: Readonly<Record<string, unknown>>,
    cause: CauseClaim,
  ): Promise<KubernetesObject> {
    const { apiVersion, kind, namespace, name } = identityOf(object)
    const { uid, resourceVersion } = object.metadata
    const key = namespace === '' ? { name } : { namespace, name }
    // A merge patch replaces whole lists, so it holds for the version it was made from only.
    const body = { metadata: { uid, resourceVersion, ...metadata } }
    return this.#client.patch(this.#kinds.require(apiVersion, kind), key, { type: 'merge', body }, cause)
  }
}

/** What to do where a write met a newer object; other errors pass. */
const onConflict =
  <T>(recover: () => Promise<T>) =>
  (error: unknown): Promise<T> => {
    if (!hasReason(error, 'Conflict')) throw error
    return recover()
  }

const isBlocking = ({ blockOwnerDeletion }: OwnerReference): boolean => blockOwnerDeletion === true

const orNull = <T>(list: readonly T[]): readonly T[] | null => (list.length === 0 ? null : list)
