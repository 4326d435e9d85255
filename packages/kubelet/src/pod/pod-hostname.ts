import type { Pod } from '@coracle/api'

/** Longest name of a host within a domain (RFC 1123), and longest that Linux takes for a host. */
const labelMax = 63
const nodeNameMax = 64

/** The domain of a cluster's names that is called nothing else. */
export const clusterDomain = 'cluster.local'

/**
 * What a pod's processes are told the name of their host is, as upstream's kubelet has it: what `hostnameOverride` says, or `hostname`, or the
 * pod's name, cut to what a host may be called; with its domain where the pod wants that (`setHostnameAsFQDN`). Throws a RangeError where
 * that is too long.
 */
export function podHostname({ metadata, spec }: Pod, domain = clusterDomain): string {
  if (spec.hostnameOverride !== undefined) return cut(spec.hostnameOverride)
  const { hostname = metadata.name ?? '', subdomain = '', setHostnameAsFQDN } = spec
  const short = cut(hostname)
  if (setHostnameAsFQDN !== true || subdomain === '') return short
  const full = `${short}.${subdomain}.${metadata.namespace ?? ''}.svc.${domain}`
  if (full.length <= nodeNameMax) return full
  throw new RangeError(
    `Failed to construct FQDN from pod hostname and cluster domain, FQDN ${full} is too long ` +
      `(${nodeNameMax} characters is the max, ${full.length} characters requested)`,
  )
}

const cut = (hostname: string): string =>
  hostname.length <= labelMax ? hostname : hostname.slice(0, labelMax).replace(/[-.]+$/, '')
