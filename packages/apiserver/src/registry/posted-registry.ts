import type { KubernetesObject, ResourceDefinition } from '@coracle/api'
import type { RegistryWriteOptions, WriteResult } from '../registry-contract.ts'
import type { RequestContext } from '../request.ts'
import { decodeBody } from './body.ts'
import { namespaceForCreate } from './object-metadata.ts'
import { UnstoredObject, UnstoredRegistry } from './unstored-registry.ts'

/** The answer to an object that was posted. Throws, or rejects with, the refusal. */
export type Answer<T extends KubernetesObject> = (posted: T, context: RequestContext) => T | Promise<T>

/** A resource that is posted and answered with itself, filled in. Nothing of it is stored, and nothing can be read. */
export class PostedRegistry<T extends KubernetesObject> extends UnstoredRegistry<T> {
  readonly #answer: Answer<T>

  constructor(definition: ResourceDefinition<T>, answer: Answer<T>) {
    super(definition)
    this.#answer = answer
  }

  override async create(
    context: RequestContext,
    requestedNamespace: string,
    body: unknown,
    { fieldValidation }: RegistryWriteOptions,
  ): Promise<WriteResult> {
    const { object, warnings } = await decodeBody(this.definition, body, fieldValidation, () => false)
    const { namespace: _, ...metadata } = object.metadata
    const namespace = namespaceForCreate(this.definition, requestedNamespace, object)
    const posted = { ...object, metadata: namespace === '' ? metadata : { ...metadata, namespace } }
    const answer = await this.#answer(posted as T, context)
    return { stored: new UnstoredObject(answer), changed: false, warnings }
  }
}
