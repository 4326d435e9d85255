import { ApiError, hasReason, type KubernetesObject, type OwnerReference, type Resource } from '@coracle/api'
import type { Client } from '@coracle/client'
import { hasFinalizer, isBeingDeleted } from '@coracle/controller-runtime'
import type { AbsentOwners } from './absent-owners.ts'
import { DependentSearch } from './dependent-search.ts'
import { foregroundFinalizer } from './graph.ts'
import { type Identity, identityOfOwner } from './identity.ts'
import type { Kinds } from './kinds.ts'
import type { OwnerState } from './plan.ts'

/** Asks the server what there is: before something is deleted for want of an owner, the owner is looked for. */
export class LiveObjects {
  readonly #client: Client
  readonly #kinds: Kinds
  readonly #absentOwners: AbsentOwners
  readonly #dependents = new DependentSearch((namespace) => this.#ownedIn(namespace))
  /** Reads under way. A thousand dependents that ask for their owner at once are answered by one. */
  readonly #reads = new Map<string, Promise<KubernetesObject | undefined>>()

  constructor(client: Client, kinds: Kinds, absentOwners: AbsentOwners) {
    this.#client = client
    this.#kinds = kinds
    this.#absentOwners = absentOwners
  }

  /**
   * The object of this identity as it is now; undefined where it is not there or another has its name. `impossible` where it
   * cannot be addressed: the kind is namespaced and no namespace is known. Rejects where there is no such kind.
   */
  async find(identity: Identity): Promise<KubernetesObject | 'impossible' | undefined> {
    const resource = this.#kinds.require(identity.apiVersion, identity.kind)
    if (resource.namespaced && identity.namespace === '') return 'impossible'
    const live = await this.#read(resource, identity)
    return live?.metadata.uid === identity.uid ? live : undefined
  }

  /** How it stands with the owner that a reference names, for a dependent in `namespace`. Rejects where there is no such kind. */
  async ownerState(reference: OwnerReference, namespace: string): Promise<OwnerState> {
    const named = identityOfOwner(reference, namespace)
    if (this.#absentOwners.has({ ...named, namespace: '' }) || this.#absentOwners.has(named)) return 'absent'
    const { namespaced } = this.#kinds.require(reference.apiVersion, reference.kind)
    const identity = namespaced ? named : { ...named, namespace: '' }
    const owner = await this.find(identity)
    if (owner === 'impossible') return 'invalid'
    if (owner === undefined) {
      this.#absentOwners.add(identity)
      return 'absent'
    }
    return isBeingDeleted(owner) && hasFinalizer(owner, foregroundFinalizer) ? 'waiting' : 'solid'
  }

  /**
   * What names this owner now, of all kinds that can: of its namespace where it has one. A kind that the server cannot list, such as one
   * whose conversion fails, is left out. Rejects where the server does not answer, or has no time to.
   */
  dependentsOf(owner: Identity): Promise<readonly KubernetesObject[]> {
    return this.#dependents.dependentsOf(owner)
  }

  /** What has owners in a namespace, or anywhere where it is empty. */
  async #ownedIn(namespace: string): Promise<readonly KubernetesObject[]> {
    const scope = namespace === '' ? {} : { namespace }
    const kinds = this.#kinds.all().filter(({ namespaced }) => namespaced || namespace === '')
    const found: KubernetesObject[] = []
    for (const kind of kinds) found.push(...(await this.#list(kind, scope)).filter(hasOwners))
    return found
  }

  async #list(resource: Resource, scope: { readonly namespace?: string }): Promise<readonly KubernetesObject[]> {
    try {
      return (await this.#client.list(resource, scope)).items
    } catch (error) {
      if (!(error instanceof ApiError) || hasReason(error, 'TooManyRequests') || hasReason(error, 'Timeout'))
        throw error
      return []
    }
  }

  #read(resource: Resource, { namespace, name }: Identity): Promise<KubernetesObject | undefined> {
    const key = `${resource.group}/${resource.plural}/${resource.namespaced ? namespace : ''}/${name}`
    const underWay = this.#reads.get(key)
    if (underWay !== undefined) return underWay
    const read = this.#get(resource, resource.namespaced ? { namespace, name } : { name }).finally(() =>
      this.#reads.delete(key),
    )
    this.#reads.set(key, read)
    return read
  }

  async #get(
    resource: Resource,
    key: { readonly namespace?: string; readonly name: string },
  ): Promise<KubernetesObject | undefined> {
    try {
      return await this.#client.get(resource, key)
    } catch (error) {
      if (hasReason(error, 'NotFound')) return undefined
      throw error
    }
  }
}

const hasOwners = ({ metadata }: KubernetesObject): boolean => metadata.ownerReferences !== undefined
