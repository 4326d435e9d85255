import {
  apiVersionOf,
  type ConvertedVersion,
  type KubernetesObject,
  managedFieldsOf,
  type ResourceDefinition,
} from '@coracle/api'
import type { AdmissionAttributes, AdmittedResource } from '../admission.ts'

/** The objects of a request in one version, with the owners of their fields. */
export interface VersionedObjects {
  readonly object: KubernetesObject | undefined
  readonly oldObject: KubernetesObject | undefined
}

/** The objects of a request as those see them who are asked about it, each version made once. */
export class RequestObjects {
  readonly #attributes: AdmissionAttributes
  readonly #object: KubernetesObject | undefined
  readonly #made = new Map<ResourceDefinition, Promise<VersionedObjects>>()

  /** `object` is in the form of the attributes: that of the hub, or what a subresource exchanges. */
  constructor(attributes: AdmissionAttributes, object: KubernetesObject | undefined) {
    this.#attributes = attributes
    this.#object = object
  }

  in(version: ResourceDefinition): Promise<VersionedObjects> {
    const known = this.#made.get(version)
    if (known !== undefined) return known
    const made = this.#make(version)
    this.#made.set(version, made)
    return made
  }

  async #make(version: ResourceDefinition): Promise<VersionedObjects> {
    const { old, owners, oldOwners } = this.#attributes
    const [object, oldObject] = await Promise.all([this.#show(this.#object, version), this.#show(old, version)])
    return {
      object: object?.metadata.managedFields === undefined ? withOwners(object, owners) : withoutNoOwners(object),
      oldObject: withOwners(oldObject, oldOwners),
    }
  }

  async #show(
    object: KubernetesObject | undefined,
    version: ResourceDefinition,
  ): Promise<KubernetesObject | undefined> {
    const { kind, definition } = this.#attributes
    if (object === undefined || kind !== definition) return object
    return inVersion(definition, version, object)
  }
}

function withOwners(
  object: KubernetesObject | undefined,
  owners: AdmissionAttributes['owners'],
): KubernetesObject | undefined {
  const owned = owners?.() ?? []
  if (object === undefined || owned.length === 0) return object
  return { ...object, metadata: { ...object.metadata, managedFields: managedFieldsOf(owned) } }
}

/** The object as it is shown where somebody has taken all owners away. */
function withoutNoOwners(object: KubernetesObject): KubernetesObject {
  const { managedFields, ...metadata } = object.metadata
  return managedFields?.length === 0 ? { ...object, metadata } : object
}

/** A stored object as a version of its kind shows it. */
export async function inVersion(
  kind: AdmittedResource,
  version: ResourceDefinition,
  object: KubernetesObject,
): Promise<KubernetesObject> {
  const converted = converterOf(kind, version)
  if (converted !== undefined) return withType(version, await converted.fromHub(object))
  // What somebody else converts is stored, and deleted, in whatever version it was written in.
  const fromStored = object.apiVersion === apiVersionOf(version) ? undefined : kind.custom?.fromStored
  return fromStored === undefined ? object : withType(version, await fromStored(object))
}

/** The form in which an object of a version is stored. */
export async function fromVersion(
  kind: AdmittedResource,
  version: ResourceDefinition,
  object: KubernetesObject,
): Promise<KubernetesObject> {
  const converted = converterOf(kind, version)
  return converted === undefined ? object : withType(kind, await converted.toHub(object))
}

/** Undefined for the hub, which needs none. */
function converterOf(kind: AdmittedResource, version: ResourceDefinition): ConvertedVersion | undefined {
  return kind.versions.find((each) => apiVersionOf(each) === apiVersionOf(version))
}

function withType(definition: ResourceDefinition, object: KubernetesObject): KubernetesObject {
  return { ...object, apiVersion: apiVersionOf(definition), kind: definition.kind }
}
