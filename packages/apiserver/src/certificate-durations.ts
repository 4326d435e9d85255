import { type CertificateSigningRequest, certificateSigningRequests } from '@coracle/api'
import type { MetricsRegistry } from '@coracle/environment'
import type { Registries } from './registries.ts'

/**
 * Counts certificates that are issued for as long as was asked for, and all that a time was asked for, under upstream's names
 * (pkg/registry/certificates/certificates/storage/metrics.go), until the returned function is called. A server counts those that were
 * given to it, whoever shares its store.
 */
export function countCertificateDurations(metrics: MetricsRegistry, registries: Registries): () => void {
  const sliced = 'sliced by signer (only kubernetes.io signer names are specifically identified)'
  const labels = ['signerName'] as const
  const requested = metrics.counter({
    name: 'apiserver_certificates_registry_csr_requested_duration_total',
    help: `[ALPHA] Total number of issued CSRs with a requested duration, ${sliced}`,
    labels,
  })
  const honored = metrics.counter({
    name: 'apiserver_certificates_registry_csr_honored_duration_total',
    help: `[ALPHA] Total number of issued CSRs with a requested duration that was honored, ${sliced}`,
    labels,
  })
  let isOver = false
  registries.of(certificateSigningRequests)?.storage.cache.onChange(({ type, stored, previous }, isOwn) => {
    if (isOver || !isOwn || type !== 'MODIFIED') return
    const request = stored.object as CertificateSigningRequest
    const { expirationSeconds, signerName = '' } = request.spec
    const before = (previous?.object as CertificateSigningRequest | undefined)?.status?.certificate ?? ''
    const certificate = request.status?.certificate ?? ''
    if (expirationSeconds === undefined || before !== '' || certificate === '') return
    const series = { signerName: signerName.startsWith('kubernetes.io/') ? signerName : 'other' }
    requested.with(series).inc()
    void lifetimeMsOf(certificate).then((lifetimeMs) => {
      if (lifetimeMs !== undefined && isHonored(expirationSeconds * 1000, lifetimeMs)) honored.with(series).inc()
    })
  })
  return () => {
    isOver = true
  }
}

/** Signers may begin a certificate five minutes ago, and be off by a twentieth. */
const isHonored = (wantedMs: number, lifetimeMs: number): boolean =>
  Math.abs(wantedMs - lifetimeMs) < 5 * 60_000 + wantedMs / 20

/** For how long the first certificate is valid of what a status has; undefined where it cannot be read. */
async function lifetimeMsOf(certificate: string): Promise<number | undefined> {
  const { X509Certificate } = await import('node:crypto')
  try {
    const { validFromDate, validToDate } = new X509Certificate(Buffer.from(certificate, 'base64'))
    return validToDate.getTime() - validFromDate.getTime()
  } catch {
    return undefined
  }
}
