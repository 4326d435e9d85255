/**
 * Readers of loosely typed input: each takes a value apart and reports what is wrong with it by path, instead of
 * stopping at the first fault.
 */
import { type FieldError, forbiddenField, typeInvalidField } from '../field-error.ts'
import type { FieldPath } from '../field-path.ts'
import { isJsonObject, member, setMember } from '../json.ts'

/** Takes what is wrong. */
export type Report = (error: FieldError) => void

/** Reads a value that is there. Undefined where it is of no use; then the reason has been reported. */
export type Reader<T> = (value: unknown, path: FieldPath, report: Report) => T | undefined

/** What an object with these readers reads as. Any member may be absent. */
export type Members<R> = { readonly [K in keyof R]?: R[K] extends Reader<infer T> ? T | undefined : never }

function scalar<T>(accepts: (value: unknown) => value is T, expected: string): Reader<T> {
  return (value, path, report) => {
    if (accepts(value)) return value
    report(typeInvalidField(path, value, `must be ${expected}`))
    return undefined
  }
}

export const text = scalar((value): value is string => typeof value === 'string', 'a string')
export const flag = scalar((value): value is boolean => typeof value === 'boolean', 'true or false')
export const integer = scalar((value): value is number => Number.isSafeInteger(value), 'an integer')
export const integerOrText = scalar(
  (value): value is number | string => Number.isSafeInteger(value) || typeof value === 'string',
  'an integer or a string',
)

/** Accepts anything and makes nothing of it: what a server writes and a client has no say in. */
export const ignored: Reader<never> = () => undefined

/** A list, each element of which is read. */
export function listOf<T>(element: Reader<T>): Reader<readonly T[]> {
  return (value, path, report) => {
    if (!Array.isArray(value)) {
      report(typeInvalidField(path, value, 'must be a list'))
      return undefined
    }
    return value.map((each, index) => element(each, path.index(index), report)).filter((each) => each !== undefined)
  }
}

/** An object with any keys, the value of each of which is read. */
export function mapOf<T>(element: Reader<T>): Reader<Readonly<Record<string, T>>> {
  return (value, path, report) => {
    if (!isJsonObject(value)) {
      report(typeInvalidField(path, value, 'must be an object'))
      return undefined
    }
    const result: Record<string, T> = {}
    for (const [key, each] of Object.entries(value)) {
      const read = element(each, path.key(key), report)
      if (read !== undefined) setMember(result, key, read)
    }
    return result
  }
}

/** An object with these members and no others; null is absence. */
export function objectOf<const R extends Readonly<Record<string, Reader<unknown>>>>(readers: R): Reader<Members<R>> {
  return (value, path, report) => {
    if (!isJsonObject(value)) {
      report(typeInvalidField(path, value, 'must be an object'))
      return undefined
    }
    for (const key of Object.keys(value)) {
      if (!Object.hasOwn(readers, key)) report(forbiddenField(path.field(key), 'unknown field'))
    }
    const read = Object.entries(readers).map(([key, reader]) => {
      const found = member(value, key)
      return [key, found === undefined || found === null ? undefined : reader(found, path.field(key), report)]
    })
    return Object.fromEntries(read) as Members<R>
  }
}

/** What `reader` reads, turned into something else. */
export function mapped<T, U>(
  reader: Reader<T>,
  turn: (value: T, path: FieldPath, report: Report) => U | undefined,
): Reader<U> {
  return (value, path, report) => {
    const read = reader(value, path, report)
    return read === undefined ? undefined : turn(read, path, report)
  }
}

/** A copy without the members that are undefined; undefined itself where nothing is left. */
export function present(members: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> | undefined {
  const entries = Object.entries(members).filter(([, value]) => value !== undefined)
  return entries.length === 0 ? undefined : Object.fromEntries(entries)
}
