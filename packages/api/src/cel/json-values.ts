/** JSON without a schema as values of expressions: what is not described is found out when it is looked at. */
import { isJsonObject } from '../json.ts'
import { CelList, CelMap, type CelValue } from './values.ts'

/** Objects do not change, and several expressions look at each. */
const made = new WeakMap<object, CelMap>()

/** Whole numbers are integers, as where Go reads JSON into no particular type. What is undefined is null. */
export function celValueOf(json: unknown): CelValue {
  if (json === null || json === undefined) return null
  if (typeof json === 'number') return Number.isInteger(json) ? BigInt(json) : json
  if (typeof json === 'string' || typeof json === 'boolean') return json
  if (Array.isArray(json)) return new CelList(json.length, (index) => celValueOf(json[index]))
  if (!isJsonObject(json)) throw new TypeError(`not JSON: ${typeof json}`)
  const known = made.get(json)
  if (known !== undefined) return known
  const members = Object.entries(json).filter(([, value]) => value !== undefined)
  const map = new CelMap(members.map(([name, value]): readonly [CelValue, CelValue] => [name, celValueOf(value)]))
  made.set(json, map)
  return map
}
