import { formatCidr, parseCidr } from '@coracle/api'
import type { ClusterOptions } from '@coracle/cluster'
import { CliError } from '../cli-error.ts'

export interface ServiceRangeFlags {
  /** As kube-apiserver's, for one range. */
  readonly serviceClusterIpRange?: string
}

/** A range with fewer bits left has no address for a second service. */
const hostBitsMin = 2

/** Where services of a new cluster get their addresses. Throws a CliError on what is no range, or has no room. */
export function serviceRangeOf({
  serviceClusterIpRange: text,
}: ServiceRangeFlags): Pick<ClusterOptions, 'serviceCidr'> {
  if (text === undefined) return {}
  const range = parseCidr(text)
  if (range === undefined) {
    throw new CliError(
      `--service-cluster-ip-range: ${JSON.stringify(text)} is no range of addresses such as 10.96.0.0/12`,
    )
  }
  if ((range.family === 4 ? 32 : 128) - range.prefixLength < hostBitsMin) {
    throw new CliError(`--service-cluster-ip-range: ${text} has no room for services: give one such as 10.96.0.0/12`)
  }
  return { serviceCidr: formatCidr(range) }
}
