import type { KubernetesObject, ObjectMeta, ResourceDefinition } from '@coracle/api'
import type { AdmissionChain } from '../admission/admission.ts'
import type { HeldClock } from '../go-types.ts'
import type { RegistryWriteOptions, WriteResult } from '../registry-contract.ts'
import type { RequestContext } from '../request.ts'
import { decodeBody } from './body.ts'
import { namespaceForCreate } from './object-metadata.ts'
import { UnstoredObject, UnstoredRegistry } from './unstored-registry.ts'
import { admittedPosted, WriteAdmission } from './write-admission.ts'

/** What becomes of an object that is posted. */
export interface PostedAnswer<T extends KubernetesObject> {
  /** Throws where the object is no question that can be answered. */
  readonly check?: (posted: T) => void
  /** Throws, or rejects with, the refusal. */
  readonly answer: (posted: T, context: RequestContext) => T | Promise<T>
}

/**
 * A resource that is posted and answered with itself, filled in. Nothing of it is stored, and nothing can be read. Admission sees it as
 * what it is, a creation: what may change it before it is checked, what judges it after.
 */
export class PostedRegistry<T extends KubernetesObject> extends UnstoredRegistry<T> {
  readonly #clock: HeldClock
  readonly #admission: AdmissionChain
  readonly #answer: () => Promise<PostedAnswer<T>>

  constructor(
    clock: HeldClock,
    definition: ResourceDefinition<T>,
    admission: AdmissionChain,
    answer: () => Promise<PostedAnswer<T>>,
  ) {
    super(definition)
    this.#clock = clock
    this.#admission = admission
    this.#answer = answer
  }

  override async create(
    context: RequestContext,
    requestedNamespace: string,
    body: unknown,
    options: RegistryWriteOptions,
  ): Promise<WriteResult> {
    const { definition } = this
    const decoding = { clock: this.#clock, definition, fieldValidation: options.fieldValidation }
    const { object, warnings } = await decodeBody(body, decoding)
    const namespace = namespaceForCreate(definition, requestedNamespace, object)
    const posted = { ...object, metadata: ownMetadata(object.metadata, namespace) }
    const kind = admittedPosted(definition)
    const parts = { admission: this.#admission, storage: { kind }, view: { definition: kind } }
    const admission = new WriteAdmission(parts, {
      operation: 'CREATE',
      context,
      subresource: '',
      namespace,
      name: posted.metadata.name ?? '',
      old: undefined,
      options,
    })
    const admitted = (await admission.admit(posted)) as T
    const { check, answer } = await this.#answer()
    check?.(admitted)
    await admission.judge(admitted)
    return { stored: new UnstoredObject(await answer(admitted, context)), changed: false, warnings }
  }
}

/** The metadata without what only a server gives. */
function ownMetadata(given: ObjectMeta, namespace: string): ObjectMeta {
  const {
    namespace: _namespace,
    uid: _uid,
    selfLink: _selfLink,
    creationTimestamp: _creationTimestamp,
    deletionTimestamp: _deletionTimestamp,
    deletionGracePeriodSeconds: _deletionGracePeriodSeconds,
    managedFields: _managedFields,
    ...own
  } = given
  return namespace === '' ? own : { ...own, namespace }
}
