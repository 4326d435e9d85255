import type { JsonObject } from '../json.ts'
import type { ResourceDefinition } from '../resource.ts'
import { answerOf, discoveryPaths, type ServerPath, serverPathHead } from './discovery.ts'
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

/** The Swagger 2.0 document of all resources, as `/openapi/v2` returns it in JSON. */
export function openApiV2(definitions: readonly ResourceDefinition[], options: OpenApiOptions = {}): JsonObject {
  const serverPaths = [...discoveryPaths(definitions), ...(options.serverPaths ?? [])]
  const parts = documentParts(definitions, definitions, 'v2', options, serverPaths)
  return {
    swagger: '2.0',
    info: { title: 'Kubernetes', version: options.serverVersion ?? 'unversioned' },
    paths: Object.fromEntries([
      ...serverPaths.map((each) => [each.path, { get: serverPathV2(each) }] as const),
      ...parts.paths.map(
        (path) =>
          [
            path.path,
            {
              ...Object.fromEntries(path.operations.map((each) => [each.method, operationV2(each, parts)])),
              ...unlessEmpty('parameters', pathParameters(path, 'v2')),
            },
          ] as const,
      ),
    ]),
    definitions: parts.definitions,
    securityDefinitions: {
      BearerToken: { description: 'Bearer Token authentication', in: 'header', name: 'authorization', type: 'apiKey' },
    },
    security: [{ BearerToken: [] }],
  }
}

const serverPathV2 = (path: ServerPath): JsonObject => ({
  ...serverPathHead(path),
  ...(path.consumes === undefined ? {} : { consumes: path.consumes }),
  produces: path.produces,
  schemes: ['https'],
  responses: {
    '200': { description: 'OK', schema: answerOf(path, 'v2') },
    '401': { description: 'Unauthorized' },
  },
})

function operationV2(operation: Operation, parts: DocumentParts): JsonObject {
  const { body, answer } = exchangeOf(operation, parts)
  const required = operation.method === 'delete' ? {} : { required: true }
  const bodies = body === undefined ? [] : [{ name: 'body', in: 'body', ...required, schema: body }]
  const schema = answer === undefined ? {} : { schema: answer }
  const answers = successesOf(operation).map(([code, description]) => [code, { description, ...schema }])
  return {
    ...operationHead(operation),
    consumes: bodyTypesOf(operation),
    produces: answerTypesOf(operation),
    schemes: ['https'],
    ...unlessEmpty('parameters', [...bodies, ...queryParameters(operation, 'v2')]),
    responses: { ...Object.fromEntries(answers), '401': { description: 'Unauthorized' } },
  }
}
