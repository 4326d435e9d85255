import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'

/** What one kubeconfig file says, or several merged. Paths in it are as written: relative to the file of their entry. */
export interface KubeconfigDocument {
  readonly currentContext: string | undefined
  readonly contexts: ReadonlyMap<string, KubeconfigEntry>
  readonly clusters: ReadonlyMap<string, KubeconfigEntry>
  readonly users: ReadonlyMap<string, KubeconfigEntry>
  /** Members of the document beside those, such as `extensions`. */
  readonly others: KubeconfigFields
}

/** A named cluster, user or context. */
export interface KubeconfigEntry {
  readonly fields: KubeconfigFields
  /** The file it stands in; absent for one that is new. */
  readonly path?: string
}

export type KubeconfigFields = Readonly<Record<string, unknown>>

/** The lists of a kubeconfig, and what one entry of each is called. */
export const kubeconfigLists = { contexts: 'context', clusters: 'cluster', users: 'user' } as const

export type KubeconfigList = keyof typeof kubeconfigLists

/** Reads a kubeconfig file. Rejects with an Error that names it where it cannot be read or parsed. */
export async function readKubeconfigDocument(path: string): Promise<KubeconfigDocument> {
  return parseKubeconfigDocument(await readConfigFile(path), resolve(path))
}

/** Parses the text of a kubeconfig; an empty one says nothing. `path` is where it stands. */
export async function parseKubeconfigDocument(text: string, path: string): Promise<KubeconfigDocument> {
  const { parse } = await import('yaml')
  let document: unknown
  try {
    document = parse(text)
  } catch (cause) {
    throw new Error(`${path} is no YAML: ${cause instanceof Error ? cause.message : cause}`, { cause })
  }
  if (!isFields(document ?? {})) throw new Error(`${path} is no kubeconfig: it holds no mapping`)
  const {
    apiVersion,
    kind,
    'current-context': current,
    contexts,
    clusters,
    users,
    ...others
  } = (document ?? {}) as KubeconfigFields
  checkKind(path, apiVersion || 'v1', kind || 'Config')
  return {
    currentContext: typeof current === 'string' && current !== '' ? current : undefined,
    contexts: entries(contexts, 'contexts', path),
    clusters: entries(clusters, 'clusters', path),
    users: entries(users, 'users', path),
    others,
  }
}

/** What says that it is another document is not read as a kubeconfig; one that does not say is taken for one. */
function checkKind(path: string, apiVersion: unknown, kind: unknown): void {
  if (apiVersion === 'v1' && kind === 'Config') return
  throw new Error(`error loading config file "${path}": no kind "${kind}" is registered for version "${apiVersion}"`)
}

/** Several files as one: the first that has an entry, or a current context, wins, as with kubectl. */
export function mergeKubeconfigDocuments(documents: readonly KubeconfigDocument[]): KubeconfigDocument {
  const fromLast = documents.toReversed()
  const merge = (list: KubeconfigList) => new Map(fromLast.flatMap((document) => [...document[list]]))
  return {
    currentContext: documents.find(({ currentContext }) => currentContext !== undefined)?.currentContext,
    contexts: merge('contexts'),
    clusters: merge('clusters'),
    users: merge('users'),
    others: Object.assign({}, ...fromLast.map(({ others }) => others)),
  }
}

/** The text of a file that a configuration names. Rejects with an Error that names it. */
export async function readConfigFile(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (cause) {
    throw new Error(`cannot read ${path}: ${reasonOf(cause)}`, { cause })
  }
}

/** A field that holds a text; an empty one counts as absent. */
export function textOf(fields: KubeconfigFields, name: string): string | undefined {
  const value = fields[name]
  return typeof value === 'string' && value !== '' ? value : undefined
}

export const isFields = (value: unknown): value is KubeconfigFields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function entries(value: unknown, list: KubeconfigList, path: string): ReadonlyMap<string, KubeconfigEntry> {
  if (value !== undefined && value !== null && !Array.isArray(value)) throw new Error(`${path}: ${list} is no list`)
  const named = new Map<string, KubeconfigEntry>()
  for (const entry of value ?? []) {
    if (!isFields(entry) || typeof entry.name !== 'string') throw new Error(`${path}: an entry of ${list} has no name`)
    const fields = entry[kubeconfigLists[list]]
    if (!named.has(entry.name)) named.set(entry.name, { fields: isFields(fields) ? fields : {}, path })
  }
  return named
}

/** Why a file cannot be read, in the system's words: `no such file or directory`. */
function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error)
  return /^E[A-Z]+: ([^,]+), /.exec(text)?.[1] ?? text
}
