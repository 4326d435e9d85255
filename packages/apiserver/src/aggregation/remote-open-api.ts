import type { IncomingMessage } from 'node:http'
import type { OpenApiParts } from './merged-open-api.ts'
import { remoteJson } from './remote-answer.ts'

/** Where a server describes all that it serves in one document. */
export const openApiPath = '/openapi/v2'

/** What all other servers together may say of themselves, as text; of those that say more nothing is shown. */
export const remoteOpenApiBytesMax = 32 * 1024 * 1024

/** What a server says of a version of a group. */
export interface RemoteOpenApi {
  readonly parts: OpenApiParts
  /** What it is called there; undefined where it has no name: then it is read anew each time. */
  readonly etag: string | undefined
  /** Of the parts, as text. */
  readonly text: string
}

/**
 * Reads what a server says of a version of a group, if that is something else than what is known. Undefined where it says nothing.
 * Rejects where it cannot be read, or cannot be written for clients that want protobuf.
 */
export async function remoteOpenApi(
  answer: IncomingMessage,
  group: string,
  version: string,
  known: RemoteOpenApi | undefined,
): Promise<RemoteOpenApi | undefined> {
  if (answer.statusCode === 304 || answer.statusCode === 404) {
    answer.resume()
    return answer.statusCode === 304 ? known : undefined
  }
  const { openApiBelow } = await import('./merged-open-api.ts')
  const parts = openApiBelow(await remoteJson(answer), `/apis/${group}/${version}/`)
  if (parts === undefined || Object.keys(parts.paths).length === 0) return undefined
  const text = JSON.stringify(parts)
  if (text === known?.text) return known
  const { encodeOpenApiV2 } = await import('../http/openapi-protobuf.ts')
  encodeOpenApiV2({ swagger: '2.0', info: { title: '', version: '' }, ...parts })
  return { parts, text, etag: answer.headers.etag }
}
