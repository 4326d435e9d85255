import { createHash } from 'node:crypto'
import { isJsonObject, type JsonObject, type KubernetesObject, sortKeys } from '@coracle/api'
import { goJson } from '../../output/go-json.ts'

/** Members that a name stands for, beside kind and name: other contents get another name (kubectl's util/hash). */
const hashed: Readonly<Record<string, { readonly always: readonly string[]; readonly given: readonly string[] }>> = {
  ConfigMap: { always: ['data'], given: ['immutable', 'binaryData'] },
  Secret: { always: ['data', 'type'], given: ['immutable'] },
}

/** Letters that make no words, in the place of digits that might. */
const substitutes: Readonly<Record<string, string>> = { '0': 'g', '1': 'h', '3': 'k', a: 'm', e: 't' }

/** How many letters of the hash a name gets. */
const hashLength = 10

/** A ConfigMap or Secret with a hash of its contents after its name; any other object as it is. */
export function withNameHash<T extends KubernetesObject>(object: T): T {
  const members = hashed[object.kind]
  if (members === undefined) return object
  const all = object as unknown as JsonObject
  const isGiven = (name: string): boolean => {
    const value = all[name]
    return isJsonObject(value) ? Object.keys(value).length > 0 : value !== undefined
  }
  const { name = '' } = object.metadata
  const contents = {
    kind: object.kind,
    name,
    ...Object.fromEntries(members.always.map((each) => [each, all[each] ?? (each === 'data' ? {} : '')])),
    ...Object.fromEntries(members.given.filter(isGiven).map((each) => [each, all[each]])),
  }
  const hex = createHash('sha256')
    .update(goJson(sortKeys(contents)))
    .digest('hex')
    .slice(0, hashLength)
  const hash = hex.replaceAll(/[013ae]/g, (char) => substitutes[char] ?? char)
  return { ...object, metadata: { ...object.metadata, name: `${name}-${hash}` } }
}
