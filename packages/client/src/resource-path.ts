import type { Resource } from '@coracle/api'
import type { ObjectKey } from './client.ts'

/** Query parameters; what is undefined is left out. */
export type Query = Readonly<Record<string, string | number | boolean | undefined>>

/** `/api/v1` or `/apis/apps/v1`. */
export function groupVersionPath(resource: Pick<Resource, 'group' | 'version'>): string {
  return resource.group === '' ? `/api/${resource.version}` : `/apis/${resource.group}/${resource.version}`
}

/**
 * A name or a namespace as it stands in a path. Throws an Error, in client-go's words, where it would be taken for something else by whoever
 * reads the path: `..` leads to all namespaces.
 */
function segment(what: string, name: string): string {
  if (!/^\.\.?$|[/%]/.test(name)) return encodeURIComponent(name)
  const problems = /^\.\.?$/.test(name)
    ? [`may not be '${name}'`]
    : ['/', '%'].filter((each) => name.includes(each)).map((each) => `may not contain '${each}'`)
  throw new Error(`invalid ${what} ${JSON.stringify(name)}: [${problems.join(' ')}]`)
}

/** The path of a collection: of one namespace, or of all (and of kinds without namespaces). Throws where its name is none. */
export function collectionPath(resource: Resource, namespace?: string): string {
  const base = groupVersionPath(resource)
  const isScoped = resource.namespaced && namespace !== undefined && namespace !== ''
  return isScoped
    ? `${base}/namespaces/${segment('namespace', namespace)}/${resource.plural}`
    : `${base}/${resource.plural}`
}

/** The path of an object or one of its subresources. Throws where the key lacks what the kind needs, or has what no name may have. */
export function objectPath(resource: Resource, key: ObjectKey, subresource?: string): string {
  if (key.name === '') throw new TypeError('resource name may not be empty')
  const collection = collectionPath(resource, requiredNamespace(resource, key.namespace))
  const path = `${collection}/${segment('resource name', key.name)}`
  return subresource === undefined ? path : `${path}/${subresource}`
}

/** The namespace a single object of this resource is in; throws a TypeError where it is missing. */
export function requiredNamespace(resource: Resource, namespace: string | undefined): string | undefined {
  if (!resource.namespaced) return undefined
  if (namespace === undefined || namespace === '')
    throw new TypeError(`a ${resource.kind} needs a namespace, and none is given`)
  return namespace
}

/** A path with its query. */
export function withQuery(path: string, query: Query): string {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) if (value !== undefined) parameters.append(name, String(value))
  const text = parameters.toString()
  return text === '' ? path : `${path}?${text}`
}
