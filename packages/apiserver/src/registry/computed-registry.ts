import type { KubernetesObject, ResourceDefinition } from '@coracle/api'
import type { ListOptions } from '@coracle/client'
import type { Page, Stored } from '../registry-contract.ts'
import { UnstoredObject, UnstoredRegistry } from './unstored-registry.ts'

/** Makes the objects of a resource when somebody asks for them. */
export interface ObjectSource<T extends KubernetesObject> {
  /** Rejects with NotFound. */
  get(namespace: string, name: string): Promise<T>
  /** Selected and in order. */
  list(options: ListOptions): Promise<readonly T[]>
}

/** A resource that is read and never written: nothing of it is stored, and it has no history to watch. */
export class ComputedRegistry<T extends KubernetesObject> extends UnstoredRegistry<T> {
  readonly #source: ObjectSource<T>

  constructor(definition: ResourceDefinition<T>, source: ObjectSource<T>) {
    super(definition)
    this.#source = source
  }

  override async get(namespace: string, name: string): Promise<Stored<T>> {
    return new UnstoredObject(await this.#source.get(namespace, name))
  }

  /** Always the whole list: it is made anew each time, and pages of different lists would not fit together. */
  override async list(options: ListOptions): Promise<Page> {
    const objects = await this.#source.list(options)
    const items = objects.map((object) => new UnstoredObject(object))
    return { items, revision: 0, continue: '', remainingItemCount: undefined }
  }
}
