import {
  type FieldOwners,
  jsonFormOf,
  type KubernetesObject,
  methodNotAllowed,
  type ResourceDefinition,
} from '@coracle/api'
import type { DeleteOptions, ListOptions, Patch, WatchOptions } from '@coracle/client'
import type {
  DeleteResult,
  Page,
  Registry,
  RegistryWatch,
  RegistryWriteOptions,
  Stored,
  WatchDelivery,
  WriteResult,
} from '../registry-contract.ts'
import type { RequestContext } from '../request.ts'

/** A resource of which nothing is stored. It refuses every verb: those that it has are overridden. */
export abstract class UnstoredRegistry<T extends KubernetesObject> implements Registry<T> {
  readonly definition: ResourceDefinition<T>

  constructor(definition: ResourceDefinition<T>) {
    this.definition = definition
  }

  get(_namespace: string, _name: string): Promise<Stored<T>> {
    return this.#refuse('get')
  }

  list(_options: ListOptions): Promise<Page> {
    return this.#refuse('list')
  }

  watch(
    _options: WatchOptions,
    _onEvent: (delivery: WatchDelivery) => boolean,
    _onEnd: () => void,
  ): Promise<RegistryWatch> {
    return this.#refuse('watch')
  }

  create(
    _context: RequestContext,
    _namespace: string,
    _body: unknown,
    _options: RegistryWriteOptions,
  ): Promise<WriteResult> {
    return this.#refuse('create')
  }

  update(): Promise<WriteResult> {
    return this.#refuse('update')
  }

  patch(
    _context: RequestContext,
    _namespace: string,
    _name: string,
    _subresource: string,
    _patch: Patch,
  ): Promise<WriteResult> {
    return this.#refuse('patch')
  }

  delete(_context: RequestContext, _namespace: string, _name: string, _options: DeleteOptions): Promise<DeleteResult> {
    return this.#refuse('delete')
  }

  deleteCollection(): Promise<Page> {
    return this.#refuse('deletecollection')
  }

  async #refuse(verb: string): Promise<never> {
    throw methodNotAllowed(this.definition, verb)
  }
}

/** An object that is made for one answer. */
export class UnstoredObject<T extends KubernetesObject> implements Stored<T> {
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
    return Buffer.from(JSON.stringify(jsonFormOf(this.object)))
  }
}
