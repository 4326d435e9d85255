import { deepEqual, type KubernetesObject } from '@coracle/api'

/**
 * The changed object with each member that says the same as the old one's replaced by the old one's own, and the old object
 * itself where that is all of them: what has not changed is kept once, and is known not to have changed by its reference.
 */
export function sharingWith(old: KubernetesObject, changed: KubernetesObject): KubernetesObject {
  const before = old as unknown as Readonly<Record<string, unknown>>
  const shared: Record<string, unknown> = {}
  let same = true
  for (const [key, value] of Object.entries(changed)) {
    if (value === undefined) continue
    const equal = deepEqual(value, before[key])
    shared[key] = equal ? before[key] : value
    same &&= equal
  }
  const nothingGone = Object.keys(before).every((key) => before[key] === undefined || key in shared)
  return same && nothingGone ? old : (shared as unknown as KubernetesObject)
}

/**
 * The object with the desired state of another where both say the same: objects made from one template keep it once, and
 * what is known of it for one is known for all of them.
 */
export function sharingSpec(other: KubernetesObject | undefined, object: KubernetesObject): KubernetesObject {
  const known = specOf(other)
  const own = specOf(object)
  if (known === undefined || own === undefined || !deepEqual(known, own)) return object
  return { ...object, spec: known } as KubernetesObject
}

const specOf = (object: KubernetesObject | undefined): unknown =>
  (object as { readonly spec?: unknown } | undefined)?.spec
