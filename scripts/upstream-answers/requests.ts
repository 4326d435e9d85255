import { isJsonObject, type JsonObject } from '@coracle/api'
import type { Example } from './examples.ts'

/** What is sent to both servers. */
export interface AnswerRequest {
  /** What is asked, for people: the kind, and what is done. */
  readonly name: string
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly path: string
  readonly body?: unknown
  readonly contentType?: string
}

/** A value somewhere in an object. */
interface Place {
  readonly path: readonly (string | number)[]
  readonly value: unknown
}

const longText = 'a'.repeat(300)

/** Creations of the example with one thing changed, and as it is. */
export function creationsOf({ path, object }: Example): readonly AnswerRequest[] {
  const changed = changesOf(object).map(({ text, object: body }) => creation(path, object, text, body))
  return [creation(path, object, 'as it is', object), ...changed]
}

function creation(path: string, { kind }: JsonObject, text: string, body: unknown): AnswerRequest {
  return { name: `create ${String(kind)}: ${text}`, method: 'POST', path: `${path}?dryRun=All`, body }
}

/** Updates of an object that is there with one thing changed. `there` is what the server of the request has. */
export function updatesOf({ path, object }: Example): readonly AnswerRequest[] {
  const { name } = object.metadata as { readonly name: string }
  return changesOf(object).map(({ text, object: body }) => ({
    name: `update ${String(object.kind)}: ${text}`,
    method: 'PUT',
    path: `${path}/${name}?dryRun=All`,
    body,
  }))
}

const patchTypes = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
} as const

const badPatches: Readonly<Record<keyof typeof patchTypes, readonly unknown[]>> = {
  json: [
    ...[null, {}, 'x', 5, [null], ['x'], [{}], [{ op: 'add' }], [{ op: 'nosuch', path: '/a' }]],
    [{ op: 'add', path: 'a', value: 1 }],
    [{ op: 'remove', path: '/nosuch' }],
    [{ op: 'remove', path: '/metadata/nosuch/x' }],
    [{ op: 'replace', path: '/nosuch', value: 1 }],
    [{ op: 'test', path: '/kind', value: 'x' }],
    [{ op: 'test', path: '/nosuch', value: null }],
    [{ op: 'move', path: '/a' }],
    [{ op: 'move', from: '/nosuch', path: '/a' }],
    [{ op: 'copy', from: '/nosuch', path: '/a' }],
    [{ op: 'add', path: '/metadata/name', value: 'other' }],
    [{ op: 'add', path: '/metadata/uid', value: 'other' }],
    [{ op: 'add', path: '/metadata/labels', value: 'x' }],
    [{ op: 'add', path: '/metadata/labels', value: { a: 1 } }],
    [{ op: 'add', path: '/metadata/resourceVersion', value: '1' }],
    [{ op: 'add', path: '/metadata/resourceVersion', value: 'x' }],
    [{ op: 'add', path: '/kind', value: 'Other' }],
    [{ op: 'add', path: '/apiVersion', value: 'v9' }],
    [{ op: 'add', path: '/metadata', value: null }],
    [{ op: 'remove', path: '' }],
  ],
  merge: objectPatches(),
  strategic: [
    ...objectPatches(),
    { metadata: { $patch: 'nosuch' } },
    { metadata: { $patch: 'delete' } },
    { $patch: 'replace', metadata: {} },
    { metadata: { ownerReferences: [{ $patch: 'delete' }] } },
    { metadata: { ownerReferences: [{ name: 'a' }] } },
    { metadata: { ownerReferences: ['x'] } },
    { metadata: { finalizers: [1] } },
    { metadata: { '$deleteFromPrimitiveList/finalizers': ['x'] } },
    { metadata: { '$deleteFromPrimitiveList/finalizers': 'x' } },
    { metadata: { '$setElementOrder/finalizers': ['x'] } },
    { metadata: { $retainKeys: ['name'] } },
    { metadata: { $retainKeys: 'x' } },
  ],
}

function objectPatches(): readonly unknown[] {
  return [
    ...[null, [], 'x', 5, true, {}],
    ...[{ metadata: null }, { metadata: 'x' }, { metadata: [] }, { metadata: { labels: 'x' } }],
    ...[{ metadata: { labels: { a: 1 } } }, { metadata: { labels: { 'not valid!': 'a' } } }],
    ...[{ metadata: { name: 'other' } }, { metadata: { name: null } }, { metadata: { namespace: 'other' } }],
    ...[{ metadata: { uid: 'other' } }, { metadata: { resourceVersion: '1' } }, { metadata: { resourceVersion: 'x' } }],
    ...[
      { metadata: { creationTimestamp: null } },
      { metadata: { creationTimestamp: 'x' } },
      { metadata: { generation: 9 } },
    ],
    ...[{ metadata: { finalizers: ['x'] } }, { metadata: { deletionTimestamp: '2020-01-01T00:00:00Z' } }],
    ...[{ kind: 'Other' }, { kind: null }, { apiVersion: 'v9' }, { apiVersion: null }, { nosuch: 1 }],
  ]
}

/** Patches with something wrong, of an object that is there. */
export function patchesOf({ path, object }: Example): readonly AnswerRequest[] {
  const { name } = object.metadata as { readonly name: string }
  return Object.entries(badPatches).flatMap(([type, bodies]) =>
    bodies.map((body) => ({
      name: `${type} patch of ${String(object.kind)}: ${JSON.stringify(body)}`,
      method: 'PATCH' as const,
      path: `${path}/${name}?dryRun=All`,
      body,
      contentType: patchTypes[type as keyof typeof patchTypes],
    })),
  )
}

const options = [
  ...['limit=x', 'limit=-1', 'limit=1.5', 'continue=x', 'continue=e30', 'limit=1&continue=x&resourceVersion=1'],
  ...['resourceVersion=x', 'resourceVersion=-1', 'resourceVersion=99999999999', 'resourceVersion=1'],
  ...['resourceVersionMatch=x', 'resourceVersionMatch=Exact', 'resourceVersionMatch=Exact&resourceVersion=0'],
  ...['resourceVersionMatch=NotOlderThan', 'resourceVersionMatch=NotOlderThan&resourceVersion=x'],
  ...['resourceVersionMatch=Exact&resourceVersion=1&continue=x', 'labelSelector=a%20b', 'labelSelector=a%3D%3D%3Db'],
  ...['labelSelector=a%20in%20(b', 'labelSelector=%21', 'labelSelector=a%2Cb%20notin%20()', 'labelSelector=-a%3Db'],
  ...[
    'fieldSelector=nosuch%3Da',
    'fieldSelector=metadata.name',
    'fieldSelector=metadata.name%3Da%2Cx',
    'fieldSelector=a%3D%3D%3Db',
  ],
  ...['fieldSelector=metadata.name%3Da,metadata.name%3Db', 'timeoutSeconds=x', 'allowWatchBookmarks=x', 'pretty=x'],
]
const watchOptions = [
  ...[
    'resourceVersion=x',
    'resourceVersion=-1',
    'resourceVersionMatch=Exact',
    'resourceVersionMatch=NotOlderThan&resourceVersion=0',
  ],
  ...[
    'labelSelector=a%20b',
    'fieldSelector=nosuch%3Da',
    'timeoutSeconds=x',
    'limit=x',
    'allowWatchBookmarks=x',
    'continue=x',
  ],
]

/** Lists and watches with options that are wrong. */
export function listsOf({ path, object }: Example): readonly AnswerRequest[] {
  const list = (query: string) => ({
    name: `list ${String(object.kind)}: ${query}`,
    method: 'GET' as const,
    path: `${path}?${query}`,
  })
  return [
    ...options.map(list),
    ...watchOptions.map((query) => list(`watch=true&timeoutSeconds=1&${query}`)),
    list('watch=x'),
  ]
}

const writeOptions = [
  'dryRun=x',
  'dryRun=All&dryRun=All',
  'dryRun=',
  'fieldManager=%01',
  `fieldManager=${longText}`,
  'pretty=x',
]
const deleteOptions: readonly unknown[] = [
  ...[
    { kind: 'Other' },
    { apiVersion: 'v9', kind: 'DeleteOptions' },
    { gracePeriodSeconds: 'x' },
    { gracePeriodSeconds: 1.5 },
    [],
  ],
  ...[{ propagationPolicy: 'x' }, { propagationPolicy: 'Orphan', orphanDependents: true }, { orphanDependents: 'x' }],
  ...[
    { preconditions: { uid: 'x' } },
    { preconditions: { resourceVersion: 'x' } },
    { preconditions: 5 },
    { dryRun: ['x'] },
    'x',
    null,
  ],
]

/** Writes with options that are wrong. */
export function otherWritesOf({ path, object }: Example): readonly AnswerRequest[] {
  const { name } = object.metadata as { readonly name: string }
  const kind = String(object.kind)
  return [
    ...writeOptions.map((query) => ({
      name: `create ${kind} with ${query.slice(0, 40)}`,
      method: 'POST' as const,
      path: `${path}?${query}`,
      body: object,
    })),
    ...deleteOptions.map((body) => ({
      name: `delete ${kind} with ${JSON.stringify(body)}`,
      method: 'DELETE' as const,
      path: `${path}/${name}?dryRun=All`,
      body,
    })),
    { name: `delete of no ${kind}`, method: 'DELETE', path: `${path}/nosuch` },
    { name: `get of no ${kind}`, method: 'GET', path: `${path}/nosuch` },
    {
      name: `update of no ${kind}`,
      method: 'PUT',
      path: `${path}/nosuch?dryRun=All`,
      body: { ...object, metadata: { name: 'nosuch' } },
    },
    { name: `update of another ${kind}`, method: 'PUT', path: `${path}/nosuch?dryRun=All`, body: object },
    { name: `subresource of ${kind}`, method: 'GET', path: `${path}/${name}/nosuch` },
  ]
}

/** The object with one value changed, in every place and in several ways. */
export function changesOf(object: JsonObject): readonly { readonly text: string; readonly object: JsonObject }[] {
  return placesOf(object, []).flatMap(({ path, value }) => [
    ...replacementsOf(value).map((replacement) => ({
      text: `${textOf(path)} = ${shown(replacement)}`,
      object: withValue(object, path, replacement) as JsonObject,
    })),
    { text: `no ${textOf(path)}`, object: withValue(object, path, undefined) as JsonObject },
  ])
}

const identity = new Set(['apiVersion', 'kind'])

function placesOf(value: unknown, path: readonly (string | number)[]): readonly Place[] {
  const own = path.length === 0 || (path.length === 1 && identity.has(String(path[0]))) ? [] : [{ path, value }]
  const below = Array.isArray(value)
    ? value.flatMap((each, index) => placesOf(each, [...path, index]))
    : isJsonObject(value)
      ? Object.entries(value).flatMap(([name, each]) => placesOf(each, [...path, name]))
      : []
  return [...own, ...below]
}

function replacementsOf(value: unknown): readonly unknown[] {
  if (typeof value === 'string') return ['', 'Not Valid!', '-a', longText, 5, null]
  if (typeof value === 'number') return [0, -1, 70_000, 2 ** 31, 1.5, 'x y', null]
  if (typeof value === 'boolean') return [!value, 'x', null]
  if (Array.isArray(value)) return [[], [...value, ...value.slice(0, 1)], [null], {}, 'x', null]
  return [{}, { nosuch: 1 }, [], 'x', null]
}

function withValue(object: unknown, [step, ...rest]: readonly (string | number)[], value: unknown): unknown {
  if (step === undefined) return value
  if (Array.isArray(object)) {
    const changed = object.map((each, index) => (index === step ? withValue(each, rest, value) : each))
    return changed.filter((each) => each !== undefined)
  }
  const { [step]: before, ...others } = object as JsonObject
  const after = withValue(before, rest, value)
  return after === undefined ? others : { ...(object as JsonObject), [step]: after }
}

const textOf = (path: readonly (string | number)[]): string =>
  path
    .map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`))
    .join('')
    .slice(1)

function shown(value: unknown): string {
  const text = JSON.stringify(value)
  return text.length > 60 ? `${text.slice(0, 57)}...` : text
}
