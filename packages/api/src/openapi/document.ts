/** What the two dialects of OpenAPI have in common: operations and the definitions they refer to. */
import type { JsonObject } from '../json.ts'
import type { ResourceDefinition } from '../resource.ts'
import {
  type GroupVersionKind,
  type KindSchema,
  type OpenApiVersion,
  openApiDefinitions,
  openApiReference,
} from './definitions.ts'
import { answeredKinds, type ServerPath } from './discovery.ts'
import {
  commonDefinitions,
  exchangedKinds,
  groupVersionsOf,
  inEveryGroup,
  listDefinitionName,
  patchBody,
  resourceKinds,
} from './kinds.ts'
import { type Action, type Operation, type Path, pathsOf } from './operations.ts'
import { actionParameters, prettyParameter, writeParameter } from './parameters.ts'

export interface OpenApiOptions {
  /** The version of the API server, as `/version` says it. */
  readonly serverVersion?: string
  /**
   * Further kinds that subresources exchange, beside the resources' own, Scale and Binding. Operations on kinds that
   * nobody describes come without a schema.
   */
  readonly kinds?: readonly KindSchema[]
  /** Paths that the server has beside those of resources and discovery. */
  readonly serverPaths?: readonly ServerPath[]
}

const json = 'application/json'
const yaml = 'application/yaml'
const protobuf = 'application/vnd.kubernetes.protobuf'
const anyType = '*/*'
const strategic = 'application/strategic-merge-patch+json'
const patchTypes = [
  'application/json-patch+json',
  'application/merge-patch+json',
  strategic,
  'application/apply-patch+yaml',
]

/** What bodies of an operation are taken in. Strategic patches need Go types, and kubectl sends them where they are named here. */
export function bodyTypesOf({ action, custom }: Operation): readonly string[] {
  if (action === 'patch') return custom ? patchTypes.filter((type) => type !== strategic) : patchTypes
  return custom && action !== 'connect' ? [json, yaml] : [anyType]
}

/** What answers of an operation come in, those of a watch with those of a list. */
export function answerTypesOf({ action, custom, protobuf: hasProtobuf, plainText }: Operation): readonly string[] {
  if (action === 'connect') return [anyType]
  const types = [...(plainText ? ['text/plain'] : []), json, yaml, ...(hasProtobuf ? [protobuf] : [])]
  if (custom || !streamingActions.has(action)) return types
  return [...types, `${json};stream=watch`, ...(hasProtobuf ? [`${protobuf};stream=watch`] : [])]
}

const streamingActions: ReadonlySet<Action> = new Set(['list', 'watch', 'watchlist'])

/** The parts of a document, written for one dialect. */
export interface DocumentParts {
  readonly paths: readonly Path[]
  readonly definitions: Readonly<Record<string, JsonObject>>
  /** A reference to the definition of a kind, undefined where there is none. */
  schemaOf(kind: GroupVersionKind, list: boolean): JsonObject | undefined
  /** A reference to a definition of this name, undefined where there is none. */
  reference(name: string): JsonObject | undefined
}

/** `shown` get paths; what their kinds are is looked up among `all`. */
export function documentParts(
  shown: readonly ResourceDefinition[],
  all: readonly ResourceDefinition[],
  version: OpenApiVersion,
  options: OpenApiOptions,
  serverPaths: readonly ServerPath[],
): DocumentParts {
  const paths = shown.flatMap(pathsOf)
  const wanted = exchangedBy(paths)
  const isWanted = ({ schema, kinds }: KindSchema): boolean =>
    commonNames.has(schema.name) || kinds.some((kind) => wanted.has(keyOf(kind)))
  const roots: KindSchema[] = [
    ...resourceKinds(shown),
    ...resourceKinds(all.filter((each) => !shown.includes(each) && wanted.has(keyOf(each)))),
    ...[...exchangedKinds, ...(options.kinds ?? [])].filter(isWanted).map((each) => withGroups(each, all)),
    { schema: patchBody, kinds: [] },
    ...answeredKinds(serverPaths),
  ]
  const names = new Map(roots.flatMap(({ schema, kinds }) => kinds.map((kind) => [keyOf(kind), schema.name] as const)))
  const definitions = openApiDefinitions(roots, version)
  const reference = (name: string): JsonObject | undefined =>
    Object.hasOwn(definitions, name) ? openApiReference(name, version) : undefined
  const schemaOf = (kind: GroupVersionKind, list: boolean): JsonObject | undefined => {
    const resource = all.find((each) => keyOf(each) === keyOf(kind))
    const name = resource?.schema.name ?? names.get(keyOf(kind))
    if (name === undefined) return undefined
    return reference(list && resource !== undefined ? listDefinitionName(name, kind.kind, resource.listKind) : name)
  }
  return { paths, definitions, schemaOf, reference }
}

/**
 * What the document of one group and version is made of. Where that is the same the document is, whatever else is served: it need
 * not be made again.
 */
export function documentSources(
  all: readonly ResourceDefinition[],
  group: string,
  version: string,
): readonly (ResourceDefinition | string)[] {
  const shown = all.filter((each) => each.group === group && each.version === version)
  const wanted = exchangedBy(shown.flatMap(pathsOf))
  return [...all.filter((each) => shown.includes(each) || wanted.has(keyOf(each))), ...groupVersionsOf(all)]
}

/** The kinds that operations exchange. */
function exchangedBy(paths: readonly Path[]): ReadonlySet<string> {
  return new Set(paths.flatMap((path) => path.operations.map((operation) => keyOf(operation.kind))))
}

const keyOf = ({ group, version, kind }: GroupVersionKind): string => `${group}/${version}/${kind}`

/** What every API exchanges, whatever its resources are. */
const commonNames: ReadonlySet<string> = new Set([
  commonDefinitions.status,
  commonDefinitions.deleteOptions,
  commonDefinitions.watchEvent,
])

/** DeleteOptions and WatchEvent belong to every group and version that is built in. */
function withGroups(each: KindSchema, all: readonly ResourceDefinition[]): KindSchema {
  if (each.schema.name === commonDefinitions.deleteOptions)
    return { ...each, kinds: inEveryGroup('DeleteOptions', all) }
  if (each.schema.name === commonDefinitions.watchEvent) return { ...each, kinds: inEveryGroup('WatchEvent', all) }
  return each
}

/** What an operation takes as its body and gives back on success. */
export function exchangeOf(
  operation: Operation,
  parts: DocumentParts,
): { readonly body?: JsonObject | undefined; readonly answer?: JsonObject | undefined } {
  const object = operation.plainText ? { type: 'string' } : parts.schemaOf(operation.kind, operation.list)
  const status = parts.reference(commonDefinitions.status)
  switch (operation.action) {
    case 'get':
    case 'list':
      return { answer: object }
    case 'watch':
    case 'watchlist':
      return { answer: parts.reference(commonDefinitions.watchEvent) }
    case 'post':
    case 'put':
      return { body: object, answer: object }
    case 'patch':
      return { body: parts.reference(commonDefinitions.patch), answer: object }
    case 'delete':
    case 'deletecollection':
      return { body: parts.reference(commonDefinitions.deleteOptions), answer: status }
    case 'connect':
      return { answer: { type: 'string' } }
  }
}

/** The codes of success an operation answers with. */
export function successesOf({ action }: Operation): readonly (readonly [code: string, description: string])[] {
  const ok = ['200', 'OK'] as const
  const created = ['201', 'Created'] as const
  const accepted = ['202', 'Accepted'] as const
  if (action === 'post') return [ok, created, accepted]
  if (action === 'put' || action === 'patch') return [ok, created]
  return action === 'delete' ? [ok, accepted] : [ok]
}

/** What both dialects say of an operation in the same words. */
export function operationHead(operation: Operation): JsonObject {
  return {
    'x-kubernetes-action': operation.action,
    'x-kubernetes-group-version-kind': operation.kind,
    description: operation.description,
    operationId: operation.operationId,
    tags: [operation.tag],
  }
}

export const queryParameters = (operation: Operation, version: OpenApiVersion): readonly JsonObject[] =>
  actionParameters[operation.action].map((each) => writeParameter(each, version))

export function pathParameters({ parameters, operations }: Path, version: OpenApiVersion): readonly JsonObject[] {
  const isConnection = operations.every(({ action }) => action === 'connect')
  return [...parameters, ...(isConnection ? [] : [prettyParameter])].map((each) => writeParameter(each, version))
}

/** A list that is left out where it is empty: readers in Go take that for the same, and do not give it back. */
export const unlessEmpty = (name: string, values: readonly JsonObject[]): JsonObject =>
  values.length === 0 ? {} : { [name]: values }
