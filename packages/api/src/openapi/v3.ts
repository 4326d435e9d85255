import type { JsonObject } from '../json.ts'
import type { ResourceDefinition } from '../resource.ts'
import { openApiDefinitions } from './definitions.ts'
import { answeredKinds, answerOf, discoveryPaths, type ServerPath, serverPathHead } from './discovery.ts'
import {
  answerTypesOf,
  bodyTypesOf,
  type DocumentParts,
  documentParts,
  exchangeOf,
  type OpenApiOptions,
  operationHead,
  pathParameters,
  queryParameters,
  successesOf,
  unlessEmpty,
} from './document.ts'
import { type Operation, rootOf } from './operations.ts'

/**
 * The OpenAPI 3.0 document of one group and version, as `/openapi/v3/apis/apps/v1` returns it. `definitions` are those
 * of all groups: operations may exchange kinds of others.
 */
export function openApiV3(
  definitions: readonly ResourceDefinition[],
  group: string,
  version: string,
  options: OpenApiOptions = {},
): JsonObject {
  const shown = definitions.filter((each) => each.group === group && each.version === version)
  const root = `${rootOf(group, version)}/`
  const discovery = discoveryPaths(shown).filter(({ path }) => path === root)
  const parts = documentParts(shown, definitions, 'v3', options, discovery)
  const paths = parts.paths.map(
    (path) =>
      [
        path.path,
        {
          ...Object.fromEntries(path.operations.map((each) => [each.method, operationV3(each, parts)])),
          ...unlessEmpty('parameters', pathParameters(path, 'v3')),
        },
      ] as const,
  )
  return documentV3(Object.fromEntries([...discovery.map(serverPathEntry), ...paths]), parts.definitions, options)
}

/**
 * The documents of paths that belong to no version of a group, by where they are below `/openapi/v3/`: `api`, `apis`, `apis/apps`, `version`.
 */
export function openApiV3OfGroups(
  definitions: readonly ResourceDefinition[],
  options: OpenApiOptions = {},
): ReadonlyMap<string, JsonObject> {
  const versions = new Set(definitions.map(({ group, version }) => `${rootOf(group, version)}/`))
  const paths = discoveryPaths(definitions).filter(({ path }) => !versions.has(path))
  return new Map(
    [...paths, ...(options.serverPaths ?? [])].map((each) => [
      each.path.slice(1, -1),
      documentV3(Object.fromEntries([serverPathEntry(each)]), openApiDefinitions(answeredKinds([each]), 'v3'), options),
    ]),
  )
}

const documentV3 = (
  paths: JsonObject,
  schemas: Readonly<Record<string, JsonObject>>,
  { serverVersion = 'unversioned' }: OpenApiOptions,
): JsonObject => ({
  openapi: '3.0.0',
  info: { title: 'Kubernetes', version: serverVersion },
  paths,
  components: {
    schemas,
    securitySchemes: {
      BearerToken: { type: 'apiKey', description: 'Bearer Token authentication', name: 'authorization', in: 'header' },
    },
  },
})

const serverPathEntry = (path: ServerPath): readonly [string, JsonObject] => {
  const content = contentOf(path.produces, answerOf(path, 'v3'))
  const responses = { '200': { description: 'OK', content }, '401': { description: 'Unauthorized' } }
  return [path.path, { get: { ...serverPathHead(path), responses } }]
}

function operationV3(operation: Operation, parts: DocumentParts): JsonObject {
  const { body, answer } = exchangeOf(operation, parts)
  const content = answer === undefined ? {} : { content: contentOf(answerTypesOf(operation), answer) }
  const answers = successesOf(operation).map(([code, description]) => [code, { description, ...content }])
  const required = operation.method === 'delete' ? {} : { required: true }
  return {
    ...operationHead(operation),
    ...unlessEmpty('parameters', queryParameters(operation, 'v3')),
    ...(body === undefined ? {} : { requestBody: { content: contentOf(bodyTypesOf(operation), body), ...required } }),
    responses: { ...Object.fromEntries(answers), '401': { description: 'Unauthorized' } },
  }
}

const contentOf = (types: readonly string[], schema: JsonObject): JsonObject =>
  Object.fromEntries(types.map((type) => [type, { schema }]))
