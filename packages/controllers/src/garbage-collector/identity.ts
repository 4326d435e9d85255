import type { KubernetesObject, OwnerReference } from '@coracle/api'

/** Where an object is, as one who refers to it says. The UID alone tells objects apart; the rest may be wrong. */
export interface Identity {
  readonly apiVersion: string
  readonly kind: string
  /** Empty for cluster-scoped kinds, and where it is not known yet. */
  readonly namespace: string
  readonly name: string
  readonly uid: string
}

/** The identity of an object. */
export function identityOf({ apiVersion, kind, metadata }: KubernetesObject): Identity {
  return { apiVersion, kind, namespace: metadata.namespace ?? '', name: metadata.name ?? '', uid: metadata.uid ?? '' }
}

/** The identity an owner reference stands for in this namespace. */
export function identityOfOwner({ apiVersion, kind, name, uid }: OwnerReference, namespace: string): Identity {
  return { apiVersion, kind, namespace, name, uid }
}

/** Text by which equal identities are equal. */
export function identityText({ apiVersion, kind, namespace, name, uid }: Identity): string {
  return `${uid}|${apiVersion}|${kind}|${namespace}|${name}`
}

/** Whether a reference names this object in all its parts; the namespace apart, which references do not have. */
export function refersTo(reference: OwnerReference, { apiVersion, kind, name, uid }: Identity): boolean {
  return (
    reference.uid === uid && reference.name === name && reference.kind === kind && reference.apiVersion === apiVersion
  )
}

/** As upstream's messages show an object. */
export function formatIdentity({ apiVersion, kind, namespace, name, uid }: Identity): string {
  return `[${apiVersion}/${kind}, namespace: ${namespace}, name: ${name}, uid: ${uid}]`
}
