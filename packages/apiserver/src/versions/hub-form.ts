import { apiVersionOf, type KubernetesObject, type StoredKind } from '@coracle/api'

/**
 * What is stored, in the form that the kind is stored in now: an object of before the kind had this hub is converted. Throws
 * where that would have to ask somebody, for a cache cannot wait. A version that is not served any more differs in nothing
 * but its name, as far as anybody can still say.
 */
export function inHubForm(kind: StoredKind, object: KubernetesObject): KubernetesObject {
  if (object.apiVersion === apiVersionOf(kind)) return object
  const version = kind.versions.find((each) => apiVersionOf(each) === object.apiVersion)
  const hub = version === undefined ? object : version.toHub(object)
  if (hub instanceof Promise) throw new Error(`converting ${object.apiVersion} of what is stored must not take time`)
  return { ...hub, apiVersion: apiVersionOf(kind), kind: kind.kind }
}
