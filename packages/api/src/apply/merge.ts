import { isJsonObject, type JsonObject, member, setMember } from '../json.ts'
import type { ListSchema, Schema } from '../schema/schema.ts'
import { inOneGo, type Passes, PassParts } from './passes.ts'
import { compositionOf, isEmptyContainer, listElement, memberSchema } from './typed-value.ts'

/**
 * `live` with everything that `applied` says: members and elements that both have are merged, scalars and atomic values are
 * the applied ones, the rest stays. What is not changed is shared with `live`.
 * https://github.com/kubernetes-sigs/structured-merge-diff (typed.Merge)
 */
export const mergeApplied = (schema: Schema | undefined, live: unknown, applied: unknown): unknown =>
  inOneGo(merging(schema, live, applied))

/** The same, in passes. The elements of one list are merged at once. */
export function* merging(
  schema: Schema | undefined,
  live: unknown,
  applied: unknown,
  parts = new PassParts(),
): Passes<unknown> {
  if (applied === undefined || live === applied) return live
  if (live === undefined || live === null) return applied
  const composition = compositionOf(schema, live)
  if (composition.type === 'atomic' || composition.type !== compositionOf(schema, applied).type) return applied
  if (composition.type === 'fields') return yield* mergingMembers(schema, live as JsonObject, applied, parts)
  if (isEmptyContainer(applied)) return isEmptyContainer(live) ? applied : live
  return mergeElements(composition.list, live as readonly unknown[], applied as readonly unknown[])
}

function* mergingMembers(
  schema: Schema | undefined,
  live: JsonObject,
  applied: unknown,
  parts: PassParts,
): Passes<unknown> {
  const wanted = isJsonObject(applied) ? applied : {}
  const names = Object.keys(wanted)
  if (!names.some((name) => wanted[name] !== undefined)) return isEmptyContainer(live) ? applied : live
  let merged: Record<string, unknown> | undefined
  for (const name of names) {
    if (parts.isFull()) yield
    const before = member(live, name)
    const after = yield* merging(memberSchema(schema, name), before, wanted[name], parts)
    if (after === before) continue
    merged ??= { ...live }
    setMember(merged, name, after)
  }
  return merged ?? live
}

/**
 * The applied elements are in the order in which they were applied; live elements that were not applied keep their places
 * among those that both have.
 */
function mergeElements(list: ListSchema, live: readonly unknown[], applied: readonly unknown[]): readonly unknown[] {
  const liveElements = live.map((value) => listElement(list, value))
  const appliedElements = applied.map((value) => listElement(list, value))
  const [liveByElement, appliedByElement] = [uniqueByElement(liveElements, live), byElement(appliedElements, applied)]
  const inLive = new Set(liveElements)
  const shared = appliedElements.filter((element) => inLive.has(element))
  // By its place: to take the first of very many away moves all others.
  let atShared = 0
  const merged: unknown[] = []
  const taken = new Set<string>()
  const take = (element: string) => {
    taken.add(element)
    merged.push(mergeApplied(list.items, liveByElement.get(element), appliedByElement.get(element)))
    if (shared[atShared] === element) atShared += 1
  }
  let [atLive, atApplied] = [0, 0]
  while (atLive < live.length || atApplied < applied.length) {
    const [own, wanted] = [liveElements[atLive], appliedElements[atApplied]]
    if (own !== undefined && !appliedByElement.has(own)) {
      merged.push(live[atLive])
      atLive += 1
      continue
    }
    const isNext = own === wanted || own === shared[atShared]
    if (own !== undefined && wanted !== undefined && atShared < shared.length && !isNext) {
      // It is taken, or will be, in the place where it was applied.
      atLive += 1
      continue
    }
    if (own !== undefined && (own === wanted || taken.has(own))) atLive += 1
    if (wanted === undefined) continue
    take(wanted)
    atApplied += 1
  }
  return sameElements(live, merged) ? live : merged
}

const byElement = (elements: readonly string[], values: readonly unknown[]): ReadonlyMap<string, unknown> =>
  new Map(elements.map((element, index) => [element, values[index]]))

/** Of elements that are there twice none is the one to merge with. */
function uniqueByElement(elements: readonly string[], values: readonly unknown[]): ReadonlyMap<string, unknown> {
  const found = new Map<string, unknown>()
  const twice = new Set<string>()
  elements.forEach((element, index) => {
    if (found.has(element)) twice.add(element)
    found.set(element, values[index])
  })
  for (const element of twice) found.delete(element)
  return found
}

const sameElements = (a: readonly unknown[], b: readonly unknown[]): boolean =>
  a.length === b.length && a.every((value, index) => value === b[index])

/** Whether merging would have to tell elements apart that are the same. */
export function hasDuplicateElements(schema: Schema | undefined, value: unknown): boolean {
  const composition = compositionOf(schema, value)
  if (composition.type === 'elements' && Array.isArray(value)) {
    const elements = value.map((each) => listElement(composition.list, each))
    if (new Set(elements).size < elements.length) return true
    return value.some((each) => hasDuplicateElements(composition.list.items, each))
  }
  if (composition.type !== 'fields' || !isJsonObject(value)) return false
  for (const name in value) {
    const each = value[name]
    if (typeof each === 'object' && hasDuplicateElements(memberSchema(schema, name), each)) return true
  }
  return false
}
