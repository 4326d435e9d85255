/** Fields of objects, by the names that refusals give them, as `.spec.containers[name="main"].image`. */
import type { KubernetesObject } from '@coracle/api'

/** What somebody wants an object to have, by the fields' names. */
export type Fields = Readonly<Record<string, FieldValue>>
export type FieldValue = string | number

/** A step on the way to a field: a member of an object, or an item of a list that is known by one of its members. */
type Step = { readonly member: string } | { readonly key: string; readonly value: string }

const stepPattern = /\.([^.[]+)|\[(\w+)="([^"]*)"\]/g

function stepsOf(name: string): readonly Step[] {
  return [...name.matchAll(stepPattern)].map(([, member, key = '', value = '']) =>
    member === undefined ? { key, value } : { member },
  )
}

type Json = Readonly<Record<string, unknown>>

/** The innermost item of a list that a field is in, as `.spec.containers[name="main"]`; undefined where it is in none. */
export function itemOf(name: string): string | undefined {
  const end = name.lastIndexOf(']')
  return end < 0 || end === name.length - 1 ? undefined : name.slice(0, end + 1)
}

/** What a field is; undefined where it is not there. */
export function fieldValue(object: unknown, name: string): unknown {
  let at: unknown = object
  for (const step of stepsOf(name)) {
    if ('member' in step) at = (at as Json | undefined)?.[step.member]
    else at = (at as readonly Json[] | undefined)?.find((each) => each[step.key] === step.value)
  }
  return at
}

/** An object that has these fields and no others. Those of null are there, as patches take fields away. */
export function objectOf(base: object, fields: Readonly<Record<string, FieldValue | null>>): KubernetesObject {
  const root = structuredClone(base) as Record<string, unknown>
  for (const [name, value] of Object.entries(fields)) put(root, stepsOf(name), value)
  return root as unknown as KubernetesObject
}

function put(root: Json, steps: readonly Step[], value: FieldValue | null): void {
  let at: unknown = root
  for (const [index, step] of steps.entries()) {
    const next = steps[index + 1]
    if ('member' in step) {
      const parent = at as Record<string, unknown>
      if (next === undefined) parent[step.member] = value
      else parent[step.member] ??= 'member' in next ? {} : []
      at = parent[step.member]
    } else {
      const items = at as Record<string, unknown>[]
      const known = items.find((each) => each[step.key] === step.value)
      const item = known ?? { [step.key]: step.value }
      if (known === undefined) items.push(item)
      at = item
    }
  }
}

/** Who owns a field, or an item of a list, as `Apply anna` and `Update controller`. */
export function ownersOf({ metadata }: KubernetesObject, name: string): readonly string[] {
  return (metadata.managedFields ?? [])
    .filter(({ fieldsV1, subresource = '' }) => subresource === '' && owns(fieldsV1 as Json | undefined, name))
    .map(({ manager, operation }) => `${operation} ${manager}`)
}

function owns(fields: Json | undefined, name: string): boolean {
  let at = fields
  const steps = stepsOf(name)
  for (const step of steps) {
    const own = 'member' in step ? `f:${step.member}` : `k:${JSON.stringify({ [step.key]: step.value })}`
    at = at?.[own] as Json | undefined
  }
  const last = steps.at(-1)
  return last !== undefined && 'key' in last ? at?.['.'] !== undefined : at !== undefined
}
