import { type KubernetesObject, type ManagedFieldsEntry, ofJsonForm } from '@coracle/api'

/** A value in the store is an object's JSON, with the owners of its fields as one more member. */
const ownersMember = ',"/owners":'

/** The object in a stored value. */
export function objectIn(value: Uint8Array): KubernetesObject {
  const text = Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString()
  const at = text.lastIndexOf(ownersMember)
  return ofJsonForm(JSON.parse(at < 0 ? text : `${text.slice(0, at)}}`) as KubernetesObject)
}

/** The object in a stored value, with `metadata.managedFields` as a server shows them. */
export function objectWithOwnersIn(value: Uint8Array): KubernetesObject {
  const object = objectIn(value)
  const text = Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString()
  const at = text.lastIndexOf(ownersMember)
  const owners = at < 0 ? [] : (JSON.parse(text.slice(at + ownersMember.length, -1)) as readonly StoredOwner[])
  const managedFields = owners.map(
    ([manager, operation, apiVersion, subresource, time, fieldsV1]): ManagedFieldsEntry => ({
      ...{ manager, operation, apiVersion, subresource, fieldsV1 },
      ...(time === null ? {} : { time }),
    }),
  )
  return { ...object, metadata: { ...object.metadata, managedFields } }
}

type StoredOwner = readonly [
  manager: string,
  operation: 'Apply' | 'Update',
  apiVersion: string,
  subresource: string,
  time: string | null,
  fieldsV1: Readonly<Record<string, unknown>>,
]
