import type { IncomingMessage } from 'node:http'
import { clausesOf } from '../http/media-types.ts'
import { remoteJson } from './remote-answer.ts'
import { aggregatedResources, type RemoteVersionResources } from './remote-resources.ts'

/** Where a server tells of all its groups at once (KEP-3352). */
export const discoveryPath = '/apis'

const aggregatedType = (version: string) =>
  `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`

/** What a server is asked for that may know aggregated discovery, the newest form of it first. */
export const acceptAggregated = [aggregatedType('v2'), aggregatedType('v2beta1'), 'application/json'].join(',')

/** All that a server serves, as it last told it. */
export interface RemoteDocument {
  readonly resources: RemoteVersionResources
  /** What it is called there; undefined where it has no name: then it is read anew each time. */
  readonly etag: string | undefined
}

/**
 * Reads what a server serves, if that is something else than what is known. Undefined where it knows no aggregated discovery. Rejects where
 * it has none to give now, or gives what cannot be read.
 */
export async function remoteDocument(
  answer: IncomingMessage,
  known: RemoteDocument | undefined,
): Promise<RemoteDocument | undefined> {
  const { statusCode, headers } = answer
  if (statusCode === 304 && known !== undefined) {
    answer.resume()
    return known
  }
  const isAggregated = statusCode === 200 && isAggregatedType(headers['content-type'] ?? '')
  if (!isAggregated && statusCode !== 503) {
    answer.resume()
    return undefined
  }
  const resources = await aggregatedResources(await remoteJson(answer))
  return { resources, etag: headers.etag }
}

function isAggregatedType(contentType: string): boolean {
  const [clause] = clausesOf(contentType)
  const { parameters } = clause ?? {}
  return (
    clause?.type === 'application/json' &&
    parameters?.get('g') === 'apidiscovery.k8s.io' &&
    ['v2', 'v2beta1'].includes(parameters.get('v') ?? '') &&
    parameters.get('as') === 'APIGroupDiscoveryList'
  )
}
