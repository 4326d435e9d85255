import {
  type CertificateRequest,
  type CertificateSigningRequest,
  type CertificateSigningRequestStatus,
  hasDecision,
  isClusterSigner,
  signerRefusal,
} from '@coracle/api'
import type { Plan } from '@coracle/controller-runtime'
import { parsedRequest } from './parsed-request.ts'

/** A certificate that is wanted: for which request, for what, and for how long. */
export interface WantedCertificate {
  readonly request: CertificateRequest
  readonly usages: readonly string[]
  readonly validityMs: number
}

/** kube-controller-manager's --cluster-signing-duration: for how long certificates are good, and the most that can be asked for. */
export const signingDurationMs = 365 * 86_400_000
const validityMinMs = 600_000

/** Whether there is something to sign: the request is for a signer of the cluster's own, approved, and not settled. */
export function isToBeSigned(signingRequest: CertificateSigningRequest): boolean {
  return (
    isClusterSigner(signingRequest.spec.signerName) &&
    hasDecision(signingRequest, 'Approved') &&
    !hasDecision(signingRequest, 'Failed') &&
    !signingRequest.status?.certificate
  )
}

/**
 * Signs an approved request, or says why it cannot be signed. `issue` makes the certificate, in PEM, and is asked only where
 * one is due.
 */
export function planSigning(
  signingRequest: CertificateSigningRequest,
  issue: (wanted: WantedCertificate) => string,
): Plan<CertificateSigningRequestStatus> {
  if (!isToBeSigned(signingRequest)) return { actions: [] }
  const { spec, status } = signingRequest
  const request = parsedRequest(signingRequest)
  const refusal = signerRefusal(spec, request)
  if (refusal !== undefined) {
    const failed = { type: 'Failed', status: 'True', reason: 'SignerValidationFailure', message: refusal } as const
    return { actions: [], status: { ...status, conditions: [...(status?.conditions ?? []), failed] } }
  }
  const { usages = [], expirationSeconds } = spec
  const askedMs = expirationSeconds === undefined ? signingDurationMs : expirationSeconds * 1000
  const validityMs = Math.min(Math.max(askedMs, validityMinMs), signingDurationMs)
  const certificate = Buffer.from(issue({ request, usages, validityMs })).toString('base64')
  return { actions: [], status: { ...status, certificate } }
}
