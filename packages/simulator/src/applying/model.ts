import type { KubernetesObject } from '@coracle/api'
import { type Fields, type FieldValue, fieldValue, itemOf, ownersOf } from './fields.ts'

/** What an object says of some fields and the items of lists that they are in, and who owns each. Items are there or not. */
export interface FieldStates {
  readonly [name: string]: { readonly value: FieldValue | true | undefined; readonly owners: readonly string[] }
}

/** What the API gives a field that nobody gives a value. */
const defaults: Fields = { '.spec.replicas': 1 }

/** What an object says of the fields of these names; undefined: there is no object. */
export function statesOf(object: KubernetesObject | undefined, names: readonly string[]): FieldStates {
  const stateOf = (name: string, value: FieldValue | true | undefined) => ({
    value,
    owners: object === undefined ? [] : [...ownersOf(object, name)].sort(),
  })
  const fields = names.map((name) => [name, stateOf(name, fieldValue(object, name) as FieldValue | undefined)] as const)
  const items = itemsOf(names).map((item) => {
    const isThere = fieldValue(object, item) !== undefined
    return [item, stateOf(item, isThere || undefined)] as const
  })
  return Object.fromEntries([...items, ...fields])
}

const itemsOf = (names: readonly string[]): readonly string[] => [
  ...new Set(names.flatMap((name) => itemOf(name) ?? [])),
]

/** Who gives a field gives the item that it is in. */
function withItems<T>(fields: Readonly<Record<string, T>>): Readonly<Record<string, T | true>> {
  const items = itemsOf(Object.keys(fields)).map((item) => [item, true] as const)
  return { ...fields, ...Object.fromEntries(items) }
}

/** With an item goes what is in it, whoever owns that. */
function withoutItemsGone(states: FieldStates): FieldStates {
  return Object.fromEntries(
    Object.entries(states).map(([name, state]) => {
      const item = itemOf(name)
      const isGone = item !== undefined && states[item]?.value === undefined
      return [name, isGone ? { value: undefined, owners: [] } : state]
    }),
  )
}

/** Whether nobody is known to own anything of an object: until somebody applies to it nobody gets to. */
export const isUnowned = (object: KubernetesObject | undefined): boolean =>
  object !== undefined && (object.metadata.managedFields ?? []).length === 0

/** The fields of an object that nobody owns anything of, as they are when somebody applies to it. */
export function ownedBefore(states: FieldStates): FieldStates {
  return Object.fromEntries(
    Object.entries(states).map(([name, { value }]) => [
      name,
      { value, owners: value === undefined ? [] : ['Update before-first-apply'] },
    ]),
  )
}

/** The fields that somebody may not apply without taking them from others, sorted. */
export function conflictsOf(states: FieldStates, manager: string, fields: Fields): readonly string[] {
  const own = `Apply ${manager}`
  return Object.entries(fields)
    .filter(([name, value]) => {
      const { value: before, owners } = states[name] ?? { value: undefined, owners: [] }
      return before !== value && owners.some((owner) => owner !== own)
    })
    .map(([name]) => name)
    .sort()
}

/**
 * The maps and lists that somebody may not make again by applying these fields, sorted: who wrote one first owns it, and does so still when it has gone with the
 * last that was in it. Upstream's too: an empty one is not stored.
 */
export function conflictingContainers(
  object: KubernetesObject | undefined,
  manager: string,
  fields: Fields,
): readonly string[] {
  if (object === undefined) return []
  const containers = new Set(Object.keys(fields).flatMap(containersOf))
  return [...containers]
    .filter((name) => fieldValue(object, name) === undefined)
    .filter((name) => ownersOf(object, name).some((owner) => owner !== `Apply ${manager}`))
    .sort()
}

/** `.metadata` and `.metadata.labels` of `.metadata.labels.tier`. */
function containersOf(name: string): readonly string[] {
  const steps = name.match(/\.[^.[]+|\[[^\]]*\]/g) ?? []
  return steps.slice(0, -1).map((_, index) => steps.slice(0, index + 1).join(''))
}

/**
 * What comes of it where somebody applies these fields, who has nothing against taking them from others: who applies a value that is there owns it too, who
 * changes one owns it alone, and what was applied before and is not any more goes, unless others own it (KEP 555). An item goes although others own what is in it,
 * unless they own the item.
 */
export function afterApply(states: FieldStates, manager: string, fields: Fields): FieldStates {
  const own = `Apply ${manager}`
  const given = withItems(fields)
  const after = Object.fromEntries(
    Object.entries(states).map(([name, { value, owners }]) => {
      const others = owners.filter((owner) => owner !== own)
      const wanted = given[name]
      if (wanted !== undefined) {
        const left = value === wanted ? others : []
        return [name, { value: wanted, owners: [...left, own].sort() }]
      }
      if (others.length > 0 || !owners.includes(own)) return [name, { value: value ?? defaults[name], owners: others }]
      return [name, { value: defaults[name], owners: [] }]
    }),
  )
  return withoutItemsGone(after)
}

/** What comes of it where somebody writes these fields without applying them: those that change are its own alone. Undefined: nobody is to own them. */
export function afterUpdate(
  states: FieldStates,
  manager: string | undefined,
  fields: Readonly<Record<string, FieldValue | null>>,
): FieldStates {
  const given = withItems(fields)
  return Object.fromEntries(
    Object.entries(states).map(([name, state]) => {
      const wanted = given[name]
      if (wanted === undefined || (wanted ?? undefined) === state.value) return [name, state]
      if (wanted === null) return [name, { value: undefined, owners: [] }]
      return [name, { value: wanted, owners: manager === undefined ? [] : [`Update ${manager}`] }]
    }),
  )
}
