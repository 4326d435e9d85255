/** JSON values as this package passes them around. Nothing here changes a value it got. */
import { WrittenNumber } from './exact-json.ts'

export type JsonObject = Readonly<Record<string, unknown>>

/** An object, not a list, not null, and no number that is kept as it is written. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof WrittenNumber)
}

/** Deeper nesting is refused wherever values come in, so that nothing that walks them can run out of stack. */
export const nestingMax = 200

/** What a value is, in the words of Go's JSON decoder. */
export function jsonTypeOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  if (typeof value === 'bigint' || value instanceof WrittenNumber) return 'number'
  return typeof value === 'boolean' ? 'bool' : typeof value
}

/**
 * Puts a member into an object under construction. Plain assignment would take the key `__proto__`, which is data here,
 * for the prototype.
 */
export function setMember(target: Record<string, unknown>, key: string, value: unknown): void {
  if (key === '__proto__') {
    Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true })
  } else {
    target[key] = value
  }
}

/** The member of this name, undefined where there is none of its own. */
export function member(object: JsonObject, key: string): unknown {
  return Object.hasOwn(object, key) ? object[key] : undefined
}

/** A copy in which some members have other values, or, where those are undefined, are gone. */
export function withChanges(value: JsonObject, changes: ReadonlyMap<string, unknown>): JsonObject {
  const copy: Record<string, unknown> = {}
  for (const key of Object.keys(value)) {
    const after = changes.has(key) ? changes.get(key) : value[key]
    if (after !== undefined) setMember(copy, key, after)
  }
  return copy
}

/** Whether a value nests deeper than `depthMax`. */
export function nestsDeeperThan(value: unknown, depthMax: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (depthMax <= 0) return true
  for (const each of Array.isArray(value) ? value : Object.values(value)) {
    if (nestsDeeperThan(each, depthMax - 1)) return true
  }
  return false
}

/** The same value, keys of objects sorted. */
export function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys)
  if (!isJsonObject(value)) return value
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((key) => [key, sortKeys(value[key])]),
  )
}

/** How many values there are in a list or an object, at every depth. Does not count on where it has come to `countMax`. */
export function countValues(value: unknown, countMax: number): number {
  if (typeof value !== 'object' || value === null) return 0
  let count = 0
  for (const each of Array.isArray(value) ? value : Object.values(value)) {
    if (count >= countMax) break
    count += 1 + countValues(each, countMax - count - 1)
  }
  return count
}
