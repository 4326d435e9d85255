/** JSON without a schema as values of expressions, and back: what is not described is found out when it is looked at. */
import { exactInteger } from '../exact-json.ts'
import { isJsonObject, setMember } from '../json.ts'
import { CelError } from './errors.ts'
import { durationText, timestampText } from './library/times.ts'
import { CelList, CelMap, CelObject, type CelValue, Duration, Optional, Timestamp, typeName, Uint } from './values.ts'

/** Objects do not change, and several expressions look at each. */
const made = new WeakMap<object, CelMap>()

/** Whole numbers are integers, as where Go reads JSON into no particular type. What is undefined is null. */
export function celValueOf(json: unknown): CelValue {
  if (json === null || json === undefined) return null
  if (typeof json === 'number') return Number.isInteger(json) ? BigInt(json) : json
  if (typeof json === 'string' || typeof json === 'boolean' || typeof json === 'bigint') return json
  if (Array.isArray(json)) return new CelList(json.length, (index) => celValueOf(json[index]))
  if (!isJsonObject(json)) throw new TypeError(`not JSON: ${typeof json}`)
  const known = made.get(json)
  if (known !== undefined) return known
  const members = Object.entries(json).filter(([, value]) => value !== undefined)
  const map = new CelMap(members.map(([name, value]): readonly [CelValue, CelValue] => [name, celValueOf(value)]))
  made.set(json, map)
  return map
}

/**
 * The JSON of a value. Throws a CelError for what has none, such as a quantity. Moments and durations are texts as in JSON of protobuf, but
 * within objects.
 */
export function jsonOf(value: CelValue): unknown {
  if (value === null || typeof value === 'string' || typeof value === 'boolean' || typeof value === 'number')
    return value
  if (typeof value === 'bigint') return exactInteger(value)
  if (value instanceof Uint) return Number(value.value)
  if (value instanceof Timestamp) return timestampText(value)
  if (value instanceof Duration) return durationText(value.nanos)
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64')
  if (value instanceof CelList) return value.values().map(jsonOf)
  if (value instanceof Optional && value.value !== undefined) return jsonOf(value.value)
  if (value instanceof CelMap) return membersOf(value.entries())
  if (value instanceof CelObject) {
    return membersOf(value.names().map((name) => [name, untimed(value.get(name) ?? null)] as const))
  }
  throw new CelError(`a value of type ${typeName(value)} cannot be written as JSON`)
}

function untimed(value: CelValue): CelValue {
  if (!(value instanceof Timestamp) && !(value instanceof Duration)) return value
  throw new CelError(`a value of type ${typeName(value)} cannot be written as JSON`)
}

function membersOf(entries: readonly (readonly [CelValue, CelValue])[]): Readonly<Record<string, unknown>> {
  const members: Record<string, unknown> = {}
  for (const [key, value] of entries) {
    if (typeof key !== 'string') throw new CelError(`a key of type ${typeName(key)} cannot be written as JSON`)
    setMember(members, key, jsonOf(value))
  }
  return members
}
