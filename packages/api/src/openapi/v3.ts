import type { JsonObject } from '../json.ts'
import type { ResourceDefinition } from '../resource.ts'
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
import type { Operation } from './operations.ts'

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
  const parts = documentParts(shown, definitions, 'v3', options)
  return {
    openapi: '3.0.0',
    info: { title: 'Kubernetes', version: options.serverVersion ?? 'unversioned' },
    paths: Object.fromEntries(
      parts.paths.map((path) => [
        path.path,
        {
          ...Object.fromEntries(path.operations.map((each) => [each.method, operationV3(each, parts)])),
          ...unlessEmpty('parameters', pathParameters(path, 'v3')),
        },
      ]),
    ),
    components: {
      schemas: parts.definitions,
      securitySchemes: {
        BearerToken: {
          type: 'apiKey',
          description: 'Bearer Token authentication',
          name: 'authorization',
          in: 'header',
        },
      },
    },
  }
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
