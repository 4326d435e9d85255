import type { CertificateRequest } from './certificate-request.ts'
import type { CertificateSigningRequest } from './certificate-signing-request-schema.ts'

/** Makes certificates by which people and programs are known to the API server. */
export const apiClientSigner = 'kubernetes.io/kube-apiserver-client'
/** Makes certificates by which node agents are known to the API server. */
export const nodeClientSigner = 'kubernetes.io/kube-apiserver-client-kubelet'
/** Makes certificates with which node agents serve. */
export const nodeServingSigner = 'kubernetes.io/kubelet-serving'
/** Of the API's first version; nothing can be asked of it any more. */
export const legacyUnknownSigner = 'kubernetes.io/legacy-unknown'

/**
 * Why a signer of the cluster's own does not sign an approved request; undefined: it does, or the request is for somebody else.
 * Source: https://kubernetes.io/docs/reference/access-authn-authz/certificate-signing-requests/#kubernetes-signers
 */
export function signerRefusal(
  { signerName, usages = [] }: CertificateSigningRequest['spec'],
  request: CertificateRequest,
): string | undefined {
  switch (signerName) {
    case apiClientSigner:
      return clientUsageRefusal(usages)
    case nodeClientSigner:
      return nodeClientRefusal(request, usages)
    case nodeServingSigner:
      return nodeServingRefusal(request, usages)
    default:
      return undefined
  }
}

/** Whether this is one of the signers that every cluster has. */
export const isClusterSigner = (signerName: string): boolean =>
  signerName === apiClientSigner || signerName === nodeClientSigner || signerName === nodeServingSigner

function clientUsageRefusal(usages: readonly string[]): string | undefined {
  const wrong = usages.find((usage) => !nodeClientUsages.includes(usage))
  if (wrong !== undefined) return `invalid usage for client certificate: ${wrong}`
  return usages.includes('client auth') ? undefined : 'missing required usage for client certificate: client auth'
}

const nodeClientUsages = ['client auth', 'digital signature', 'key encipherment']
const nodeServingUsages = ['digital signature', 'key encipherment', 'server auth']

/** Why a request is not one of a node agent for its client certificate; undefined: it is. */
export function nodeClientRefusal(
  { subject, names }: CertificateRequest,
  usages: readonly string[],
): string | undefined {
  if (!isOfNodes(subject.organization)) return notOfNodes
  if (names.dnsNames.length > 0) return 'DNS subjectAltNames are not allowed'
  if (names.emailAddresses.length > 0) return 'Email subjectAltNames are not allowed'
  if (names.ipAddresses.length > 0) return 'IP subjectAltNames are not allowed'
  if (names.uris.length > 0) return 'URI subjectAltNames are not allowed'
  if (!subject.commonName.startsWith(nodePrefix)) return notNamedAsNode
  return usagesRefusal(usages, nodeClientUsages)
}

function nodeServingRefusal({ subject, names }: CertificateRequest, usages: readonly string[]): string | undefined {
  if (!isOfNodes(subject.organization)) return notOfNodes
  if (names.dnsNames.length === 0 && names.ipAddresses.length === 0) return 'DNS or IP subjectAltName is required'
  if (names.emailAddresses.length > 0) return 'Email subjectAltNames are not allowed'
  if (names.uris.length > 0) return 'URI subjectAltNames are not allowed'
  return (
    usagesRefusal(usages, nodeServingUsages) ?? (subject.commonName.startsWith(nodePrefix) ? undefined : notNamedAsNode)
  )
}

const nodePrefix = 'system:node:'
const notOfNodes = 'subject organization is not system:nodes'
const notNamedAsNode = `subject common name does not begin with ${nodePrefix}`

const isOfNodes = (organization: readonly string[]): boolean =>
  organization.length === 1 && organization[0] === 'system:nodes'

/** Keys of elliptic curves encipher nothing, so that usage may be left out. */
function usagesRefusal(usages: readonly string[], allowed: readonly string[]): string | undefined {
  const given = new Set(usages)
  const isRequired = (usage: string): boolean => usage !== 'key encipherment'
  const fits = allowed.every((usage) => given.has(usage) || !isRequired(usage))
  return fits && usages.every((usage) => allowed.includes(usage))
    ? undefined
    : `usages did not match [${allowed.join(' ')}]`
}
