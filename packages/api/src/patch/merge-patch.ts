/** JSON merge patches: https://www.rfc-editor.org/rfc/rfc7386. */
import { deepEqual } from '../equality.ts'
import { isJsonObject, type JsonObject, member, setMember } from '../json.ts'
import { checkNesting } from './patch-error.ts'

/**
 * Applies a merge patch: objects are merged, `null` removes a member, anything else replaces. Nulls in what is new go too, those
 * of objects in lists among them, as Go's evanphx/json-patch has it. What the patch does not change is shared; a patch that changes nothing returns the document itself. Throws a BadRequest where the patch nests
 * too deep.
 */
export function applyMergePatch(document: unknown, patch: unknown): unknown {
  checkNesting(patch)
  return merge(document, patch)
}

/**
 * The merge patch that turns `from` into `to`; `{}` where they are equal. A merge patch cannot say that a member is
 * null: such members come out as absent.
 */
export function createJsonMergePatch(from: JsonObject, to: JsonObject): JsonObject {
  const patch: Record<string, unknown> = {}
  for (const key of Object.keys(from)) {
    if (member(to, key) === undefined && from[key] !== undefined) setMember(patch, key, null)
  }
  for (const [key, after] of Object.entries(to)) {
    const before = member(from, key)
    if (after === undefined || deepEqual(before, after)) continue
    setMember(patch, key, isJsonObject(before) && isJsonObject(after) ? createJsonMergePatch(before, after) : after)
  }
  return patch
}

function merge(target: unknown, patch: unknown): unknown {
  if (!isJsonObject(patch)) {
    const wanted = isJsonObject(target) ? patch : withoutNulls(patch)
    return deepEqual(target, wanted) ? target : wanted
  }
  const before = isJsonObject(target) ? target : {}
  let copy: Record<string, unknown> | undefined = isJsonObject(target) ? undefined : {}
  for (const key of Object.keys(patch)) {
    const change = patch[key]
    const old = member(before, key)
    if (change === null) {
      if (!Object.hasOwn(before, key)) continue
      copy ??= { ...before }
      delete copy[key]
      continue
    }
    const after = merge(old, change)
    if (after === old) continue
    copy ??= { ...before }
    setMember(copy, key, after)
  }
  return copy ?? before
}

/** Elements may be null; members may not. */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) {
    const elements = value.map(withoutNulls)
    return elements.every((each, index) => each === value[index]) ? value : elements
  }
  if (!isJsonObject(value)) return value
  let copy: Record<string, unknown> | undefined
  for (const key of Object.keys(value)) {
    const each = value[key]
    const kept = each === null ? undefined : withoutNulls(each)
    if (kept === each) continue
    copy ??= { ...value }
    if (kept === undefined) delete copy[key]
    else setMember(copy, key, kept)
  }
  return copy ?? value
}
