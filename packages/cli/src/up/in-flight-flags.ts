import type { ClusterOptions } from '@coracle/cluster'
import { CliError } from '../cli-error.ts'

/** What the flags are where they are not given. */
export const inFlightDefaults = { maxRequestsInflight: 400, maxMutatingRequestsInflight: 200 } as const

/** kube-apiserver's flags of the same names. */
export interface InFlightFlags {
  readonly maxRequestsInflight?: number
  readonly maxMutatingRequestsInflight?: number
}

/**
 * How many requests are answered at a time: the sum of the two flags, as upstream where flow control is on, which divides it among its
 * priority levels whatever the requests do. Throws a CliError where that would be none.
 */
export function inFlightOf({
  maxRequestsInflight,
  maxMutatingRequestsInflight,
}: InFlightFlags): Pick<ClusterOptions, 'requestsInFlightMax'> {
  if (maxRequestsInflight === undefined && maxMutatingRequestsInflight === undefined) return {}
  const requestsInFlightMax =
    (maxRequestsInflight ?? inFlightDefaults.maxRequestsInflight) +
    (maxMutatingRequestsInflight ?? inFlightDefaults.maxMutatingRequestsInflight)
  if (requestsInFlightMax === 0) {
    throw new CliError(
      '--max-requests-inflight and --max-mutating-requests-inflight are both 0: together they must be above zero',
    )
  }
  return { requestsInFlightMax }
}
