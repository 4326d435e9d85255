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
  const names = Object.keys(value)
  // As long as all members are those of one side nothing is built: that is how most comparisons end.
  let isOld = true
  let isValue = true
  let parts: Record<string, unknown> | undefined
  for (let at = 0; at < names.length; at += 1) {
    const name = names[at] as string
    const each = member(value, name)
    const before = member(old, name)
    const part = shared(before, each)
    const staysOld: boolean = isOld && part === before
    const staysValue: boolean = isValue && part === each && part !== undefined
    if (!staysOld && !staysValue) {
      parts ??= membersOf(isOld ? old : value, names.slice(0, at))
      if (part !== undefined) setMember(parts, name, part)
    }
    isOld = staysOld
    isValue = staysValue
  }
  if (isOld && !hasMore(old, value)) return old
  if (isValue) return value
  return parts ?? membersOf(old, names)
}

function membersOf(object: JsonObject, names: readonly string[]): Record<string, unknown> {
  const members: Record<string, unknown> = {}
  for (const name of names) {
    const each = member(object, name)
    if (each !== undefined) setMember(members, name, each)
  }
  return members
}

/** Whether `old` has members that `value` has not. */
const hasMore = (old: JsonObject, value: JsonObject): boolean =>
  Object.keys(old).some((name) => member(old, name) !== undefined && member(value, name) === undefined)

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

/** The desired state of an object, of whatever kind; undefined where it has none. */
export const specOf = (object: KubernetesObject | undefined): unknown =>
  (object as { readonly spec?: unknown } | undefined)?.spec
