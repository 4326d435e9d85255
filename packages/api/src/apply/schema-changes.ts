import { resolveSchema } from '../schema/resolve.ts'
import type { Schema } from '../schema/schema.ts'
import { type FieldSet, isEmptySet, noFields, selfElement } from './field-set.ts'
import type { FieldOwners, Versions } from './ownership.ts'
import { memberSchema } from './typed-value.ts'

/**
 * The owners as the schemas are now: who owned parts of what has become atomic since owns it as a whole. What was atomic once
 * and is not any more stays owned as it was, without its parts.
 * https://github.com/kubernetes-sigs/structured-merge-diff (typed.ReconcileFieldSetWithSchema)
 */
export function ownersUnderSchemas(owners: FieldOwners, versions: Versions): FieldOwners {
  let reconciled = owners
  owners.forEach((owner, index) => {
    const schema = versions.schemaOf(owner.apiVersion)
    if (schema === undefined) return
    const fields = fieldsUnderSchema(schema, owner.fields)
    if (fields !== owner.fields) reconciled = reconciled.with(index, { ...owner, fields })
  })
  return reconciled
}

/** Notes that these owners are as the schemas are: what follows from a change under a schema need not be looked through again. */
export function noteUnderSchemas(owners: FieldOwners, versions: Versions): FieldOwners {
  for (const { apiVersion, fields } of owners) {
    const schema = versions.schemaOf(apiVersion)
    if (schema !== undefined) found.set(fields, resolveSchema(schema))
  }
  return owners
}

/**
 * The schema under which each part of a set has been found to be right. Sets share what they have in common, so a set that
 * differs a little from others costs what it differs in.
 */
const found = new WeakMap<FieldSet, Schema>()

/** The fields that a set names, as the schema has them now. The set itself where they are the same. */
export function fieldsUnderSchema(schema: Schema, fields: FieldSet): FieldSet {
  if (isEmptySet(fields)) return fields
  const resolved = resolveSchema(schema)
  if (found.get(fields) === resolved) return fields
  const changed: [element: string, below: FieldSet][] = []
  for (const element in fields) {
    const below = fields[element] ?? noFields
    const own = element === selfElement || isEmptySet(below) ? undefined : partSchema(resolved, element)
    const kept = own === undefined ? below : isAtomic(own) ? noFields : fieldsUnderSchema(own, below)
    if (kept !== below) changed.push([element, kept])
  }
  const reconciled = changed.length === 0 ? fields : Object.freeze({ ...fields, ...Object.fromEntries(changed) })
  found.set(reconciled, resolved)
  return reconciled
}

/** The schema of what a path element leads to; undefined where none describes it. */
function partSchema(resolved: Schema, element: string): Schema | undefined {
  if (element.startsWith('f:')) return memberSchema(resolved, element.slice(2))
  return resolved.type === 'list' ? resolved.items : undefined
}

function isAtomic(schema: Schema): boolean {
  const resolved = resolveSchema(schema)
  if (resolved.type === 'list') return resolved.listType !== 'set' && resolved.listType !== 'map'
  return (resolved.type === 'object' || resolved.type === 'map') && resolved.mapType === 'atomic'
}
