import { X509Certificate } from 'node:crypto'
import { realEnvironment, virtualEnvironment } from '@coracle/environment'
import { describe, expect, it } from 'vitest'
import { coversHosts, createAuthority, createPki, issueClientCertificate } from './certificates.ts'

const hourMs = 3_600_000
const dayMs = 24 * hourMs

describe('createPki', () => {
  const environment = virtualEnvironment({ start: '2026-01-01T00:00:00Z' })
  const pki = createPki(environment, ['10.1.2.3', 'fe80::1:2', '::ffff:10.0.0.1', 'my.host', '0.0.0.0'])
  const ca = new X509Certificate(pki.ca.certificatePem)
  const serving = new X509Certificate(pki.serving.certificatePem)
  const admin = new X509Certificate(pki.admin.certificatePem)

  it('makes an authority that signs the others', () => {
    expect(ca.ca).toBe(true)
    expect(ca.verify(ca.publicKey)).toBe(true)
    for (const leaf of [serving, admin]) {
      expect(leaf.ca).toBe(false)
      expect(leaf.verify(ca.publicKey)).toBe(true)
      expect(leaf.checkIssued(ca)).toBe(true)
    }
  })

  it('makes elliptic keys that belong to the certificates', () => {
    expect(serving.publicKey.asymmetricKeyDetails?.namedCurve).toBe('prime256v1')
    expect(pki.serving.keyPem).toContain('BEGIN PRIVATE KEY')
  })

  it('serves under the names every cluster has and those it was given', () => {
    expect(coversHosts(serving, ['10.1.2.3', 'fe80::1:2', 'my.host', '::ffff:10.0.0.1'])).toBe(true)
    for (const host of ['localhost', 'kubernetes.default.svc']) expect(serving.checkHost(host)).toBe(host)
    for (const address of ['127.0.0.1', '::1', 'fe80::1:2']) expect(serving.checkIP(address)).toBe(address)
    expect(coversHosts(serving, ['10.1.2.4'])).toBe(false)
    expect(serving.subjectAltName).not.toContain('0.0.0.0')
  })

  it('says who the administrator is', () => {
    expect(admin.subject.split('\n').sort()).toEqual(['CN=kubernetes-admin', 'O=system:masters'])
  })

  it('takes the time from the environment', () => {
    const nowMs = environment.clock.now()
    expect(serving.validFromDate.getTime()).toBe(nowMs - hourMs)
    expect(serving.validToDate.getTime()).toBe(nowMs + 365 * dayMs)
    expect(ca.validToDate.getTime()).toBe(nowMs + 3650 * dayMs)
  })

  it('writes years from 2050 on as the standard wants it', () => {
    const later = virtualEnvironment({ start: '2049-06-01T00:00:00Z' })
    const authority = new X509Certificate(createAuthority(later).certificatePem)
    expect(authority.validToDate.getUTCFullYear()).toBe(2059)
  })

  it('gives every certificate a serial number of its own', () => {
    expect(new Set([ca, serving, admin].map(({ serialNumber }) => serialNumber)).size).toBe(3)
  })
})

describe('issueClientCertificate', () => {
  it('names each group', () => {
    const environment = realEnvironment()
    const pair = issueClientCertificate(environment, createAuthority(environment), { user: 'eve', groups: ['a', 'b'] })
    expect(new X509Certificate(pair.certificatePem).subject.split('\n').sort()).toEqual(['CN=eve', 'O=a', 'O=b'])
  })
})
