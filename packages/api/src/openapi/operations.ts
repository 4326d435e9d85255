/** The operations of the API as data, before they are written in one dialect of OpenAPI. */
import { protobufMessages } from '../kinds/protobuf-messages.ts'
import type { ResourceDefinition, SubresourceDefinition, Verb } from '../resource.ts'
import type { GroupVersionKind } from './definitions.ts'
import {
  actionParameters,
  nameParameter,
  namespaceParameter,
  optionParameters,
  type Parameter,
  proxiedPathParameter,
} from './parameters.ts'

export type Method = 'get' | 'post' | 'put' | 'patch' | 'delete' | 'head' | 'options'
export type Action = keyof typeof actionParameters

export interface Operation {
  readonly method: Method
  readonly action: Action
  readonly operationId: string
  readonly description: string
  /** Such as `core_v1`. */
  readonly tag: string
  /** What is exchanged. */
  readonly kind: GroupVersionKind
  /** A list of it is returned. */
  readonly list: boolean
  /** It is about a kind that no Go type stands for. */
  readonly custom: boolean
  /** Answers may be in protobuf. */
  readonly protobuf: boolean
  /** The answer is text, and not of the kind. */
  readonly plainText: boolean
}

export interface Path {
  readonly path: string
  readonly parameters: readonly Parameter[]
  readonly operations: readonly Operation[]
}

/** `/api/v1`, `/apis/apps/v1`. */
export function rootOf(group: string, version: string): string {
  return group === '' ? `/api/${version}` : `/apis/${group}/${version}`
}

/** All paths of a resource, with its subresources. */
export function pathsOf(definition: ResourceDefinition): readonly Path[] {
  const { namespaced, plural, kind } = definition
  const root = rootOf(definition.group, definition.version)
  const collection = namespaced ? `${root}/namespaces/{namespace}/${plural}` : `${root}/${plural}`
  const outer = namespaced ? [namespaceParameter] : []
  const inner = [nameParameter(kind), ...outer]
  const paths: Path[] = [
    { path: collection, parameters: outer, operations: collectionOperations(definition) },
    { path: `${collection}/{name}`, parameters: inner, operations: objectOperations(definition) },
    ...subresources(definition).map((subresource) => ({
      path: `${collection}/{name}/${subresource.name}`,
      parameters: [...inner, ...optionParameters(subresource.name === 'log' ? 'PodLogOptions' : subresource.kind.kind)],
      operations: subresourceOperations(definition, subresource),
    })),
    ...proxiedPaths(definition, `${collection}/{name}`, inner),
  ]
  if (namespaced && definition.verbs.includes('list')) {
    paths.push({ path: `${root}/${plural}`, parameters: [], operations: [listEverywhere(definition)] })
  }
  return [...paths, ...watchPaths(definition)].filter((each) => each.operations.length > 0)
}

/**
 * The paths of watches in their first form, which clients made from upstream's documents use: `/api/v1/watch/namespaces/{namespace}/pods`.
 * Custom resources are watched there, too, and as upstream the documents do not say so.
 */
function watchPaths(definition: ResourceDefinition): readonly Path[] {
  const { group, version, namespaced, plural, kind, verbs } = definition
  if (!verbs.includes('watch') || isCustom(definition)) return []
  const root = `${rootOf(group, version)}/watch`
  const collection = namespaced ? `${root}/namespaces/{namespace}/${plural}` : `${root}/${plural}`
  const scope = namespaced ? 'Namespaced' : ''
  const outer = [...(namespaced ? [namespaceParameter] : []), ...actionParameters.list]
  const operationOf = (action: 'watch' | 'watchlist', object: string, what: string): readonly Operation[] => [
    {
      ...operation(definition, 'watch', `Watches ${what}. Deprecated: a list with the parameter watch does the same.`),
      action,
      operationId: `watch${operationGroup(group, version)}${object}`,
    },
  ]
  const objects = `objects of kind ${kind}`
  const paths: Path[] = [
    { path: collection, parameters: outer, operations: operationOf('watchlist', `${scope}${kind}List`, objects) },
    {
      path: `${collection}/{name}`,
      parameters: [nameParameter(kind), ...outer],
      operations: operationOf('watch', `${scope}${kind}`, `a ${kind}`),
    },
  ]
  if (!namespaced) return paths
  const everywhere = operationOf('watchlist', `${kind}ListForAllNamespaces`, `${objects} in all namespaces`)
  return [...paths, { path: `${root}/${plural}`, parameters: actionParameters.list, operations: everywhere }]
}

/** Group and version in names of operations: `CoreV1`, `RbacAuthorizationV1`. */
export function operationGroup(group: string, version: string): string {
  const parts = group === '' ? ['core'] : group.replace(/\.k8s\.io$/, '').split('.')
  return [...parts, version].map(capitalized).join('')
}

/** `core_v1`, `rbacAuthorization_v1`. */
export function tagOf(group: string, version: string): string {
  const [first = 'core', ...rest] = group === '' ? [] : group.replace(/\.k8s\.io$/, '').split('.')
  return `${first}${rest.map(capitalized).join('')}_${version}`
}

const capitalized = (word: string): string => `${word.charAt(0).toUpperCase()}${word.slice(1)}`

const verbMethods: Readonly<Record<Verb, { readonly method: Method; readonly action: Action; readonly word: string }>> =
  {
    get: { method: 'get', action: 'get', word: 'read' },
    list: { method: 'get', action: 'list', word: 'list' },
    watch: { method: 'get', action: 'list', word: 'list' },
    create: { method: 'post', action: 'post', word: 'create' },
    update: { method: 'put', action: 'put', word: 'replace' },
    patch: { method: 'patch', action: 'patch', word: 'patch' },
    delete: { method: 'delete', action: 'delete', word: 'delete' },
    deletecollection: { method: 'delete', action: 'deletecollection', word: 'delete' },
  }

function operation(
  definition: ResourceDefinition,
  verb: Verb,
  description: string,
  options: { readonly suffix?: string; readonly kind?: GroupVersionKind } = {},
): Operation {
  const { method, action, word } = verbMethods[verb]
  const { group, version } = definition
  const many = verb === 'deletecollection' ? 'Collection' : ''
  const scope = definition.namespaced ? 'Namespaced' : ''
  const id = `${word}${operationGroup(group, version)}${many}${scope}${definition.kind}${options.suffix ?? ''}`
  const kind = options.kind ?? { group, version, kind: definition.kind }
  const custom = isCustom(definition)
  return {
    method,
    action,
    operationId: id,
    description,
    tag: tagOf(group, version),
    kind,
    list: verb === 'list',
    custom,
    protobuf: !custom && hasMessage(definition.schema.name),
    plainText: false,
  }
}

const isCustom = ({ schema }: ResourceDefinition): boolean => schema.dialect === 'structural'

/** Whether there is a message of protobuf for a definition such as `io.k8s.api.core.v1.Pod`. */
function hasMessage(definition: string): boolean {
  const end = definition.lastIndexOf('.')
  return protobufMessages[definition.slice(0, end)]?.includes(`\n${definition.slice(end + 1)}:`) === true
}

function collectionOperations(definition: ResourceDefinition): readonly Operation[] {
  const { kind, verbs } = definition
  const described: readonly (readonly [Verb, string])[] = [
    ['list', `Lists or watches objects of kind ${kind}.`],
    ['create', `Creates a ${kind}.`],
    ['deletecollection', `Deletes all selected objects of kind ${kind}.`],
  ]
  return described.filter(([verb]) => verbs.includes(verb)).map(([verb, text]) => operation(definition, verb, text))
}

function objectOperations(definition: ResourceDefinition): readonly Operation[] {
  const { kind, verbs } = definition
  const described: readonly (readonly [Verb, string])[] = [
    ['get', `Reads a ${kind}.`],
    ['update', `Replaces a ${kind}.`],
    ['patch', `Changes parts of a ${kind}.`],
    ['delete', `Deletes a ${kind}.`],
  ]
  return described.filter(([verb]) => verbs.includes(verb)).map(([verb, text]) => operation(definition, verb, text))
}

function listEverywhere(definition: ResourceDefinition): Operation {
  const { group, version, kind } = definition
  return {
    ...operation(definition, 'list', `Lists or watches objects of kind ${kind} in all namespaces.`),
    operationId: `list${operationGroup(group, version)}${kind}ForAllNamespaces`,
  }
}

interface Subresource {
  readonly name: string
  readonly kind: GroupVersionKind
  readonly verbs: readonly Verb[]
  readonly connects?: boolean
}

function subresources(definition: ResourceDefinition): readonly Subresource[] {
  const { group, version, kind } = definition
  const common: readonly Verb[] = ['get', 'update', 'patch']
  const found = new Map<string, Subresource>()
  if (definition.hasStatus) found.set('status', { name: 'status', kind: { group, version, kind }, verbs: common })
  if (definition.scale !== undefined) {
    found.set('scale', { name: 'scale', kind: { group: 'autoscaling', version: 'v1', kind: 'Scale' }, verbs: common })
  }
  for (const [name, { verbs, connects = false, proxies, ...exchanged }] of Object.entries(definition.subresources)) {
    if (proxies) continue
    found.set(name, { name, kind: exchanged, verbs, connects })
  }
  return [...found.values()]
}

function subresourceOperations(
  definition: ResourceDefinition,
  { name, kind: { group, version, kind }, verbs, connects }: Subresource,
): readonly Operation[] {
  const methods = new Set<Method>()
  return verbs.flatMap((verb) => {
    const { method, word } = verbMethods[verb]
    if (methods.has(method)) return []
    methods.add(method)
    const text = connects
      ? `Connects to ${name} of a ${definition.kind}.`
      : `${capitalized(word)}s ${name} of a ${definition.kind}.`
    const made = operation(definition, verb, text, { suffix: capitalized(name), kind: { group, version, kind } })
    if (connects !== true) return [{ ...made, plainText: name === 'log' }]
    // As upstream calls them: connectCoreV1GetNamespacedPodExec.
    const named = operationGroup(definition.group, definition.version)
    const operationId = made.operationId.replace(`${word}${named}`, `connect${named}${capitalized(method)}`)
    return [{ ...made, action: 'connect' as const, operationId }]
  })
}

/** Methods of requests that go on to another server. */
const proxiedMethods: readonly Method[] = ['delete', 'get', 'head', 'options', 'patch', 'post', 'put']

/** Each subresource that sends requests on has two paths: itself, and whatever is below. */
function proxiedPaths(
  definition: ResourceDefinition,
  object: string,
  parameters: readonly Parameter[],
): readonly Path[] {
  const proxied = Object.entries(definition.subresources).filter(([, { proxies }]) => proxies)
  return proxied.flatMap(([name, options]) => [
    {
      path: `${object}/${name}`,
      parameters: [...parameters, ...optionParameters(options.kind)],
      operations: proxiedOperations(definition, name, options, ''),
    },
    {
      path: `${object}/${name}/{path}`,
      parameters: [...parameters, proxiedPathParameter, ...optionParameters(options.kind)],
      operations: proxiedOperations(definition, name, options, 'WithPath'),
    },
  ])
}

/** As upstream calls them: connectCoreV1GetNamespacedPodProxyWithPath. */
function proxiedOperations(
  definition: ResourceDefinition,
  name: string,
  { group, version, kind }: SubresourceDefinition,
  suffix: string,
): readonly Operation[] {
  const named = operationGroup(definition.group, definition.version)
  const object = `${definition.namespaced ? 'Namespaced' : ''}${definition.kind}${capitalized(name)}${suffix}`
  return proxiedMethods.map((method) => ({
    method,
    action: 'connect',
    operationId: `connect${named}${capitalized(method)}${object}`,
    description: `Sends ${method.toUpperCase()} requests on to a ${definition.kind}.`,
    tag: tagOf(definition.group, definition.version),
    kind: { group, version, kind },
    list: false,
    custom: false,
    protobuf: false,
    plainText: false,
  }))
}
