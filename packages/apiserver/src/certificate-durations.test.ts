import { X509Certificate } from 'node:crypto'
import { type CertificateSigningRequest, certificateSigningRequests } from '@coracle/api'
import { certificateRequests } from '@coracle/api/testing'
import { createMetricsRegistry, realEnvironment, virtualEnvironment } from '@coracle/environment'
import { faultyStore } from '@coracle/store/faults'
import { createMemoryStore } from '@coracle/store/memory'
import { describe, expect, it } from 'vitest'
import { countCertificateDurations } from './certificate-durations.ts'
import { createPki } from './security/certificates.ts'
import { startTestCore } from './testing/test-core.ts'

const { certificatePem } = createPki(realEnvironment()).admin
const certificate = Buffer.from(certificatePem)
const { validFromDate, validToDate } = new X509Certificate(certificatePem)
const lifetimeSeconds = (validToDate.getTime() - validFromDate.getTime()) / 1000

async function started(options: Parameters<typeof startTestCore>[0] = {}) {
  const { core, client } = await startTestCore(options)
  const metrics = createMetricsRegistry()
  const stop = countCertificateDurations(metrics, core.registries)
  const issue = async (name: string, spec: object = {}, issued: Buffer = certificate, options = {}) => {
    await client.create<CertificateSigningRequest>(certificateSigningRequests, {
      apiVersion: 'certificates.k8s.io/v1',
      kind: 'CertificateSigningRequest',
      metadata: { name },
      spec: { request: certificateRequests.jane, signerName: 'example.com/own', usages: ['client auth'], ...spec },
    } as CertificateSigningRequest)
    const body = { status: { certificate: issued.toString('base64') } }
    await client.patch(
      certificateSigningRequests,
      { name },
      { type: 'merge', body },
      { subresource: 'status', ...options },
    )
  }
  const counted = () =>
    metrics
      .text()
      .split('\n')
      .filter((line) => line.startsWith('apiserver_certificates_registry'))
  return { client, issue, counted, stop, metrics }
}

const honored = 'apiserver_certificates_registry_csr_honored_duration_total'
const requested = 'apiserver_certificates_registry_csr_requested_duration_total'

describe('certificates that are issued for a time that was asked for', () => {
  it('are counted by signer, and apart those that are valid for about as long', async () => {
    const { issue, counted } = await started()
    const signerName = 'kubernetes.io/kube-apiserver-client'
    await issue('kept', { signerName, expirationSeconds: lifetimeSeconds })
    await issue('nearly', { signerName, expirationSeconds: Math.round(lifetimeSeconds * 0.96) })
    await issue('not', { signerName, expirationSeconds: Math.round(lifetimeSeconds * 0.9) })
    await issue('own', { expirationSeconds: 600 })
    await expect
      .poll(counted)
      .toEqual([
        `${honored}{signerName="${signerName}"} 2`,
        `${requested}{signerName="${signerName}"} 3`,
        `${requested}{signerName="other"} 1`,
      ])
  })

  it('are told of in upstream’s words', async () => {
    const { issue, metrics } = await started()
    await issue('jane', { expirationSeconds: lifetimeSeconds })
    const sliced = 'sliced by signer (only kubernetes.io signer names are specifically identified)'
    const text = metrics.text()
    expect(text).toContain(
      `# HELP ${honored} [ALPHA] Total number of issued CSRs with a requested duration that was honored, ${sliced}\n# TYPE ${honored} counter\n`,
    )
    expect(text).toContain(
      `# HELP ${requested} [ALPHA] Total number of issued CSRs with a requested duration, ${sliced}\n# TYPE ${requested} counter\n`,
    )
  })

  it('are not counted where nobody asked for a time, a second time, or on trial', async () => {
    const { client, issue, counted } = await started()
    await issue('any')
    await issue('trial', { expirationSeconds: 600 }, certificate, { dryRun: true })
    expect(counted()).toEqual([])
    await issue('jane', { expirationSeconds: 600 })
    await client.patch(
      certificateSigningRequests,
      { name: 'jane' },
      { type: 'merge', body: { metadata: { labels: { a: 'b' } } } },
    )
    expect(counted()).toEqual([`${requested}{signerName="other"} 1`])
  })

  it('are counted by the server that they are given to', async () => {
    const store = createMemoryStore()
    const environment = virtualEnvironment()
    const [one, other] = [
      await started({ store: faultyStore(store), environment }),
      await started({ store: faultyStore(store), environment }),
    ]
    await one.issue('jane', { expirationSeconds: 600 })
    await environment.clock.settle()
    expect([one.counted().length, other.counted().length]).toEqual([1, 0])
  })
})
