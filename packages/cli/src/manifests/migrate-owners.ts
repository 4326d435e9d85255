import { elementIn, type FieldSet, fieldElement, type ManagedFieldsEntry, noFields, unionOf } from '@coracle/api'
import { lastAppliedAnnotation } from './apply-object.ts'

/**
 * The owners of an object's fields once `manager` applies them on the server: it has what clients that applied owned, and they are gone.
 * Those clients are who updated the annotation of what was applied. The very same entries where there is no such client.
 */
export function withMigratedOwners(
  entries: readonly ManagedFieldsEntry[],
  manager: string,
): readonly ManagedFieldsEntry[] {
  const clients = new Set(
    entries.filter((entry) => isUpdate(entry) && ownsLastApplied(entry)).map((each) => each.manager),
  )
  const isClient = (entry: ManagedFieldsEntry): boolean =>
    isUpdate(entry) && clients.has(entry.manager) && !hasSubresource(entry)
  const isApplier = (entry: ManagedFieldsEntry): boolean =>
    entry.operation === 'Apply' && entry.manager === manager && !hasSubresource(entry)
  const heir = entries.find(isApplier) ?? entries.find(isClient)
  if (heir === undefined || !entries.some(isClient)) return entries
  // Fields of another version cannot be joined with those of this one.
  const inherited = entries.filter((entry) => isClient(entry) && entry.apiVersion === heir.apiVersion)
  const fieldsV1 = inherited.map(fieldsOf).reduce(unionOf, fieldsOf(heir))
  return entries.flatMap((entry) => {
    if (entry === heir) return [{ ...entry, manager, operation: 'Apply' as const, fieldsV1 }]
    return isClient(entry) ? [] : [entry]
  })
}

/** Whether an owner has the annotation of what clients applied. */
export function ownsLastApplied(entry: ManagedFieldsEntry): boolean {
  const path = ['metadata', 'annotations', lastAppliedAnnotation]
  let set: FieldSet | undefined = fieldsOf(entry)
  for (const name of path) set = set === undefined ? undefined : elementIn(set, fieldElement(name))
  return set !== undefined
}

const isUpdate = ({ operation }: ManagedFieldsEntry): boolean => operation === 'Update'

const hasSubresource = ({ subresource = '' }: ManagedFieldsEntry): boolean => subresource !== ''

const fieldsOf = ({ fieldsV1 }: ManagedFieldsEntry): FieldSet => (fieldsV1 as FieldSet | undefined) ?? noFields
