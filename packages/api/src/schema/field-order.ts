import { setMember } from '../json.ts'
import type { ObjectSchema } from './schema.ts'

/**
 * A copy with its fields in the order of the schema, then those the schema does not name. Decoding an object that is in
 * order leaves it as it is.
 */
export function inFieldOrder<T extends object>(schema: ObjectSchema, value: T): T {
  const members = value as Readonly<Record<string, unknown>>
  const names = Object.keys(members)
  const ordered: Record<string, unknown> = {}
  let left = names.length
  for (const name of Object.keys(schema.fields)) {
    const member = members[name]
    if (member === undefined) continue
    ordered[name] = member
    left -= 1
  }
  if (left === 0) return ordered as T
  for (const name of names) if (!Object.hasOwn(schema.fields, name)) setMember(ordered, name, members[name])
  return ordered as T
}
