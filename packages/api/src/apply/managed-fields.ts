import { compareText } from '../compare-text.ts'
import { parseExactJson } from '../exact-json.ts'
import { isJsonObject } from '../json.ts'
import type { ManagedFieldsEntry } from '../meta.ts'
import { ownedText } from './alike-updates.ts'
import { type FieldSet, noFields, selfElement, setOfElements, unionOf } from './field-set.ts'
import { type FieldOwners, managerKey, type Owned } from './ownership.ts'

/** Owners as `metadata.managedFields` shows them. */
export function managedFieldsOf(owners: FieldOwners): readonly ManagedFieldsEntry[] {
  return owners.map(({ name, operation, apiVersion, time, fields, subresource }) => ({
    manager: name,
    operation,
    apiVersion,
    ...(time === undefined ? {} : { time }),
    fieldsType: 'FieldsV1',
    fieldsV1: fields,
    ...(subresource === '' ? {} : { subresource }),
  }))
}

/** What was made into JSON last: objects of one template that are written in the same second have one list of owners. */
let last: { readonly owners: FieldOwners; readonly text: string } | undefined

/** The JSON of `managedFieldsOf`. Most sets of fields have their text already. */
export function managedFieldsText(owners: FieldOwners): string {
  if (last?.owners !== owners) last = { owners, text: textOf(owners) }
  return last.text
}

function textOf(owners: FieldOwners): string {
  const entries = owners.map((owner) => {
    const { name: manager, operation, apiVersion, time, subresource } = owner
    const before = JSON.stringify({ manager, operation, apiVersion, time, fieldsType: 'FieldsV1' }).slice(0, -1)
    const after = subresource === '' ? '' : `,"subresource":${JSON.stringify(subresource)}`
    return `${before},"fieldsV1":${ownedText(owner)}${after}}`
  })
  return `[${entries.join()}]`
}

/** The order in which owners are kept and shown: by operation, time and name. */
export function inOrder(owners: FieldOwners): FieldOwners {
  const sorted = owners.toSorted(
    (a, b) =>
      compareText(a.operation, b.operation) ||
      compareText(a.time ?? '', b.time ?? '') ||
      compareText(a.name, b.name) ||
      compareText(a.apiVersion, b.apiVersion) ||
      compareText(a.subresource, b.subresource),
  )
  return sorted.every((owner, index) => owner === owners[index]) ? owners : sorted
}

/** Reads managedFields that a client has sent; undefined where they make no sense, and are therefore ignored. */
export function ownersOf(entries: readonly ManagedFieldsEntry[]): FieldOwners | undefined {
  const owners = new Map<string, Owned>()
  for (const entry of entries) {
    const owned = ownedOf(entry)
    if (owned === undefined) return undefined
    owners.set(managerKey(owned), owned)
  }
  return inOrder([...owners.values()])
}

/** Whether a client asks that nobody should own anything: by an empty list, or one empty entry. */
export function resetsOwners(entries: readonly ManagedFieldsEntry[] | undefined): boolean {
  const [first] = entries ?? []
  return (
    entries !== undefined && (entries.length === 0 || (entries.length === 1 && Object.keys(first ?? {}).length === 0))
  )
}

/** What is wrong with managedFields, in upstream's words; undefined where nothing is. */
export function managedFieldsProblem(entries: readonly ManagedFieldsEntry[]): string | undefined {
  for (const [index, entry] of entries.entries()) {
    const problem = headProblem(entry, index)
    if (problem !== undefined) return problem
    if (fieldSetFrom(entry.fieldsV1 ?? {}) === undefined) return `error decoding set of managed fields entry ${index}`
  }
  return undefined
}

/** What is wrong with an entry beside its fields. */
function headProblem(
  { operation, apiVersion = '', fieldsType = '' }: ManagedFieldsEntry,
  index: number,
): string | undefined {
  if (operation !== 'Apply' && operation !== 'Update') return 'operation must be `Apply` or `Update`'
  if (apiVersion === '') return 'apiVersion must not be empty'
  if (fieldsType === '') return `missing fieldsType in managed fields entry ${index}`
  return fieldsType === 'FieldsV1'
    ? undefined
    : `invalid fieldsType ${JSON.stringify(fieldsType)} in managed fields entry ${index}`
}

function ownedOf(entry: ManagedFieldsEntry): Owned | undefined {
  const { manager = '', apiVersion = '', time, fieldsV1, subresource = '' } = entry
  if (headProblem(entry, 0) !== undefined) return undefined
  const operation = entry.operation as Owned['operation']
  const fields = fieldSetFrom(fieldsV1 ?? {})
  return fields === undefined
    ? undefined
    : { name: manager || unknownManager, operation, apiVersion, subresource, time, fields }
}

/** Stands for a manager that has no name. */
export const unknownManager = 'unknown'

/**
 * A fieldsV1 value as a set, whoever wrote it and however its elements are written: undefined where it is none. Elements of kinds that nobody
 * knows are left out, as upstream, for a later version may have them.
 */
export const fieldSetFrom = (value: unknown): FieldSet | undefined => nodeFrom(value, true)

function nodeFrom(value: unknown, isRoot: boolean): FieldSet | undefined {
  if (value === null) return noFields
  if (!isJsonObject(value)) return undefined
  const nodes = new Map<string, FieldSet>()
  for (const written of Object.keys(value)) {
    if (written === selfElement || isOfUnknownKind(written)) continue
    const element = pathElementFrom(written)
    const below = element === undefined ? undefined : nodeFrom(value[written], false)
    if (element === undefined || below === undefined) return undefined
    const same = nodes.get(element)
    nodes.set(
      element,
      same === undefined ? below : (unionOf({ [element]: same }, { [element]: below })[element] ?? below),
    )
  }
  if (nodes.size === 0) return noFields
  if (!isRoot && Object.hasOwn(value, selfElement)) nodes.set(selfElement, noFields)
  return setOfElements([...nodes])
}

const isOfUnknownKind = (element: string): boolean => element.charAt(1) === ':' && !'fkvi'.includes(element.charAt(0))

/** So many elements, no longer than that, are known by how they were written: objects of one template have the same. Beyond that all are forgotten. */
const knownElementsMax = 4096
const knownElementLengthMax = 128
const knownElements = new Map<string, string>()

/** A path element as this server writes it; undefined where it makes no sense. */
function pathElementFrom(written: string): string | undefined {
  if (written.startsWith('f:')) return written
  const known = knownElements.get(written)
  if (known !== undefined) return known
  const element = readElement(written)
  if (element === undefined || written.length > knownElementLengthMax) return element
  if (knownElements.size >= knownElementsMax) knownElements.clear()
  knownElements.set(written, element)
  return element
}

function readElement(element: string): string | undefined {
  const rest = element.slice(2)
  switch (element.slice(0, 2)) {
    case 'v:': {
      const value = parsed(rest)
      return value === undefined || isEndless(value) ? undefined : `v:${JSON.stringify(value)}`
    }
    case 'k:': {
      const given = parsed(rest)
      const keys = given === null ? {} : given
      if (!isJsonObject(keys) || Object.values(keys).some(isEndless)) return undefined
      return `k:${JSON.stringify(Object.fromEntries(Object.entries(keys).sort(([a], [b]) => compareText(a, b))))}`
    }
    case 'i:':
      return /^[-+]?\d+$/.test(rest) ? `i:${BigInt(rest.replace('+', ''))}` : undefined
    default:
      return undefined
  }
}

/** Too great for a number. */
const isEndless = (value: unknown): boolean => typeof value === 'number' && !Number.isFinite(value)

function parsed(text: string): unknown {
  try {
    return parseExactJson(text)
  } catch {
    return undefined
  }
}
