import type { ResourceList } from '../kinds/core/common.ts'
import {
  addQuantity,
  compareQuantity,
  parseQuantity,
  type Quantity,
  quantityMilli,
  quantityValue,
} from '../quantity.ts'

/** Exact amounts by the names of resources. */
export type ResourceQuantities = ReadonlyMap<string, Quantity>

/** Nothing at all. */
export const noQuantities: ResourceQuantities = new Map()

/** Reads a resource list, of which an absent one is empty. Throws as parseQuantity where an amount is none. */
export function quantitiesOf(list: ResourceList | undefined): ResourceQuantities {
  if (list === undefined) return noQuantities
  return new Map(Object.entries(list).map(([name, text]) => [name, parseQuantity(text)]))
}

/** Both together. */
export const addQuantities = (a: ResourceQuantities, b: ResourceQuantities): ResourceQuantities =>
  merge(a, b, addQuantity)

/** Of each resource what the one or the other has, whichever is more. */
export const maxQuantities = (a: ResourceQuantities, b: ResourceQuantities): ResourceQuantities =>
  merge(a, b, (x, y) => (compareQuantity(y, x) > 0 ? y : x))

/** `a`, except for those resources that are in `b`. */
export const replaceQuantities = (a: ResourceQuantities, b: ResourceQuantities): ResourceQuantities =>
  merge(a, b, (_, y) => y)

/** The amount in the unit in which nodes count: millicores of `cpu`, bytes or whole units of all else, rounded up. */
export const wholeAmount = (name: string, amount: Quantity): number =>
  name === 'cpu' ? quantityMilli(amount) : quantityValue(amount)

function merge(
  a: ResourceQuantities,
  b: ResourceQuantities,
  both: (x: Quantity, y: Quantity) => Quantity,
): ResourceQuantities {
  if (b.size === 0) return a
  if (a.size === 0) return b
  const merged = new Map(a)
  for (const [name, amount] of b) {
    const present = a.get(name)
    merged.set(name, present === undefined ? amount : both(present, amount))
  }
  return merged
}
