import { type FieldOwners, type FieldSet, fieldSetFrom, interned, type Owned, ownedText } from '@coracle/api'

/**
 * What stands between an object and its owners in the store: the value is the object's JSON with one more member at its end.
 * No text within JSON looks like it, for its quotes would be escaped there; only a member of this name would, and
 * owners are always written.
 */
const mark = ',"/owners":'

/** One owner as it is stored, in the order of Owned. */
type StoredOwner = readonly [
  name: string,
  operation: Owned['operation'],
  apiVersion: string,
  subresource: string,
  time: string | null,
  fields: FieldSet,
]

/** How many trailers are remembered. Objects of one template that are written at the same time have the same owners. */
export const rememberedTrailersMax = 64

const trailers = new Map<FieldOwners, string>()

/**
 * What follows an object's JSON in place of its last brace: who owns its fields, and the brace. It is there also where nobody owns any: that is
 * how a value is known to be written by a server.
 */
export function ownersTrailer(owners: FieldOwners): string {
  const known = trailers.get(owners)
  if (known !== undefined) return known
  const made = trailerOf(owners)
  if (trailers.size >= rememberedTrailersMax) forgetOldest()
  trailers.set(owners, made)
  return made
}

function forgetOldest(): void {
  for (const owners of trailers.keys()) {
    trailers.delete(owners)
    return
  }
}

function trailerOf(owners: FieldOwners): string {
  let text = ''
  for (const owner of owners) {
    const { name, operation, apiVersion, subresource, time } = owner
    const who = JSON.stringify([name, operation, apiVersion, subresource, time ?? null])
    text += `${text === '' ? '' : ','}${who.slice(0, -1)},${ownedText(owner)}]`
  }
  return `${mark}[${text}]}`
}

/** The JSON of an object in a stored value, and what follows it. */
export function splitOwners(value: string): { readonly object: string; readonly owners: string } {
  const at = value.lastIndexOf(mark)
  if (at < 0 || !value.endsWith(']}')) return { object: value, owners: '[]' }
  return { object: `${value.slice(0, at)}}`, owners: value.slice(at + mark.length, -1) }
}

/** Where in the bytes of a stored value its owners begin: their length where there are none. */
export function endOfObject(value: Buffer): number {
  const at = value.lastIndexOf(mark)
  return at < 0 || value[value.length - 2] !== closeBracket ? value.length - 1 : at
}

const closeBracket = 0x5d

/** Whether a stored value tells its owners: what others than servers write does not. */
export function hasOwners(value: Uint8Array): boolean {
  const bytes = Buffer.from(value.buffer, value.byteOffset, value.byteLength)
  return endOfObject(bytes) < bytes.length - 1
}

/** The owners in a stored value. */
export function readOwners(value: Uint8Array): FieldOwners {
  const { owners } = splitOwners(Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString())
  return (JSON.parse(owners) as readonly StoredOwner[]).map(
    ([name, operation, apiVersion, subresource, time, fields]) => ({
      name,
      operation,
      apiVersion,
      subresource,
      ...(time === null ? {} : { time }),
      fields: interned(fieldSetFrom(fields) ?? {}),
    }),
  )
}
