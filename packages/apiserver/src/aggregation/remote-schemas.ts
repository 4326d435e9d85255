import type { IncomingMessage } from 'node:http'
import { remoteJson } from './remote-answer.ts'

/** Where a server tells of the schemas of what it serves. */
export const schemasIndexPath = '/openapi/v3'

/**
 * Reads from a server's index of OpenAPI documents where the one of a version of a group is, with the hash of what is in it; undefined where
 * there is none.
 */
export async function remoteSchemas(
  answer: IncomingMessage,
  group: string,
  version: string,
): Promise<string | undefined> {
  const { paths } = (await remoteJson(answer)) as {
    readonly paths?: Readonly<Record<string, { readonly serverRelativeURL?: unknown } | undefined>>
  }
  const path = `apis/${group}/${version}`
  const url = paths?.[path]?.serverRelativeURL
  return typeof url === 'string' && url.startsWith(`${schemasIndexPath}/${path}`) ? url : undefined
}
