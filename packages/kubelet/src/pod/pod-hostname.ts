import type { Pod } from '@coracle/api'

/** Longest name of a host within a domain (RFC 1123), and longest that Linux takes for a host. */
const labelMax = 63
const nodeNameMax = 64

/** The domain of a cluster's names that is called nothing else. */
export const clusterDomain = 'cluster.local'

/**
 * What the host of a pod is called, as upstream's kubelet has it: what `hostnameOverride` says, or `hostname`, or the pod's name, cut to what a host may be
 * called; and the domain of its subdomain, which one that is overridden has not.
 */
export function hostAndDomain(
  { metadata, spec }: Pod,
  clusterDomain: string,
): { readonly host: string; readonly domain?: string } {
  if (spec.hostnameOverride !== undefined) return { host: cut(spec.hostnameOverride) }
  const { hostname = metadata.name ?? '', subdomain = '' } = spec
  const host = cut(hostname)
  return subdomain === '' ? { host } : { host, domain: `${subdomain}.${metadata.namespace ?? ''}.svc.${clusterDomain}` }
}

/**
 * What a pod's processes are told the name of their host is: that, with its domain where the pod wants it (`setHostnameAsFQDN`). Throws a RangeError where
 * that is too long.
 */
export function podHostname(pod: Pod, inDomain = clusterDomain): string {
  const { host, domain } = hostAndDomain(pod, inDomain)
  if (pod.spec.setHostnameAsFQDN !== true || domain === undefined) return host
  const full = `${host}.${domain}`
  if (full.length <= nodeNameMax) return full
  throw new RangeError(
    `Failed to construct FQDN from pod hostname and cluster domain, FQDN ${full} is too long ` +
      `(${nodeNameMax} characters is the max, ${full.length} characters requested)`,
  )
}

const cut = (hostname: string): string =>
  hostname.length <= labelMax ? hostname : hostname.slice(0, labelMax).replace(/[-.]+$/, '')
