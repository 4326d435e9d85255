import type { KubernetesObject, OwnerReference, Resource } from '@coracle/api'

/** The reference that makes `owner` the controller of an object. Deleting the owner in the foreground waits for the object. */
export function controllerRef(owner: KubernetesObject): OwnerReference {
  const { name = '', uid = '' } = owner.metadata
  return { apiVersion: owner.apiVersion, kind: owner.kind, name, uid, controller: true, blockOwnerDeletion: true }
}

/** The reference to the owner that controls an object; with `resource` only if the owner is of that group and kind. */
export function controllerOf(object: KubernetesObject, resource?: Resource): OwnerReference | undefined {
  const owner = object.metadata.ownerReferences?.find((reference) => reference.controller === true)
  if (owner === undefined || resource === undefined) return owner
  return owner.kind === resource.kind && groupOf(owner.apiVersion) === resource.group ? owner : undefined
}

/** Whether `owner` itself, not just one of its name, controls the object. */
export function isControlledBy(object: KubernetesObject, owner: KubernetesObject): boolean {
  return controllerOf(object)?.uid === owner.metadata.uid
}

function groupOf(apiVersion: string): string {
  const slash = apiVersion.indexOf('/')
  return slash < 0 ? '' : apiVersion.slice(0, slash)
}
