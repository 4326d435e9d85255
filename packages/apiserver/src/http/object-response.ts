import type { IncomingMessage, ServerResponse } from 'node:http'
import {
  ApiError,
  apiVersionOf,
  type KubernetesObject,
  partialObjectMetadata,
  partialObjectMetadataList,
  type ResourceDefinition,
  tableOf,
} from '@coracle/api'
import type { Page, Stored } from '../registry-contract.ts'
import { type ListWriter, listMetaOf } from './list-bytes.ts'
import { includeObjectOf, type Rendering } from './media-types.ts'
import { sendJson, sendJsonBytes, sendPrettyJson, sendYaml } from './respond.ts'

/** What the looks of an answer depend on. */
export interface Wanted {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly query: URLSearchParams
  readonly rendering: Rendering
}

/** Sends a stored object as it was asked for. Its own JSON goes out as it is kept: nothing is serialized. */
export function sendStored(
  wanted: Wanted,
  code: number,
  definition: ResourceDefinition,
  stored: Stored,
  nowMs: number,
  warnings: readonly string[] = [],
): void | Promise<void> {
  const { rendering, response } = wanted
  if (rendering.as === undefined && rendering.format === 'json' && !wantsPretty(wanted)) {
    return sendJsonBytes(response, code, stored.bytes, warnings)
  }
  return sendValue(wanted, code, objectAs(wanted, definition, stored.object, nowMs), warnings)
}

/** Sends a page of a list as it was asked for. `key` names the request, see ListWriter. */
export function sendPage(
  wanted: Wanted,
  definition: ResourceDefinition,
  page: Page,
  nowMs: number,
  lists: ListWriter,
  key: string,
): void | Promise<void> {
  const { rendering, response } = wanted
  if (rendering.as === undefined && rendering.format === 'json' && !wantsPretty(wanted)) {
    return lists.send(response, definition, page, key)
  }
  return sendValue(wanted, 200, pageAs(wanted, definition, page, nowMs))
}

/** Sends something made for this answer, in the format asked for. */
export function sendValue(
  wanted: Wanted,
  code: number,
  value: unknown,
  warnings: readonly string[] = [],
): void | Promise<void> {
  const { response, rendering } = wanted
  if (rendering.format === 'yaml') return sendYaml(response, code, value, warnings)
  if (wantsPretty(wanted)) return sendPrettyJson(response, code, value, warnings)
  return sendJson(response, code, value, warnings)
}

function objectAs(wanted: Wanted, definition: ResourceDefinition, object: KubernetesObject, nowMs: number): unknown {
  const { as, metaVersion } = wanted.rendering
  switch (as) {
    case undefined:
      return object
    case 'Table': {
      const includeObject = includeObjectOf(wanted.query.get('includeObject') ?? undefined)
      const listMeta = { resourceVersion: object.metadata.resourceVersion ?? '' }
      return inVersion(metaVersion, tableOf(definition, [object], { nowMs, includeObject, listMeta }))
    }
    case 'PartialObjectMetadata':
      return inVersion(metaVersion, partialObjectMetadata(object))
    case 'PartialObjectMetadataList':
      throw notA(
        `you requested PartialObjectMetadataList, but the requested object is not a list (*${goPackageOf(definition)}.${definition.kind})`,
      )
  }
}

function pageAs(wanted: Wanted, definition: ResourceDefinition, page: Page, nowMs: number): unknown {
  const { as, metaVersion } = wanted.rendering
  const listMeta = listMetaOf(page)
  const objects = page.items.map((item) => item.object)
  switch (as) {
    case undefined:
      return { kind: definition.listKind, apiVersion: apiVersionOf(definition), metadata: listMeta, items: objects }
    case 'Table': {
      const includeObject = includeObjectOf(wanted.query.get('includeObject') ?? undefined)
      return inVersion(metaVersion, tableOf(definition, objects, { nowMs, includeObject, listMeta }))
    }
    case 'PartialObjectMetadataList':
      return inVersion(metaVersion, partialObjectMetadataList(objects, listMeta))
    case 'PartialObjectMetadata':
      throw notA(
        `you requested PartialObjectMetadata, but the requested object is a list (*${goPackageOf(definition)}.${definition.listKind})`,
      )
  }
}

const inVersion = (version: string, value: { readonly apiVersion: string }) => ({
  ...value,
  apiVersion: `meta.k8s.io/${version}`,
})

/** Messages of upstream name an object by its Go type. */
const goPackageOf = ({ group }: ResourceDefinition): string => (group === '' ? 'core' : (group.split('.')[0] ?? ''))

const notA = (message: string): ApiError => new ApiError(406, 'NotAcceptable', message)

/** Whether a person reads the answer: they said so, or use a tool people use. */
function wantsPretty({ query, request }: Wanted): boolean {
  const said = query.get('pretty')
  if (said !== null && said !== '') return /^(1|t|true)$/i.test(said)
  const userAgent = request.headers['user-agent'] ?? ''
  return userAgent.startsWith('curl') || userAgent.startsWith('Wget') || userAgent.startsWith('Mozilla/5.0')
}
