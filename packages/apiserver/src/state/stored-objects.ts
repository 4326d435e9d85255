import { type KubernetesObject, managedFieldsOf, parseExactJson } from '@coracle/api'
import type { Entry, Store } from '@coracle/store'
import { readOwners, splitOwners } from '../watch-cache/owners-trailer.ts'
import { registryPrefix } from '../watch-cache/store-feed.ts'

/** Entries read at a time. */
const pageMax = 500
const definitionsPrefix = `${registryPrefix}apiextensions.k8s.io/customresourcedefinitions/`

/**
 * All objects of a store that no server needs to run on, in the versions they are stored in, with their revisions and the
 * owners of their fields. Definitions of custom kinds come first. What a server keeps beside objects is left out.
 */
export async function* storedObjects(store: Store): AsyncIterable<readonly KubernetesObject[]> {
  for await (const { entries } of store.pages(definitionsPrefix, pageMax)) yield objectsIn(entries)
  for await (const { entries } of store.pages(registryPrefix, pageMax)) {
    yield objectsIn(entries.filter(({ key }) => !key.startsWith(definitionsPrefix)))
  }
}

const objectsIn = (entries: readonly Entry[]): readonly KubernetesObject[] => entries.flatMap(objectIn)

/** None for a record that is no object. */
function objectIn({ value, modRevision }: Entry): readonly KubernetesObject[] {
  const text = Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString()
  const stored = parseExactJson(splitOwners(text).object) as Partial<KubernetesObject>
  const { metadata, apiVersion, kind } = stored
  if (metadata?.uid === undefined || apiVersion === undefined || kind === undefined) return []
  const owners = readOwners(value)
  const managedFields = owners.length === 0 ? {} : { managedFields: managedFieldsOf(owners) }
  return [
    {
      ...stored,
      metadata: { ...metadata, resourceVersion: String(modRevision), ...managedFields },
    } as KubernetesObject,
  ]
}
