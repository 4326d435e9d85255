import { type FieldOwners, type KubernetesObject, methodNotAllowed, type ResourceDefinition } from '@coracle/api'
import type { ListOptions } from '@coracle/client'
import type { DeleteResult, Page, Registry, RegistryWatch, Stored, WriteResult } from '../registry-contract.ts'

/** Makes the objects of a resource when somebody asks for them. */
export interface ObjectSource<T extends KubernetesObject> {
  /** Rejects with NotFound. */
  get(namespace: string, name: string): Promise<T>
  /** Selected and in order. */
  list(options: ListOptions): Promise<readonly T[]>
}

/** A resource that is read and never written: nothing of it is stored, and it has no history to watch. */
export class ComputedRegistry<T extends KubernetesObject> implements Registry<T> {
  readonly definition: ResourceDefinition<T>
  readonly #source: ObjectSource<T>

  constructor(definition: ResourceDefinition<T>, source: ObjectSource<T>) {
    this.definition = definition
    this.#source = source
  }

  async get(namespace: string, name: string): Promise<Stored<T>> {
    return new ComputedObject(await this.#source.get(namespace, name))
  }

  /** Always the whole list: it is made anew each time, and pages of different lists would not fit together. */
  async list(options: ListOptions): Promise<Page> {
    const objects = await this.#source.list(options)
    const items = objects.map((object) => new ComputedObject(object))
    return { items, revision: 0, continue: '', remainingItemCount: undefined }
  }

  async watch(): Promise<RegistryWatch> {
    throw methodNotAllowed(this.definition, 'watch')
  }

  async create(): Promise<WriteResult> {
    throw methodNotAllowed(this.definition, 'create')
  }

  async update(): Promise<WriteResult> {
    throw methodNotAllowed(this.definition, 'update')
  }

  async patch(): Promise<WriteResult> {
    throw methodNotAllowed(this.definition, 'patch')
  }

  async delete(): Promise<DeleteResult> {
    throw methodNotAllowed(this.definition, 'delete')
  }

  async deleteCollection(): Promise<Page> {
    throw methodNotAllowed(this.definition, 'deletecollection')
  }
}

class ComputedObject<T extends KubernetesObject> implements Stored<T> {
  readonly object: T
  readonly revision = 0
  readonly owners: FieldOwners = []

  constructor(object: T) {
    this.object = object
  }

  get withManagedFields(): T {
    return this.object
  }

  get bytes(): Buffer {
    return Buffer.from(JSON.stringify(this.object))
  }
}
