/** What documents say of discovery: the paths that tell which groups, versions and resources there are. */
import { compareText } from '../compare-text.ts'
import { apiGroupListSchema, apiGroupSchema, apiResourceListSchema, apiVersionsSchema } from '../discovery/legacy.ts'
import type { JsonObject } from '../json.ts'
import type { ResourceDefinition } from '../resource.ts'
import type { AnyObjectSchema, KindSchema } from './definitions.ts'
import { operationGroup, rootOf, tagOf } from './operations.ts'

/** A GET that answers with a kind of `v1` that tells of the API. */
export interface DiscoveryPath {
  /** With a slash at its end, as upstream writes it. */
  readonly path: string
  readonly operationId: string
  readonly description: string
  readonly tag: string
  /** The definition of what it answers with. */
  readonly schema: AnyObjectSchema
}

const kindNames: ReadonlyMap<AnyObjectSchema, string> = new Map<AnyObjectSchema, string>([
  [apiGroupListSchema, 'APIGroupList'],
  [apiGroupSchema, 'APIGroup'],
  [apiResourceListSchema, 'APIResourceList'],
  [apiVersionsSchema, 'APIVersions'],
])

/** Media types of what they answer with. */
export const discoveryTypes = ['application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf'] as const

/** All paths of discovery. Those of groups that have only custom kinds are not told, as upstream. */
export function discoveryPaths(definitions: readonly ResourceDefinition[]): readonly DiscoveryPath[] {
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

const versionsPath: DiscoveryPath = {
  path: '/api/',
  operationId: 'getCoreAPIVersions',
  description: 'Tells the versions of the first group.',
  tag: 'core',
  schema: apiVersionsSchema,
}

const groupsPath: DiscoveryPath = {
  path: '/apis/',
  operationId: 'getAPIVersions',
  description: 'Tells the groups and their versions.',
  tag: 'apis',
  schema: apiGroupListSchema,
}

const groupPath = (group: string): DiscoveryPath => ({
  path: `/apis/${group}/`,
  operationId: `get${operationGroup(group, '')}APIGroup`,
  description: 'Tells the versions of a group.',
  tag: tagOf(group, '').slice(0, -1),
  schema: apiGroupSchema,
})

const resourcesPath = (root: string, group: string, version: string): DiscoveryPath => ({
  path: `${root}/`,
  operationId: `get${operationGroup(group, version)}APIResources`,
  description: 'Tells the resources of a version of a group.',
  tag: tagOf(group, version),
  schema: apiResourceListSchema,
})

/** What the paths answer with, and what that refers to, as kinds. */
export function discoveryKinds(paths: readonly DiscoveryPath[]): readonly KindSchema[] {
  const schemas = new Set(paths.map(({ schema }) => schema))
  if (schemas.has(apiGroupListSchema)) schemas.add(apiGroupSchema)
  return [...schemas].map((schema) => {
    const kind = kindNames.get(schema) ?? ''
    return { schema, kinds: [{ group: '', version: 'v1', kind }] }
  })
}

/** What both dialects say of such an operation in the same words. */
export const discoveryHead = ({ description, operationId, tag }: DiscoveryPath): JsonObject => ({
  description,
  operationId,
  tags: [tag],
})
