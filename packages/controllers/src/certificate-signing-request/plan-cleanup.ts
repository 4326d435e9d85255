import {
  type CertificateSigningRequest,
  type CertificateSigningRequestStatus,
  certificateSigningRequests,
} from '@coracle/api'
import type { Plan } from '@coracle/controller-runtime'
import type { Time } from '@coracle/environment'
import { certificateEnd } from '@coracle/environment/certificates'
import { timeOf } from '../pods/pod-state.ts'

const hourMs = 3_600_000
/** How long a request stays that has been dealt with, and one that waits for somebody to decide. */
const settledMs = hourMs
const waitingMs = 24 * hourMs

/**
 * Deletes a request an hour after it was settled, or when nobody has decided about it or signed it for a day, or its certificate has
 * ended (upstream's CSRCleanerController).
 */
export function planCleanup(
  signingRequest: CertificateSigningRequest,
  nowMs: Time,
): Plan<CertificateSigningRequestStatus> {
  const { metadata } = signingRequest
  if (metadata.deletionTimestamp !== undefined) return { actions: [] }
  const [first] = endings(signingRequest).sort((a, b) => a.atMs - b.atMs)
  if (first === undefined) return { actions: [] }
  if (first.atMs > nowMs) return { actions: [], requeueAfterMs: first.atMs - nowMs }
  const { name = '', uid } = metadata
  return {
    actions: [
      {
        type: 'delete',
        resource: certificateSigningRequests,
        key: { name },
        ...(uid === undefined ? {} : { uid }),
        because: first.because,
      },
    ],
  }
}

interface Ending {
  readonly atMs: Time
  readonly because: string
}

function endings({ metadata, status }: CertificateSigningRequest): Ending[] {
  const { conditions = [], certificate = '' } = status ?? {}
  const isIssued = certificate !== ''
  if (conditions.length === 0) {
    const createdMs = timeOf(metadata.creationTimestamp)
    const because = 'nobody has approved or denied it in a day'
    return createdMs === undefined ? [] : [{ atMs: createdMs + waitingMs, because }]
  }
  return conditions.flatMap(({ type, lastUpdateTime }): Ending[] => {
    const decidedMs = timeOf(lastUpdateTime)
    const after = (ms: number, because: string): Ending[] =>
      decidedMs === undefined ? [] : [{ atMs: decidedMs + ms, because }]
    switch (type) {
      case 'Denied':
        return after(settledMs, 'it was denied an hour ago')
      case 'Failed':
        return after(settledMs, 'it failed an hour ago')
      case 'Approved':
        if (!isIssued) return after(waitingMs, 'nobody has signed it in a day')
        return [
          ...after(settledMs, 'it was approved an hour ago, and has its certificate'),
          ...certificateEndings(certificate),
        ]
      default:
        return []
    }
  })
}

/** Whoever signs may put into a request what this program cannot read. */
function certificateEndings(certificate: string): Ending[] {
  const atMs = certificateEnd(Buffer.from(certificate, 'base64').toString('latin1'))
  return atMs === undefined ? [] : [{ atMs, because: 'its certificate has ended' }]
}
