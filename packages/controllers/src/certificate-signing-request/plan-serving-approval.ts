import {
  type CertificateSigningRequest,
  type CertificateSigningRequestStatus,
  certificateSigningRequests,
  formatIp,
  hasDecision,
  type IpAddress,
  type Node,
  nodeServingSigner,
  parseCidr,
  parseIp,
  rangeContains,
  signerRefusal,
} from '@coracle/api'
import type { Plan } from '@coracle/controller-runtime'
import { parsedRequest } from './parsed-request.ts'

/** What is known of the cluster when a node asks for the certificate of its server. */
export interface ServingSurroundings {
  readonly nodes: readonly Node[]
  /** Names and addresses that are the API servers'. */
  readonly serverNames: readonly string[]
  /** The ranges that services get addresses of. */
  readonly serviceRanges: readonly string[]
}

/** Whether this is a request for the certificate of a node's server, about which nobody has decided. */
export const isServingRequest = (signingRequest: CertificateSigningRequest): boolean =>
  signingRequest.spec.signerName === nodeServingSigner &&
  !signingRequest.status?.certificate &&
  !hasDecision(signingRequest, 'Approved') &&
  !hasDecision(signingRequest, 'Denied')

/**
 * Why a node's request for the certificate of its server is left to people; undefined: it may be approved. It may where the node itself
 * asks, for its own name and addresses that its Node has, and where none of these is somebody else's: an API server's, a service's, another
 * node's, or one that every machine has. A node says itself which addresses it has, so a certificate must not be good for more than to
 * stand for that node. Pure.
 */
export function servingRefusal(
  signingRequest: CertificateSigningRequest,
  { nodes, serverNames, serviceRanges }: ServingSurroundings,
): string | undefined {
  const { spec } = signingRequest
  const request = parsedRequest(signingRequest)
  const refusal = signerRefusal(spec, request)
  if (refusal !== undefined) return refusal
  const { commonName } = request.subject
  if (spec.username !== commonName || spec.groups?.includes('system:nodes') !== true) {
    return `${spec.username} asks for a certificate of ${commonName}`
  }
  const nodeName = commonName.replace(/^system:node:/, '')
  const node = nodes.find(({ metadata }) => metadata.name === nodeName)
  if (node === undefined) return `there is no node ${nodeName}`
  const taken = new Set(serverNames.map(canonical))
  for (const name of request.names.dnsNames) {
    if (name !== nodeName) return `${JSON.stringify(name)} is not the name of the node`
    if (taken.has(name.toLowerCase())) return `${JSON.stringify(name)} is a name of the API server`
  }
  const own = addressesOf(node)
  const ranges = serviceRanges.flatMap((range) => parseCidr(range) ?? [])
  for (const text of request.names.ipAddresses) {
    const address = parseIp(text)
    if (address === undefined || !own.has(formatIp(address))) return `${text} is no address of the node`
    if (!isOfOneHost(address)) return `every machine has the address ${text}`
    if (taken.has(formatIp(address))) return `${text} is an address of the API server`
    if (ranges.some((range) => rangeContains(range, address))) return `${text} is an address for services`
    const other = nodes.find((each) => each !== node && addressesOf(each).has(formatIp(address)))
    if (other !== undefined) return `${text} is an address of node ${other.metadata.name} as well`
  }
  return undefined
}

/** Approves a request of a node for the certificate of its server. */
export function planServingApproval(signingRequest: CertificateSigningRequest): Plan<CertificateSigningRequestStatus> {
  const { status } = signingRequest
  const message =
    'Auto approving kubelet serving certificate: it names the node that asks for it, and addresses of its own.'
  const approved = { type: 'Approved', status: 'True', reason: 'AutoApproved', message } as const
  const object: CertificateSigningRequest = {
    ...signingRequest,
    status: { ...status, conditions: [...(status?.conditions ?? []), approved] },
  }
  const because = 'a node asks for a certificate of its own name and addresses'
  return {
    actions: [{ type: 'update', resource: certificateSigningRequests, object, subresource: 'approval', because }],
  }
}

function addressesOf({ status }: Node): ReadonlySet<string> {
  const texts = (status?.addresses ?? []).filter(({ type }) => type === 'InternalIP' || type === 'ExternalIP')
  return new Set(texts.map(({ address }) => canonical(address)))
}

function canonical(text: string): string {
  const address = parseIp(text)
  return address === undefined ? text.toLowerCase() : formatIp(address)
}

/** Not loopback, nobody's, many's, or one of a link. */
function isOfOneHost(address: IpAddress): boolean {
  const text = formatIp(address)
  return !/^(127\.|0\.|169\.254\.|22[4-9]\.|23\d\.|255\.255\.255\.255$|::$|::1$|::ffff:|ff|fe[89ab])/i.test(text)
}
