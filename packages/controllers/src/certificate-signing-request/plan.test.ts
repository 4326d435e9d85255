import { X509Certificate } from 'node:crypto'
import { type CertificateSigningRequest, formatTime, parseTime } from '@coracle/api'
import { certificateRequests } from '@coracle/api/testing'
import { realEnvironment, virtualEnvironment } from '@coracle/environment'
import { createAuthority, issueRequestedCertificate } from '@coracle/environment/certificates'
import { describe, expect, it } from 'vitest'
import { planApproval, rightsForApproval } from './plan-approval.ts'
import { planCleanup } from './plan-cleanup.ts'
import { isToBeSigned, planSigning, type WantedCertificate } from './plan-signing.ts'

const now = parseTime('2026-01-02T00:00:00Z')
const hoursAgo = (hours: number): string => formatTime(now - hours * 3_600_000)
const hours = (count: number): number => count * 3_600_000

const clientUsages = ['digital signature', 'key encipherment', 'client auth']
const request = (spec: object = {}, status: object = {}): CertificateSigningRequest =>
  ({
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name: 'jane', uid: 'u', creationTimestamp: hoursAgo(0) },
    spec: {
      request: certificateRequests.jane,
      signerName: 'kubernetes.io/kube-apiserver-client',
      usages: clientUsages,
      ...spec,
    },
    status,
  }) as CertificateSigningRequest
const condition = (type: string, lastUpdateTime = hoursAgo(0)) => ({ type, status: 'True', lastUpdateTime })
const approved = (spec: object = {}, status: object = {}) =>
  request(spec, { conditions: [condition('Approved')], ...status })

/** What would be issued for an approved request. */
function issuedFor(spec: object): WantedCertificate | undefined {
  let wanted: WantedCertificate | undefined
  planSigning(approved(spec), (asked) => {
    wanted = asked
    return ''
  })
  return wanted
}

describe('signing', () => {
  it.each<readonly [string, CertificateSigningRequest]>([
    ['nobody has approved', request()],
    ['was denied', request({}, { conditions: [condition('Denied')] })],
    ['has failed', approved({}, { conditions: [condition('Approved'), condition('Failed')] })],
    ['has its certificate', approved({}, { certificate: 'YQ==' })],
    ['is for a signer of somebody else', approved({ signerName: 'example.com/own' })],
  ])('leaves a request alone that %s', (_, of) => {
    expect(isToBeSigned(of)).toBe(false)
    expect(planSigning(of, () => 'x')).toEqual({ actions: [] })
  })

  it('puts the certificate into the status of one that is approved', () => {
    const { status } = planSigning(approved(), () => 'PEM')
    expect(status).toEqual({ conditions: [condition('Approved')], certificate: Buffer.from('PEM').toString('base64') })
  })

  it('says why it does not sign', () => {
    const { status } = planSigning(approved({ usages: ['server auth'] }), () => 'PEM')
    expect(status?.certificate).toBeUndefined()
    expect(status?.conditions).toEqual([
      condition('Approved'),
      {
        type: 'Failed',
        status: 'True',
        reason: 'SignerValidationFailure',
        message: 'invalid usage for client certificate: server auth',
      },
    ])
  })

  it('gives a year, or what is asked for where that is less', () => {
    const day = 86_400_000
    expect(issuedFor({})?.validityMs).toBe(365 * day)
    expect(issuedFor({ expirationSeconds: 3600 })?.validityMs).toBe(3_600_000)
    expect(issuedFor({ expirationSeconds: 400 * 86_400 })?.validityMs).toBe(365 * day)
    expect(issuedFor({ expirationSeconds: 60 })?.validityMs).toBe(600_000)
    expect(issuedFor({})?.usages).toEqual(clientUsages)
  })
})

it('a certificate says what was asked for, and ends with its issuer at the latest', () => {
  const environment = virtualEnvironment({ start: '2026-01-01T00:00:00Z' })
  const authority = createAuthority(environment)
  const issuer = new X509Certificate(authority.certificatePem)
  const { request: serving } = issuedFor({
    request: certificateRequests.nodeServing,
    signerName: 'kubernetes.io/kubelet-serving',
    usages: ['digital signature', 'key encipherment', 'server auth'],
  }) as WantedCertificate
  const issue = (usages: readonly string[], validityMs: number) =>
    new X509Certificate(issueRequestedCertificate(environment, authority, { ...serving, usages, validityMs }))

  const certificate = issue(['digital signature', 'decipher only', 'server auth', 'any'], hours(1))
  expect(certificate.verify(issuer.publicKey) && certificate.checkIssued(issuer)).toBe(true)
  expect(certificate.ca).toBe(false)
  expect(certificate.subject).toBe('O=system:nodes\nCN=system:node:node-1')
  expect(certificate.subjectAltName).toBe('DNS:node-1, IP Address:10.0.0.1, IP Address:2001:DB8:0:0:0:0:0:1')
  expect(certificate.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1', '2.5.29.37.0'])
  // Bits 0 and 8 of the key usage: two bytes, of which the last seven bits are unused.
  expect(certificate.raw.includes(Buffer.from('0603551d0f0101ff04050303078080', 'hex'))).toBe(true)
  expect(certificate.validFromDate.getTime()).toBe(environment.clock.now() - 300_000)
  expect(certificate.validToDate.getTime()).toBe(environment.clock.now() + hours(1))
  expect(issue([], hours(8) - 1000).validToDate.getTime()).toBe(environment.clock.now() + hours(8) - 1000)
  // What is long is good for as long as was asked for, from its beginning on.
  expect(issue([], hours(8)).validToDate.getTime()).toBe(environment.clock.now() + hours(8) - 300_000)
  expect(issue([], hours(24 * 4000)).validToDate).toEqual(issuer.validToDate)
})

describe('a node agent', () => {
  const ofNode = { request: certificateRequests.node, signerName: 'kubernetes.io/kube-apiserver-client-kubelet' }

  it.each<readonly [string, CertificateSigningRequest, readonly string[]]>([
    ['its own, renewed', request({ ...ofNode, username: 'system:node:node-1' }), ['selfnodeclient', 'nodeclient']],
    ['its first one', request({ ...ofNode, username: 'system:bootstrap:abc' }), ['nodeclient']],
    ['what is approved', approved(ofNode), []],
    ['what is denied', request(ofNode, { conditions: [condition('Denied')] }), []],
    ['what has its certificate', request(ofNode, { certificate: 'YQ==' }), []],
    ['no usages', request({ ...ofNode, usages: undefined }), []],
    ['a request of somebody else', request({ ...ofNode, request: certificateRequests.jane }), []],
    ['other usages', request({ ...ofNode, usages: ['server auth'] }), []],
    ['another signer', request({ ...ofNode, signerName: 'kubernetes.io/kube-apiserver-client' }), []],
  ])('has the rights for %s asked about', (_, of, rights) => {
    expect(rightsForApproval(of)).toEqual(rights)
  })

  it.each([
    ['selfnodeclient', 'Auto approving self kubelet client certificate after SubjectAccessReview.'],
    ['nodeclient', 'Auto approving kubelet client certificate after SubjectAccessReview.'],
  ] as const)('is told by which right it was approved: %s', (right, message) => {
    const odd = condition('Odd')
    expect(planApproval(request(ofNode, { conditions: [odd] }), right).actions).toMatchObject([
      {
        because: `whoever asks may create certificatesigningrequests/${right}`,
        object: { status: { conditions: [odd, { type: 'Approved', reason: 'AutoApproved', message }] } },
      },
    ])
  })

  it('is approved where it has one', () => {
    expect(planApproval(request(ofNode), 'nodeclient').actions).toMatchObject([
      {
        type: 'update',
        subresource: 'approval',
        object: { status: { conditions: [{ type: 'Approved', status: 'True', reason: 'AutoApproved' }] } },
      },
    ])
  })
})

describe('a request', () => {
  const created = (ageHours: number, of: CertificateSigningRequest) => ({
    ...of,
    metadata: { ...of.metadata, creationTimestamp: hoursAgo(ageHours) },
  })
  const certificate = Buffer.from(
    issueRequestedCertificate(realEnvironment(), createAuthority(realEnvironment()), {
      ...parsed(),
      usages: [],
      validityMs: hours(1),
    }),
  ).toString('base64')

  it.each<readonly [string, CertificateSigningRequest, number | undefined]>([
    ['that waits', created(1, request()), hours(23)],
    ['that has waited for a day', created(24, request()), undefined],
    ['that waits for its signer', created(30, approved()), hours(24)],
    [
      'that has waited for its signer for a day',
      request({}, { conditions: [condition('Approved', hoursAgo(24))] }),
      undefined,
    ],
    ['that was denied', request({}, { conditions: [condition('Denied', hoursAgo(0.5))] }), hours(0.5)],
    ['that was denied long ago', request({}, { conditions: [condition('Denied', hoursAgo(1))] }), undefined],
    ['that failed long ago', request({}, { conditions: [condition('Failed', hoursAgo(1))] }), undefined],
    ['that has its certificate', approved({}, { certificate: 'bm9uZQ==' }), hours(1)],
    [
      'that has had it for an hour',
      request({}, { conditions: [condition('Approved', hoursAgo(1))], certificate: 'bm9uZQ==' }),
      undefined,
    ],
  ])('%s goes when its time is up', (_, of, laterMs) => {
    const { actions, requeueAfterMs } = planCleanup(of, now)
    expect(requeueAfterMs).toBe(laterMs)
    const gone = { type: 'delete', key: { name: 'jane' }, uid: 'u' }
    expect(actions).toMatchObject(laterMs === undefined ? [gone] : [])
  })

  it.each<readonly [string, CertificateSigningRequest, string]>([
    ['waited', created(24, request()), 'nobody has approved or denied it in a day'],
    [
      'was approved',
      request({}, { conditions: [condition('Approved', hoursAgo(24))] }),
      'nobody has signed it in a day',
    ],
    ['was denied', request({}, { conditions: [condition('Denied', hoursAgo(1))] }), 'it was denied an hour ago'],
    ['failed', request({}, { conditions: [condition('Failed', hoursAgo(1))] }), 'it failed an hour ago'],
    [
      'was signed',
      request({}, { conditions: [condition('Approved', hoursAgo(1))], certificate: 'bm9uZQ==' }),
      'it was approved an hour ago, and has its certificate',
    ],
  ])('that %s goes, and is said why', (_, of, because) => {
    expect(planCleanup(of, now).actions).toMatchObject([{ because }])
  })

  it('goes by whichever of its times is up first', () => {
    const conditions = [condition('Approved', hoursAgo(0)), condition('Failed', hoursAgo(0.75))]
    expect(planCleanup(request({}, { conditions }), now)).toEqual({ actions: [], requeueAfterMs: hours(0.25) })
  })

  it.each([
    ['when it was made', { ...request(), metadata: { name: 'jane' } }],
    ['when it was decided', request({}, { conditions: [{ type: 'Denied', status: 'True' }] })],
    ['what it has come to', request({}, { conditions: [condition('Odd', hoursAgo(100))] })],
  ])('stays where nobody knows %s', (_, of) => {
    expect(planCleanup(of as CertificateSigningRequest, now)).toEqual({ actions: [] })
  })

  it('goes with its certificate', () => {
    const farAhead = realEnvironment().clock.now() + hours(2)
    const fresh = request({}, { conditions: [condition('Approved', formatTime(farAhead))], certificate })
    expect(planCleanup(fresh, farAhead).actions).toMatchObject([{ because: 'its certificate has ended' }])
  })

  it('that is on its way is left alone', () => {
    const old = created(30, request())
    expect(planCleanup({ ...old, metadata: { ...old.metadata, deletionTimestamp: hoursAgo(0) } }, now)).toEqual({
      actions: [],
    })
  })
})

function parsed() {
  const wanted = issuedFor({})
  if (wanted === undefined) throw new Error('nothing was issued')
  return wanted.request
}
