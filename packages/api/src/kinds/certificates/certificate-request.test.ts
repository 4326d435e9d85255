import { describe, expect, it } from 'vitest'
import { certificateRequests } from '../../testing/certificate-requests.ts'
import { parseCertificateRequest } from './certificate-request.ts'

const pemOf = (base64: string): string => Buffer.from(base64, 'base64').toString('latin1')

describe('a certificate request', () => {
  it('says who it is for', () => {
    const { subject, names } = parseCertificateRequest(pemOf(certificateRequests.jane))
    expect(subject).toMatchObject({ commonName: 'jane', organization: ['dev', 'ops'], serialNumber: '', country: [] })
    expect(names).toEqual({ dnsNames: [], emailAddresses: [], ipAddresses: [], uris: [] })
  })

  it('has all the parts that names of X.509 have, and alternative names of the types that Go knows', () => {
    const { subject, names, namesDer } = parseCertificateRequest(pemOf(certificateRequests.rsa))
    expect(subject).toEqual({
      commonName: 'web',
      serialNumber: '7',
      country: ['DE'],
      locality: ['Berlin'],
      province: ['BE'],
      streetAddress: ['Allee 1'],
      organization: ['Ä GmbH'],
      organizationalUnit: ['it'],
      postalCode: ['10115'],
    })
    expect(names).toEqual({
      dnsNames: ['web.example.com'],
      emailAddresses: ['a@example.com'],
      ipAddresses: [],
      uris: ['spiffe://x/y'],
    })
    expect(namesDer).toHaveLength(3)
  })

  it('has addresses of both families', () => {
    const { names } = parseCertificateRequest(pemOf(certificateRequests.nodeServing))
    expect(names).toMatchObject({ dnsNames: ['node-1'], ipAddresses: ['10.0.0.1', '2001:db8::1'] })
  })

  it.each(Object.entries(certificateRequests))('of %s is signed with the key that it is for', (_, request) => {
    expect(() => parseCertificateRequest(pemOf(request))).not.toThrow()
  })

  it.each([
    ['jane', 'x509: ECDSA verification failure'],
    ['rsa', 'crypto/rsa: verification error'],
    ['pss', 'crypto/rsa: verification error'],
    ['ed25519', 'x509: Ed25519 verification failure'],
  ] as const)('of %s counts for nothing once it is changed', (name, message) => {
    const pem = pemOf(certificateRequests[name])
    const der = Buffer.from(pem.replace(/-----[^-]*-----/g, ''), 'base64')
    // A letter of the common name.
    const at = der.lastIndexOf(
      Buffer.from({ jane: 'jane', rsa: 'web', pss: 'pss', ed25519: 'ed' }[name]),
      der.length / 2,
    )
    der[at] = 'x'.charCodeAt(0)
    const changed = `-----BEGIN CERTIFICATE REQUEST-----\n${der.toString('base64')}\n-----END CERTIFICATE REQUEST-----\n`
    expect(() => parseCertificateRequest(changed)).toThrow(message)
  })

  it('that is cut off anywhere is refused, and no cut is taken for something else', () => {
    const pem = pemOf(certificateRequests.jane)
    const der = Buffer.from(pem.replace(/-----[^-]*-----/g, ''), 'base64')
    for (let length = 0; length < der.length; length += 1) {
      const cut = der.subarray(0, length).toString('base64')
      const text = `-----BEGIN CERTIFICATE REQUEST-----\n${cut}\n-----END CERTIFICATE REQUEST-----\n`
      expect(() => parseCertificateRequest(text)).toThrow('x509: malformed certificate request')
    }
  })

  it.each(['', 'no PEM', '-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n'])(
    'is none where its PEM is of another type: %j',
    (text) => {
      expect(() => parseCertificateRequest(text)).toThrow('PEM block type must be CERTIFICATE REQUEST')
    },
  )
})
