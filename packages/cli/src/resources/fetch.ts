import {
  hasReason,
  type KubernetesList,
  type KubernetesObject,
  namespaces,
  parseExactJson,
  type Resource,
  type Table,
} from '@coracle/api'
import {
  type Client,
  collectionPath,
  type ListOptions,
  type ObjectKey,
  objectPath,
  tableAccept,
  withQuery,
} from '@coracle/client'
import { whileDoing } from '../describe-error.ts'
import type { Session } from '../session.ts'
import type { Selection } from './select-objects.ts'

/** Objects asked for in one request; longer lists come in pages (kubectl's --chunk-size). */
export const pageSize = 500

export interface TableRequest {
  /** Objects asked for in one request; 0, or less, asks for all of them. */
  readonly chunkSize?: number
  /** Rows carry whole objects, and not only their metadata. */
  readonly wholeObjects?: boolean
  /** Of one object: its subresource. */
  readonly subresource?: string
}

/** The table of one object or of a list, as the server draws it. */
export async function fetchTable(
  session: Session,
  { resource, name }: Selection,
  list: ListOptions,
  { chunkSize = pageSize, wholeObjects = false, subresource }: TableRequest = {},
): Promise<Table> {
  const { namespace, labelSelector, fieldSelector } = list
  const include = wholeObjects ? { includeObject: 'Object' } : {}
  if (name !== undefined) {
    const key = { name, ...(namespace === undefined ? {} : { namespace }) }
    const path = withQuery(objectPath(resource, key, subresource), include)
    return fetchPage(session, path).catch((error: unknown) => rejectMissing(session.client, key, error))
  }
  const limit = chunkSize <= 0 ? undefined : chunkSize
  let whole: Table | undefined
  for (let next: string | undefined = ''; next !== undefined; ) {
    // In the order of their names, as kubectl asks and logs it.
    const query = { continue: next || undefined, fieldSelector, ...include, labelSelector, limit }
    const path = withQuery(collectionPath(resource, namespace), query)
    const page: Table = await fetchPage(session, path).catch((error: unknown) => {
      throw listError(error, resource, list)
    })
    // The pages of a list are all of the version of its first.
    whole = whole === undefined ? page : { ...whole, rows: [...whole.rows, ...page.rows] }
    next = page.metadata.continue || undefined
  }
  return whole as Table
}

async function fetchPage({ client }: Session, path: string): Promise<Table> {
  const { body } = await client.request({ method: 'GET', path, accept: tableAccept })
  const table = parseExactJson(body) as Table
  return { ...table, rows: table.rows ?? [] }
}

/** One object by its name, or a subresource of it. Where its namespace is not there either, the error is about that. */
export function getNamed(
  client: Client,
  resource: Resource,
  key: ObjectKey,
  subresource: string | undefined,
): Promise<KubernetesObject> {
  return client
    .get<KubernetesObject>(resource, key, subresource === undefined ? {} : { subresource })
    .catch((error: unknown) => rejectMissing(client, key, error))
}

/** Rejects with the error about an object, or where that is not there for lack of its namespace with one about that (kubectl's rule). */
async function rejectMissing(client: Client, { namespace = '' }: ObjectKey, error: unknown): Promise<never> {
  const isExplained = namespace === '' || namespace === 'default' || !hasReason(error, 'NotFound')
  if (isExplained) throw error
  try {
    await client.get(namespaces, { name: namespace })
  } catch (namespaceError) {
    if (hasReason(namespaceError, 'NotFound')) throw namespaceError
  }
  throw error
}

/** All objects of a list, page by page; in one where `chunkSize` is 0. */
export async function listAll<T extends KubernetesObject>(
  client: Client,
  resource: Resource<T>,
  options: ListOptions,
  chunkSize: number = pageSize,
): Promise<readonly T[]> {
  const { items } = await listObjects(client, resource, options, chunkSize)
  return items
}

/** As `listAll`, with the version at which the list was taken: a watch goes on from there. */
export async function listObjects<T extends KubernetesObject>(
  client: Client,
  resource: Resource<T>,
  options: ListOptions,
  chunkSize: number,
): Promise<Listed<T>> {
  try {
    return await listPages(client, resource, options, chunkSize)
  } catch (error) {
    throw listError(error, resource, options)
  }
}

interface Listed<T> {
  readonly items: readonly T[]
  readonly resourceVersion: string
}

/** A list page by page, or in one where `chunkSize` is 0, and what the server answers where it refuses it. */
export async function listPages<T extends KubernetesObject>(
  client: Client,
  resource: Resource<T>,
  options: ListOptions,
  chunkSize: number,
): Promise<Listed<T>> {
  const items: T[] = []
  let resourceVersion = ''
  for (let next: string | undefined = ''; next !== undefined; ) {
    const page: KubernetesList<T> = await client.list(resource, {
      ...(next === '' ? {} : { continue: next }),
      ...options,
      ...(chunkSize <= 0 ? {} : { limit: chunkSize }),
    })
    // One by one: a page may be the whole list, and as arguments of one call too many.
    for (const item of page.items) items.push(item)
    resourceVersion = page.metadata.resourceVersion ?? resourceVersion
    next = page.metadata.continue || undefined
  }
  return { items, resourceVersion }
}

/** A refused list, with what was asked for: selectors come from people, and are where the mistake is. */
function listError(error: unknown, { group, version, plural }: Resource, options: ListOptions): unknown {
  if (!hasReason(error, 'BadRequest') && !hasReason(error, 'NotFound')) return error
  const { labelSelector = '', fieldSelector = '' } = options
  const subject = `"${group}/${version}, Resource=${plural}"`
  if (labelSelector === '' && fieldSelector === '') return whileDoing(`Unable to list ${subject}`, error)
  return whileDoing(
    `Unable to find ${subject} that match label selector ${JSON.stringify(labelSelector)}, field selector ${JSON.stringify(fieldSelector)}`,
    error,
  )
}
