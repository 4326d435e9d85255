import {
  compile,
  type FieldOwners,
  type KubernetesObject,
  managedFieldsProblem,
  type ObjectMeta,
  ownersOf,
  type ResourceDefinition,
} from '@coracle/api'
import type { DeleteOptions } from '@coracle/client'
import type { AdmissionAttributes, AdmissionOperation, AdmittedKind, AdmittedResource } from '../admission/admission.ts'
import type { RegistryWriteOptions } from '../registry-contract.ts'
import type { RequestContext } from '../request.ts'
import { completeAdmittedSpec, rememberAdmitted, withSpec } from './complete-specs.ts'
import type { JointWrite } from './object-writer.ts'
import { duplicateOwnersWarning, withDistinctOwners } from './owner-references.ts'
import type { RegistryParts } from './registry-parts.ts'

/** What a write tells admission of itself. */
export interface AdmissionRequest {
  readonly operation: AdmissionOperation
  readonly context: RequestContext
  /** What the path names, where that is not the resource that is written: it is shown in no other version. */
  readonly posted?: ResourceDefinition | undefined
  readonly subresource: string
  /** Of the objects admission sees; the resource's own kind where it is absent. */
  readonly kind?: AdmittedKind | undefined
  readonly namespace: string
  readonly name: string
  readonly old: KubernetesObject | undefined
  /** Who owns fields of the object after the request and before it; absent where nobody can. */
  readonly owners?: () => FieldOwners
  readonly oldOwners?: () => FieldOwners
  readonly options: RegistryWriteOptions | DeleteOptions
  readonly isPatch?: boolean
}

const postedResources = new WeakMap<ResourceDefinition, AdmittedResource>()

/** A resource that is only posted to, as admission sees it: one value for all requests. */
export function admittedPosted(posted: ResourceDefinition): AdmittedResource {
  const known = postedResources.get(posted)
  if (known !== undefined) return known
  const made = { ...posted, served: true, versions: [] }
  postedResources.set(posted, made)
  return made
}

/** What admission goes by: the kind that is stored, and the version that is written. */
type AdmittingParts = Pick<RegistryParts, 'admission'> & {
  readonly storage: { readonly kind: AdmittedResource }
  readonly view: Pick<RegistryParts['view'], 'definition'>
}

/** A write's way through admission: first what may change it, later, when it has been checked, what judges it. */
export class WriteAdmission {
  readonly #parts: AdmittingParts
  readonly #attributes: AdmissionAttributes
  readonly #alongside: JointWrite[] = []
  readonly #changedBy: string[] = []
  /** What admission has written there, if anything. */
  #managedFields: ObjectMeta['managedFields']
  /** The owners that follow from it. */
  #ownersAfter: FieldOwners | undefined

  constructor(parts: AdmittingParts, request: AdmissionRequest) {
    const { operation, context, posted, subresource, namespace, name, old, options } = request
    const definition = posted === undefined ? parts.storage.kind : admittedPosted(posted)
    const { kind = definition, owners, oldOwners, isPatch = false } = request
    const dryRun = options.dryRun === true
    const requested = posted === undefined ? parts.view.definition : definition
    this.#parts = parts
    this.#attributes = {
      operation,
      context,
      definition,
      requested,
      subresource,
      kind,
      namespace,
      name,
      old,
      options,
      isPatch,
      dryRun,
      alongside: this.#alongside,
      changedBy: this.#changedBy,
      owners,
      oldOwners,
    }
  }

  /**
   * What admission makes of an object: pruned, canonical and with defaults, as if it had come so. Answers at once where nobody has to be waited
   * for.
   */
  admit(object: KubernetesObject): KubernetesObject | Promise<KubernetesObject> {
    const admitted = this.#parts.admission.mutate(this.#attributes, object)
    return admitted instanceof Promise
      ? admitted.then((each) => this.#completed(each, object))
      : this.#completed(admitted, object)
  }

  #completed(admitted: KubernetesObject, object: KubernetesObject): KubernetesObject {
    if (admitted === object) return this.#withDistinctOwners(object)
    this.#managedFields = admitted.metadata.managedFields
    return this.#withDistinctOwners(complete(this.#attributes.kind, admitted, object))
  }

  #withDistinctOwners(admitted: KubernetesObject): KubernetesObject {
    const { object, duplicates } = withDistinctOwners(admitted)
    if (duplicates.length > 0) this.#attributes.context.warn?.(duplicateOwnersWarning(duplicates, 'after-admission'))
    return object
  }

  /** The owners of fields: those that admission wrote, where it changed them and they make sense. */
  ownersAfter(owners: FieldOwners): FieldOwners {
    if (this.#managedFields === undefined) return owners
    const written = ownersOf(this.#managedFields)
    if (written !== undefined) {
      this.#ownersAfter = written
      return written
    }
    this.#attributes.context.warn?.(
      `.metadata.managedFields was in an invalid state after admission; this could be caused by an outdated mutating admission controller; please fix your requests: ${managedFieldsProblem(this.#managedFields)}`,
    )
    return owners
  }

  /** Lets plugins that change objects see a delete, or a connection, which have no object to change. */
  async admitWithoutObject(): Promise<void> {
    await this.#parts.admission.mutate(this.#attributes, undefined)
  }

  /** Names of the plugins that have changed the object, in order. */
  get changedBy(): readonly string[] {
    return this.#changedBy
  }

  /** What is to change together with the object, once it has been judged. */
  get alongside(): readonly JointWrite[] {
    return this.#alongside
  }

  /** Throws, or rejects with, the refusal of whoever refuses; undefined where nobody has to be waited for. */
  judge(object: KubernetesObject | undefined): Promise<void> | undefined {
    // A write may be judged again, when something else came first.
    this.#alongside.length = 0
    const { name } = this.#attributes
    // By now a name that was to be generated is.
    const named =
      name === '' && object !== undefined ? { ...this.#attributes, name: object.metadata.name ?? '' } : this.#attributes
    const owners = this.#ownersAfter
    return this.#parts.admission.validate(owners === undefined ? named : { ...named, owners: () => owners }, object)
  }
}

/** An object in the form that decoding a body gives. `known` is of that form already. */
function complete(kind: AdmittedKind, object: KubernetesObject, known: KubernetesObject): KubernetesObject {
  const { schema } = kind
  const compiled = compile(schema)
  const spec = completeAdmittedSpec(schema, object)
  const { value } = compiled.decode(
    spec === undefined ? object : withSpec(object, spec),
    spec === undefined ? { known } : { known: withSpec(known, spec) },
  )
  const defaulted = compiled.applyDefaults(value, spec === undefined ? known : { spec })
  if (spec === undefined) rememberAdmitted(schema, object, defaulted)
  return kind.applyDefaults?.(defaulted, spec === undefined ? known : undefined) ?? defaulted
}
