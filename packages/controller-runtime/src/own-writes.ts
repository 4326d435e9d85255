import {
  hasReason,
  type KubernetesList,
  type KubernetesObject,
  type ReconcileOrigin,
  type Resource,
  type Status,
} from '@coracle/api'
import {
  type ApplyConfiguration,
  type ApplyOptions,
  type Client,
  compareVersions,
  type DeleteOptions,
  type GetOptions,
  type Informer,
  type InformerFactory,
  keyOf,
  keyText,
  type ListOptions,
  type ObjectKey,
  type Patch,
  scopeMatcher,
  type Watch,
  type WatchOptions,
  type WriteOptions,
} from '@coracle/client'
import type { ReconcileWrites } from './reconcile-writes.ts'

/**
 * Remembers what was written for the sake of each key, and tells when the caches show it.
 *
 * A controller that decides on a cache older than its own writes does things twice: it misses the pod it has just made
 * and makes another. Upstream's controllers each keep expectations by hand against that. Here every write is followed
 * by its resourceVersion, which the server orders (KEP-5504), and a deletion by the identity of what was deleted.
 *
 * What a write whose answer got lost has done is not known here; the key then comes back after the usual back-off.
 */
export class OwnWrites {
  readonly #informers: InformerFactory
  readonly #keys = new Map<string, KeyWrites>()

  constructor(informers: InformerFactory) {
    this.#informers = informers
  }

  /** A client whose writes count as made for `key`, and say that this reconcile makes them. They are entered into `made` as well. */
  clientFor(key: string, client: Client, reconcile: ReconcileOrigin, made: ReconcileWrites): Client {
    return new RecordingClient(client, this.#informers, reconcile, made, {
      begin: () => {
        made.begin()
        this.#writesOf(key).inFlight++
      },
      add: (sighting) => addSighting(this.#writesOf(key).unseen, sighting),
      end: () => {
        made.end()
        const writes = this.#writesOf(key)
        writes.inFlight--
        this.#advance(key, writes)
      },
      isExpecting: (informer, objectKey) =>
        this.#writesOf(key).unseen.some(
          (sighting) => sighting.informer === informer && sighting.objectKey === objectKey,
        ),
    })
  }

  /**
   * Whether a cache is behind what was written for `key`. If so, `whenCaughtUp` is called once when none is any more;
   * of several calls only the last callback counts.
   */
  isBehind(key: string, whenCaughtUp: () => void): boolean {
    const writes = this.#keys.get(key)
    if (writes === undefined) return false
    this.#advance(key, writes)
    if (!this.#keys.has(key)) return false
    writes.whenCaughtUp = whenCaughtUp
    return true
  }

  #writesOf(key: string): KeyWrites {
    let writes = this.#keys.get(key)
    if (writes === undefined) {
      writes = { inFlight: 0, unseen: [], isWaiting: false, whenCaughtUp: undefined }
      this.#keys.set(key, writes)
    }
    return writes
  }

  /** Drops what the caches show by now, in the order it was written, and waits for the first that they do not. */
  #advance(key: string, writes: KeyWrites): void {
    if (writes.isWaiting) return
    while (writes.unseen[0]?.isSeen() === true) writes.unseen.shift()
    const [next] = writes.unseen
    if (next !== undefined) {
      writes.isWaiting = true
      next.whenSeen(() => {
        writes.isWaiting = false
        // Its server was restored from an earlier state: of what was written before nothing comes.
        if (!next.isSeen()) writes.unseen = writes.unseen.filter(({ informer }) => informer !== next.informer)
        this.#advance(key, writes)
      })
      return
    }
    if (writes.inFlight > 0) return
    this.#keys.delete(key)
    writes.whenCaughtUp?.()
  }
}

interface KeyWrites {
  inFlight: number
  unseen: Sighting[]
  isWaiting: boolean
  whenCaughtUp: (() => void) | undefined
}

/** A change that a cache has yet to show. */
interface Sighting {
  readonly informer: Informer<KubernetesObject>
  readonly objectKey: string
  /** Absent for deletions. */
  readonly version?: string
  isSeen(): boolean
  whenSeen(callback: () => void): void
}

/**
 * Of versions awaited one after another in a cache of the whole resource only the newest matters. The first in line stays:
 * it is being waited for. So does what a selective cache is to show: `isExpecting` asks for the objects.
 */
function addSighting(unseen: Sighting[], sighting: Sighting): void {
  const last = unseen.length > 1 ? unseen.at(-1) : undefined
  const { labelSelector, fieldSelector } = sighting.informer.scope
  const isSelective = labelSelector !== undefined || fieldSelector !== undefined
  const mayMerge = last?.version !== undefined && sighting.version !== undefined && last.informer === sighting.informer
  if (!mayMerge || isSelective) unseen.push(sighting)
  else if (compareVersions(sighting.version, last.version) > 0) unseen[unseen.length - 1] = sighting
}

const versionSighting = (informer: Informer<KubernetesObject>, objectKey: string, version: string): Sighting => ({
  informer,
  objectKey,
  version,
  isSeen: () => informer.hasReached(version),
  whenSeen: (callback) => informer.whenReached(version, callback),
})

const deletionSighting = (informer: Informer<KubernetesObject>, objectKey: string, uid: string): Sighting => ({
  informer,
  objectKey,
  isSeen: () => informer.hasSeenDeletion(objectKey, uid),
  whenSeen: (callback) => informer.whenSeenDeletion(objectKey, uid, callback),
})

interface WriteLog {
  begin(): void
  add(sighting: Sighting): void
  end(): void
  isExpecting(informer: Informer<KubernetesObject>, objectKey: string): boolean
}

/** Passes everything on, with the reconcile it is for, and enters successful writes into the log. */
class RecordingClient implements Client {
  readonly #client: Client
  readonly #informers: InformerFactory
  readonly #reconcile: ReconcileOrigin
  readonly #made: ReconcileWrites
  readonly #log: WriteLog

  constructor(
    client: Client,
    informers: InformerFactory,
    reconcile: ReconcileOrigin,
    made: ReconcileWrites,
    log: WriteLog,
  ) {
    this.#client = client
    this.#made = made
    this.#reconcile = reconcile
    this.#informers = informers
    this.#log = log
  }

  staysInProcess(resource: Resource): boolean {
    return this.#client.staysInProcess?.(resource) ?? false
  }

  get<T extends KubernetesObject>(resource: Resource<T>, key: ObjectKey, options?: GetOptions): Promise<T> {
    return this.#client.get(resource, key, options)
  }

  list<T extends KubernetesObject>(resource: Resource<T>, options?: ListOptions): Promise<KubernetesList<T>> {
    return this.#client.list(resource, options)
  }

  watch<T extends KubernetesObject>(resource: Resource<T>, options?: WatchOptions): Promise<Watch<T>> {
    return this.#client.watch(resource, options)
  }

  stream(
    resource: Resource,
    key: ObjectKey,
    subresource: string,
    query: Readonly<Record<string, string>>,
    signal?: AbortSignal,
  ): Promise<AsyncIterable<Uint8Array>> {
    return this.#client.stream(resource, key, subresource, query, signal)
  }

  create<T extends KubernetesObject>(resource: Resource<T>, object: T, options?: WriteOptions): Promise<T> {
    return this.#recordResult(resource, options, () => this.#client.create(resource, object, this.#explained(options)))
  }

  update<T extends KubernetesObject>(resource: Resource<T>, object: T, options?: WriteOptions): Promise<T> {
    return this.#recordResult(resource, options, () => this.#client.update(resource, object, this.#explained(options)))
  }

  patch<T extends KubernetesObject>(
    resource: Resource<T>,
    key: ObjectKey,
    patch: Patch,
    options?: WriteOptions,
  ): Promise<T> {
    return this.#recordResult(resource, options, () =>
      this.#client.patch(resource, key, patch, this.#explained(options)),
    )
  }

  apply<T extends KubernetesObject>(
    resource: Resource<T>,
    configuration: ApplyConfiguration<T>,
    options: ApplyOptions,
  ): Promise<T> {
    return this.#recordResult(resource, options, () =>
      this.#client.apply(resource, configuration, this.#explained(options)),
    )
  }

  createSubresource(
    resource: Resource,
    key: ObjectKey,
    subresource: string,
    body: unknown,
    options?: WriteOptions,
  ): Promise<unknown> {
    const write = () => this.#client.createSubresource(resource, key, subresource, body, this.#explained(options))
    // An eviction is a delete. What other subresources change, if anything, their answers do not tell.
    return subresource === 'eviction' && options?.dryRun !== true
      ? this.#recordDeletion(resource, key, undefined, write)
      : write()
  }

  delete<T extends KubernetesObject>(
    resource: Resource<T>,
    key: ObjectKey,
    options?: DeleteOptions,
  ): Promise<T | Status> {
    const write = () => this.#client.delete(resource, key, this.#explained(options))
    return options?.dryRun === true ? write() : this.#recordDeletion(resource, key, options?.preconditions?.uid, write)
  }

  async deleteCollection<T extends KubernetesObject>(
    resource: Resource<T>,
    list: ListOptions,
    options?: DeleteOptions,
  ): Promise<void> {
    const matches = scopeMatcher(list)
    this.#log.begin()
    try {
      await this.#client.deleteCollection(resource, list, this.#explained(options))
      if (options?.dryRun === true) return
      for (const informer of this.#informers.informersOf(resource)) {
        for (const object of informer.list(list.namespace)) {
          if (matches(object)) this.#log.add(deletionSighting(informer, keyOf(object), object.metadata.uid ?? ''))
        }
      }
    } finally {
      this.#log.end()
    }
  }

  #explained<O extends WriteOptions | ApplyOptions | DeleteOptions>(options: O | undefined): O {
    return { ...(options as O), reconcile: this.#reconcile }
  }

  async #recordResult<T extends KubernetesObject>(
    resource: Resource<T>,
    options: WriteOptions | undefined,
    write: () => Promise<T>,
  ): Promise<T> {
    this.#log.begin()
    try {
      const result = await write()
      if (options?.dryRun !== true) this.#expectVersion(resource, result)
      return result
    } finally {
      this.#log.end()
    }
  }

  #expectVersion(resource: Resource, result: KubernetesObject): void {
    const { resourceVersion } = result.metadata
    if (resourceVersion === undefined) return
    const key = keyOf(result)
    this.#made.wrote(resource, key, resourceVersion)
    for (const informer of this.#informers.informersOf(resource)) {
      // A cache restricted by selectors hears of an object that belongs there, or did until now.
      const concerns =
        informer.covers(result) || informer.get(key) !== undefined || this.#log.isExpecting(informer, key)
      if (concerns) this.#log.add(versionSighting(informer, key, resourceVersion))
    }
  }

  async #recordDeletion<R>(
    resource: Resource,
    { namespace, name }: ObjectKey,
    wantedUid: string | undefined,
    write: () => Promise<R>,
  ): Promise<R> {
    const key = keyText(namespace, name)
    const informers = this.#informers.informersOf(resource)
    const uids = informers.map((informer) => wantedUid ?? informer.get(key)?.metadata.uid)
    const expect = (answeredUid: string | undefined) =>
      informers.forEach((informer, index) => {
        const uid = uids[index] ?? answeredUid
        if (uid !== undefined) this.#log.add(deletionSighting(informer, key, uid))
      })
    this.#log.begin()
    try {
      const answer = await write()
      const answeredUid = uidIn(answer)
      const uid = answeredUid ?? wantedUid
      if (uid !== undefined) this.#made.deleted(resource, key, uid)
      expect(answeredUid)
      return answer
    } catch (error) {
      // Gone already, and the cache does not know yet: that is to be waited for all the same.
      if (hasReason(error, 'NotFound')) expect(undefined)
      throw error
    } finally {
      this.#log.end()
    }
  }
}

/** The identity in the answer to a delete: that of the object, or the one its Status names. */
function uidIn(answer: unknown): string | undefined {
  const { metadata, details } = (answer ?? {}) as {
    readonly metadata?: { readonly uid?: string }
    readonly details?: { readonly uid?: string }
  }
  return metadata?.uid ?? details?.uid
}
