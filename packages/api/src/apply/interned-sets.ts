import { type FieldSet, isEmptySet, noFields } from './field-set.ts'

/** How many sets of fields are kept by their text. */
export const internedFieldSetsMax = 1024

/** How many parts of sets are. Parts come again where whole sets do not: what a node owns of a pod names the pod's address. */
export const internedPartsMax = 1024

/** Sets with a longer text are kept by nobody but their objects: they hardly come again, and finding that out takes long. */
export const internedTextMax = 64 * 1024

/** How many nodes of its own a set may have to be called shared. */
const ownNodesMax = 8

const sets = new Map<string, FieldSet>()
const parts = new Map<string, FieldSet>()
const texts = new WeakMap<FieldSet, string>()
/** How many nodes of a set, or of a part of one, were there in no other when it was interned. */
const ownNodes = new WeakMap<FieldSet, number>()

/** The JSON of a set: objects of one template have the same sets, whose text is made once. */
export function fieldsText(fields: FieldSet): string {
  return texts.get(fields) ?? JSON.stringify(fields)
}

/** Whether all but a little of a set is shared with others, so that it costs next to nothing to keep. */
export function isShared(fields: FieldSet): boolean {
  return isEmptySet(fields) || isSharedWith(ownNodes.get(fields) ?? Number.POSITIVE_INFINITY)
}

/** The same of a set that has so many nodes of its own. */
export const isSharedWith = (ownNodesCount: number): boolean => ownNodesCount <= ownNodesMax

/**
 * The one set that holds these fields, as long as it is among those that came last: objects of one template share it. A new
 * one shares its parts with others. A very large set is returned as it is.
 */
export function interned(fields: FieldSet): FieldSet {
  if (texts.has(fields)) return fields
  const text = JSON.stringify(fields)
  if (text.length > internedTextMax) {
    texts.set(fields, text)
    return fields
  }
  const known = takeLatest(sets, text)
  if (known !== undefined) {
    // Whoever has it is not alone with it any more.
    ownNodes.set(known, 0)
    return known
  }
  const made = sharingParts(fields)
  const oldest = keepLatest(sets, text, made, internedFieldSetsMax)
  if (oldest !== undefined) texts.delete(oldest)
  texts.set(made, text)
  return made
}

function internedPart(part: FieldSet): FieldSet {
  if (isEmptySet(part)) return noFields
  if (ownNodes.has(part)) return part
  const text = JSON.stringify(part)
  const known = takeLatest(parts, text)
  if (known !== undefined) {
    ownNodes.set(known, 0)
    return known
  }
  const made = sharingParts(part)
  keepLatest(parts, text, made, internedPartsMax)
  return made
}

/** The set with parts that are shared with other sets. */
function sharingParts(set: FieldSet): FieldSet {
  let own = 1
  let changed: Record<string, FieldSet> | undefined
  for (const element in set) {
    const part = set[element] ?? noFields
    if (part === noFields) continue
    const shared = internedPart(part)
    own += ownNodes.get(shared) ?? 0
    if (shared === part) continue
    changed ??= { ...set }
    changed[element] = shared
  }
  const whole = changed === undefined ? set : Object.freeze(changed)
  ownNodes.set(whole, own)
  return whole
}

/** Notes how many nodes of a set are in no other: it was made by somebody who shares the others. */
export function noteOwnNodes(set: FieldSet, count: number): void {
  ownNodes.set(set, count)
}

/** What is kept under a text, which becomes the latest. */
function takeLatest(kept: Map<string, FieldSet>, text: string): FieldSet | undefined {
  const found = kept.get(text)
  if (found === undefined) return undefined
  kept.delete(text)
  kept.set(text, found)
  return found
}

/** Keeps a set as the latest; the oldest goes where there are too many. */
function keepLatest(kept: Map<string, FieldSet>, text: string, set: FieldSet, max: number): FieldSet | undefined {
  kept.set(text, set)
  if (kept.size <= max) return undefined
  for (const [oldest, gone] of kept) {
    kept.delete(oldest)
    return gone
  }
  return undefined
}
