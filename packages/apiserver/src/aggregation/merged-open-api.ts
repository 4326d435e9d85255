import { deepEqual, isJsonObject, type JsonObject } from '@coracle/api'

/** The parts of a Swagger 2.0 document that say what a server serves. */
export interface OpenApiParts {
  readonly paths: JsonObject
  readonly definitions: JsonObject
}

const referencePrefix = '#/definitions/'
const kindsMember = 'x-kubernetes-group-version-kind'

/** What a document says of paths below `prefix`: these, and the definitions that they lead to. Undefined where it is no such document. */
export function openApiBelow(document: unknown, prefix: string): OpenApiParts | undefined {
  if (!isJsonObject(document) || !isJsonObject(document.paths)) return undefined
  const all = isJsonObject(document.definitions) ? document.definitions : {}
  const paths = Object.fromEntries(Object.entries(document.paths).filter(([path]) => path.startsWith(prefix)))
  const used = new Set<string>()
  const queue: unknown[] = [paths]
  for (let value = queue.pop(); value !== undefined; value = queue.pop()) {
    for (const name of referencesIn(value)) {
      if (used.has(name) || !Object.hasOwn(all, name)) continue
      used.add(name)
      queue.push(all[name])
    }
  }
  return { paths, definitions: Object.fromEntries(Object.entries(all).filter(([name]) => used.has(name))) }
}

/**
 * A document with what other servers serve. Paths that it has stay its own, and definitions that are the same are one; of those that
 * are not, the other server's get another name, `NAME_v2` (kube-openapi's aggregator does so). Pure.
 */
export function mergedOpenApi(own: JsonObject, others: readonly OpenApiParts[]): JsonObject {
  if (others.length === 0) return own
  const paths: Record<string, unknown> = { ...(own.paths as JsonObject) }
  const definitions: Record<string, unknown> = { ...(own.definitions as JsonObject) }
  for (const other of others) {
    const renamed = newNames(other.definitions, definitions)
    for (const [path, item] of Object.entries(other.paths)) {
      if (!Object.hasOwn(paths, path)) paths[path] = withNames(item, renamed)
    }
    for (const [name, definition] of Object.entries(other.definitions)) {
      const known = definitions[name]
      if (renamed.has(name) || known === undefined) {
        definitions[renamed.get(name) ?? name] = withNames(definition, renamed)
      } else definitions[name] = withKinds(known, definition)
    }
  }
  return { ...own, paths, definitions } as JsonObject
}

/** The names of definitions that mean something else where they are already known, or lead to such. */
function newNames(given: JsonObject, known: Readonly<Record<string, unknown>>): ReadonlyMap<string, string> {
  const shared = Object.keys(given).filter((name) => Object.hasOwn(known, name))
  const different = new Set(shared.filter((name) => !deepEqual(withoutKinds(given[name]), withoutKinds(known[name]))))
  for (let before = -1; before !== different.size; ) {
    before = different.size
    for (const name of shared) if (referencesIn(given[name]).some((each) => different.has(each))) different.add(name)
  }
  const isTaken = (name: string): boolean => Object.hasOwn(known, name) || Object.hasOwn(given, name)
  const free = (name: string): string => {
    let number = 2
    while (isTaken(`${name}_v${number}`)) number += 1
    return `${name}_v${number}`
  }
  return new Map([...different].map((name) => [name, free(name)]))
}

const withoutKinds = (definition: unknown): unknown => {
  if (!isJsonObject(definition)) return definition
  const { [kindsMember]: _, ...rest } = definition
  return rest
}

/** A definition that stands for the kinds of another as well: DeleteOptions belong to every group. */
function withKinds(known: unknown, other: unknown): unknown {
  const added = isJsonObject(other) ? other[kindsMember] : undefined
  if (!isJsonObject(known) || !Array.isArray(added)) return known
  const kinds = [known[kindsMember] ?? []].flat()
  return {
    ...known,
    [kindsMember]: [...kinds, ...added.filter((kind) => !kinds.some((each) => deepEqual(each, kind)))],
  }
}

function withNames(value: unknown, renamed: ReadonlyMap<string, string>): unknown {
  if (Array.isArray(value)) return value.map((each) => withNames(each, renamed))
  if (!isJsonObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => {
      const definition = name === '$ref' ? definitionOf(member) : undefined
      const newName = definition === undefined ? undefined : renamed.get(definition)
      return [name, newName === undefined ? withNames(member, renamed) : `${referencePrefix}${newName}`]
    }),
  )
}

function referencesIn(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(referencesIn)
  if (!isJsonObject(value)) return []
  return Object.entries(value).flatMap(([name, member]) => {
    const definition = name === '$ref' ? definitionOf(member) : undefined
    return definition === undefined ? referencesIn(member) : [definition]
  })
}

/** The definition that a `$ref` names. */
const definitionOf = (reference: unknown): string | undefined =>
  typeof reference === 'string' && reference.startsWith(referencePrefix)
    ? reference.slice(referencePrefix.length)
    : undefined
