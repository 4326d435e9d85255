import { type CertificateSigningRequest, certificateSigningRequests, hasDecision } from '@coracle/api'
import type { Client } from '@coracle/client'
import { type Environment, sleep } from '@coracle/environment'
import {
  createCertificateKey,
  createCertificateRequest,
  type KeyPair,
  privateKeyPem,
  type RequestedSubject,
} from '@coracle/environment/certificates'

/** How often it is looked whether a request was granted: seldom after a while, since then people decide. */
const lookFirstMs = 100
const lookMaxMs = 5_000

/** A certificate that a node agent asks the cluster for. */
export interface CertificateWish {
  readonly subject: RequestedSubject
  readonly signerName: string
  readonly usages: readonly string[]
}

/** The certificate by which the agent of a node is known to the API. */
export const clientWish = (nodeName: string): CertificateWish => ({
  subject: { commonName: `system:node:${nodeName}`, organizations: ['system:nodes'] },
  signerName: 'kubernetes.io/kube-apiserver-client-kubelet',
  usages: ['digital signature', 'client auth'],
})

/** The certificate that the agent of a node shows to whoever asks it something. */
export const servingWish = (nodeName: string, hosts: readonly string[]): CertificateWish => ({
  subject: { commonName: `system:node:${nodeName}`, organizations: ['system:nodes'], hosts },
  signerName: 'kubernetes.io/kubelet-serving',
  usages: ['digital signature', 'server auth'],
})

/** What is told while a request for a certificate waits for a decision. */
export const waitsForApproval = (request: string): string =>
  `waiting for somebody to approve it: coracle certificate approve ${request}`

/**
 * Asks for a certificate for a new key, and waits until somebody has decided. Rejects with an Error where it is denied or cannot be made,
 * with an ApiError where the API refuses the request, and with the signal's reason. `onWaiting` is told the name of the request.
 */
export async function requestCertificate(
  client: Client,
  { clock }: Environment,
  { subject, signerName, usages }: CertificateWish,
  signal: AbortSignal,
  onWaiting: (name: string) => void = () => {},
): Promise<KeyPair> {
  const key = createCertificateKey()
  const request = Buffer.from(createCertificateRequest(subject, key)).toString('base64')
  const wanted = {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { generateName: 'csr-' },
    spec: { request, signerName, usages },
  } as CertificateSigningRequest
  const asked = await client.create(certificateSigningRequests, wanted, { signal })
  const { name = '' } = asked.metadata
  let isTold = false
  for (let waitMs = lookFirstMs; ; waitMs = Math.min(waitMs * 2, lookMaxMs)) {
    await sleep(clock, waitMs, signal)
    const current = await client.get(certificateSigningRequests, { name }, { signal })
    const { certificate, conditions = [] } = current.status ?? {}
    if (certificate) {
      return { certificatePem: Buffer.from(certificate, 'base64').toString(), keyPem: privateKeyPem(key) }
    }
    for (const decision of ['Denied', 'Failed'] as const) {
      if (!hasDecision(current, decision)) continue
      const why = conditions.find(({ type }) => type === decision)?.message ?? ''
      const outcome = decision === 'Denied' ? 'was denied' : 'failed'
      throw new Error(`certificate request ${name} ${outcome}${why === '' ? '' : `: ${why}`}`)
    }
    if (!isTold && waitMs >= lookMaxMs) {
      isTold = true
      onWaiting(name)
    }
  }
}
