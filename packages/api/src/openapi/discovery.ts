/** What documents say of discovery: the paths that tell which groups, versions and resources there are. */
import { compareText } from '../compare-text.ts'
import { apiGroupListSchema, apiGroupSchema, apiResourceListSchema, apiVersionsSchema } from '../discovery/legacy.ts'
import type { JsonObject } from '../json.ts'
import type { ResourceDefinition } from '../resource.ts'
import { type AnyObjectSchema, type KindSchema, type OpenApiVersion, openApiReference } from './definitions.ts'
import { operationGroup, rootOf, tagOf } from './operations.ts'

/** A GET of something that the server tells of itself, such as a kind of `v1` that tells of the API. */
export interface ServerPath {
  /** With a slash at its end, as upstream writes it. */
  readonly path: string
  readonly operationId: string
  readonly description: string
  readonly tag: string
  /** The definition of what it answers with; absent where that is a text. */
  readonly schema?: AnyObjectSchema
  /** Media types of the answer. */
  readonly produces: readonly string[]
  /** Media types that a request is said to have. */
  readonly consumes?: readonly string[]
}

const kindNames: ReadonlyMap<AnyObjectSchema, string> = new Map<AnyObjectSchema, string>([
  [apiGroupListSchema, 'APIGroupList'],
  [apiGroupSchema, 'APIGroup'],
  [apiResourceListSchema, 'APIResourceList'],
  [apiVersionsSchema, 'APIVersions'],
])

/** Media types of what discovery answers with. */
const discoveryTypes = ['application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf'] as const

/** All paths of discovery. Those of groups that have only custom kinds are not told, as upstream. */
export function discoveryPaths(definitions: readonly ResourceDefinition[]): readonly ServerPath[] {
  const builtIn = definitions.filter(({ schema }) => schema.dialect !== 'structural')
  const groups = new Set(builtIn.map(({ group }) => group))
  const versions = new Map(builtIn.map(({ group, version }) => [rootOf(group, version), { group, version }]))
  const paths = [
    ...(groups.has('') ? [versionsPath] : []),
    groupsPath,
    ...[...groups].filter((group) => group !== '').map(groupPath),
    ...[...versions].map(([root, { group, version }]) => resourcesPath(root, group, version)),
  ]
  return paths.toSorted((a, b) => compareText(a.path, b.path))
}

const exchanges = { produces: discoveryTypes, consumes: discoveryTypes }

const versionsPath: ServerPath = {
  path: '/api/',
  operationId: 'getCoreAPIVersions',
  description: 'Tells the versions of the first group.',
  tag: 'core',
  schema: apiVersionsSchema,
  ...exchanges,
}

const groupsPath: ServerPath = {
  path: '/apis/',
  operationId: 'getAPIVersions',
  description: 'Tells the groups and their versions.',
  tag: 'apis',
  schema: apiGroupListSchema,
  ...exchanges,
}

const groupPath = (group: string): ServerPath => ({
  path: `/apis/${group}/`,
  operationId: `get${operationGroup(group, '')}APIGroup`,
  description: 'Tells the versions of a group.',
  tag: tagOf(group, '').slice(0, -1),
  schema: apiGroupSchema,
  ...exchanges,
})

const resourcesPath = (root: string, group: string, version: string): ServerPath => ({
  path: `${root}/`,
  operationId: `get${operationGroup(group, version)}APIResources`,
  description: 'Tells the resources of a version of a group.',
  tag: tagOf(group, version),
  schema: apiResourceListSchema,
  ...exchanges,
})

/** What the paths answer with, and what that refers to, as kinds. */
export function answeredKinds(paths: readonly ServerPath[]): readonly KindSchema[] {
  const schemas = new Set(paths.flatMap(({ schema }) => (schema === undefined ? [] : [schema])))
  if (schemas.has(apiGroupListSchema)) schemas.add(apiGroupSchema)
  return [...schemas].map((schema) => {
    const kind = kindNames.get(schema)
    return { schema, kinds: kind === undefined ? [] : [{ group: '', version: 'v1', kind }] }
  })
}

/** What both dialects say of such an operation in the same words. */
export const serverPathHead = ({ description, operationId, tag }: ServerPath): JsonObject => ({
  description,
  operationId,
  tags: [tag],
})

/** The schema of the answer. */
export const answerOf = ({ schema }: ServerPath, version: OpenApiVersion): JsonObject =>
  schema === undefined ? { type: 'string' } : openApiReference(schema.name, version)
