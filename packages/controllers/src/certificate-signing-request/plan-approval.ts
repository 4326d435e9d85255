import {
  type CertificateSigningRequest,
  type CertificateSigningRequestStatus,
  certificateSigningRequests,
  hasDecision,
  nodeClientRefusal,
  nodeClientSigner,
} from '@coracle/api'
import type { Plan } from '@coracle/controller-runtime'
import { parsedRequest } from './parsed-request.ts'

/** What a node agent needs the right to create for its request to be approved by itself. */
export type ApprovalRight = 'selfnodeclient' | 'nodeclient'

/** The rights of which any one is enough to approve a request at once; none where people decide. */
export function rightsForApproval(signingRequest: CertificateSigningRequest): readonly ApprovalRight[] {
  const { spec, status } = signingRequest
  const isDecided = hasDecision(signingRequest, 'Approved') || hasDecision(signingRequest, 'Denied')
  if (isDecided || status?.certificate || spec.signerName !== nodeClientSigner) return []
  const request = parsedRequest(signingRequest)
  if (nodeClientRefusal(request, spec.usages ?? []) !== undefined) return []
  return spec.username === request.subject.commonName ? ['selfnodeclient', 'nodeclient'] : ['nodeclient']
}

const messages: Readonly<Record<ApprovalRight, string>> = {
  selfnodeclient: 'Auto approving self kubelet client certificate after SubjectAccessReview.',
  nodeclient: 'Auto approving kubelet client certificate after SubjectAccessReview.',
}

/** Approves a request whose maker has the right to it. */
export function planApproval(
  signingRequest: CertificateSigningRequest,
  right: ApprovalRight,
): Plan<CertificateSigningRequestStatus> {
  const { status } = signingRequest
  const approved = { type: 'Approved', status: 'True', reason: 'AutoApproved', message: messages[right] } as const
  const object: CertificateSigningRequest = {
    ...signingRequest,
    status: { ...status, conditions: [...(status?.conditions ?? []), approved] },
  }
  return {
    actions: [
      {
        type: 'update',
        resource: certificateSigningRequests,
        object,
        subresource: 'approval',
        because: `whoever asks may create certificatesigningrequests/${right}`,
      },
    ],
  }
}
