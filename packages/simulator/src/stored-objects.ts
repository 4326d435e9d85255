import { type KubernetesObject, ofJsonForm } from '@coracle/api'

/** A value in the store is an object's JSON, with the owners of its fields as one more member. */
const ownersMember = ',"/owners":'

/** The object in a stored value. */
export function objectIn(value: Uint8Array): KubernetesObject {
  const text = Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString()
  const at = text.lastIndexOf(ownersMember)
  return ofJsonForm(JSON.parse(at < 0 ? text : `${text.slice(0, at)}}`) as KubernetesObject)
}
