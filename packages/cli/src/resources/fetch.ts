import { apiVersionOf, type KubernetesList, type KubernetesObject, type Resource, type Table } from '@coracle/api'
import type { Client, ListOptions } from '@coracle/client'
import type { Session } from '../session.ts'
import type { Selection } from './select-objects.ts'

/** Objects asked for in one request; longer lists come in pages (kubectl's --chunk-size). */
export const pageSize = 500

const tableAccept = ['v1', 'v1beta1'].map((version) => `application/json;as=Table;v=${version};g=meta.k8s.io`).join(',')

/** The table of one object or of a list, as the server draws it. */
export async function fetchTable(session: Session, { resource, name }: Selection, list: ListOptions): Promise<Table> {
  if (name !== undefined)
    return fetchPage(session, `${collectionPath(resource, list.namespace)}/${encodeURIComponent(name)}`)
  let whole: Table | undefined
  for (let next: string | undefined = ''; next !== undefined; ) {
    const page: Table = await fetchPage(session, listPath(resource, list, next))
    // The pages of a list are all of the version of its first.
    whole = whole === undefined ? page : { ...whole, rows: [...whole.rows, ...page.rows] }
    next = page.metadata.continue || undefined
  }
  return whole as Table
}

async function fetchPage({ client }: Session, path: string): Promise<Table> {
  const { body } = await client.request({ method: 'GET', path, accept: tableAccept })
  const table = JSON.parse(body) as Table
  return { ...table, rows: table.rows ?? [] }
}

/** All objects of a list, page by page. */
export async function listAll(
  client: Client,
  resource: Resource,
  options: ListOptions,
): Promise<readonly KubernetesObject[]> {
  const items: KubernetesObject[] = []
  for (let next: string | undefined = ''; next !== undefined; ) {
    const page: KubernetesList = await client.list(resource, {
      ...options,
      limit: pageSize,
      ...(next === '' ? {} : { continue: next }),
    })
    items.push(...page.items)
    next = page.metadata.continue || undefined
  }
  return items
}

function listPath(resource: Resource, { namespace, labelSelector, fieldSelector }: ListOptions, next: string): string {
  const query = new URLSearchParams({ limit: String(pageSize) })
  if (labelSelector !== undefined) query.set('labelSelector', labelSelector)
  if (fieldSelector !== undefined) query.set('fieldSelector', fieldSelector)
  if (next !== '') query.set('continue', next)
  return `${collectionPath(resource, namespace)}?${query}`
}

function collectionPath(resource: Resource, namespace: string | undefined): string {
  const base = `${resource.group === '' ? '/api' : '/apis'}/${apiVersionOf(resource)}`
  const scope = resource.namespaced && namespace !== undefined ? `/namespaces/${encodeURIComponent(namespace)}` : ''
  return `${base}${scope}/${resource.plural}`
}
