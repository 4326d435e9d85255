import { deepEqual, type JsonObject, type KubernetesObject, member, setMember } from '@coracle/api'

/**
 * The changed object with everything in it that says the same as the old one's replaced by the old one's own, and the old
 * object itself where that is all of it: what has not changed is kept once, and is known not to have changed by its reference.
 */
export function sharingWith(old: KubernetesObject, changed: KubernetesObject): KubernetesObject {
  return shared(old, changed) as KubernetesObject
}

/** `value` with every part that equals the part of `old` at the same place replaced by that. Absent and undefined are alike. */
export function shared(old: unknown, value: unknown): unknown {
  if (old === value || typeof old !== 'object' || typeof value !== 'object' || old === null || value === null) {
    return value
  }
  if (Array.isArray(value)) return Array.isArray(old) ? sharedList(old, value) : value
  return Array.isArray(old) ? value : sharedMembers(old as JsonObject, value as JsonObject)
}

function sharedList(old: readonly unknown[], value: readonly unknown[]): readonly unknown[] {
  const parts = value.map((each, index) => shared(old[index], each))
  if (parts.length === old.length && parts.every((part, index) => part === old[index])) return old
  return parts.every((part, index) => part === value[index]) ? value : parts
}

function sharedMembers(old: JsonObject, value: JsonObject): JsonObject {
  const parts: Record<string, unknown> = {}
  let isOld = true
  let isValue = true
  for (const name in value) {
    const each = member(value, name)
    const before = member(old, name)
    const part = shared(before, each)
    if (part === undefined) {
      isValue = false
      isOld &&= before === undefined
      continue
    }
    setMember(parts, name, part)
    isOld &&= part === before
    isValue &&= part === each
  }
  for (const name in old) isOld &&= member(old, name) === undefined || member(parts, name) !== undefined
  if (isOld) return old
  return isValue ? value : parts
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
