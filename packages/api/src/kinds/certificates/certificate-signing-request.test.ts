import { beforeAll, describe, expect, it } from 'vitest'
import { describeFieldError } from '../../field-error.ts'
import { compile } from '../../schema/compile.ts'
import { certificateRequests } from '../../testing/certificate-requests.ts'
import {
  certificateSigningRequests,
  requestedDuration,
  signingRequestState,
  withApproval,
} from './certificate-signing-request.ts'
import type {
  CertificateSigningRequest,
  CertificateSigningRequestCondition,
} from './certificate-signing-request-schema.ts'
import { validateSigningRequestApproval } from './certificate-signing-request-validation.ts'

const { strategy } = certificateSigningRequests
beforeAll(() => strategy.load?.())
const signerName = 'example.com/own'

const request = (spec: object = {}, status: object = {}): CertificateSigningRequest =>
  ({
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name: 'jane' },
    spec: { request: certificateRequests.jane, signerName, usages: ['client auth'], ...spec },
    status,
  }) as CertificateSigningRequest

const condition = (type: string, status = 'True', more: object = {}) =>
  ({ type, status, ...more }) as CertificateSigningRequestCondition
const decided = (...conditions: readonly CertificateSigningRequestCondition[]) => request({}, { conditions })

const problems = (of: CertificateSigningRequest): readonly string[] =>
  [...compile(certificateSigningRequests.schema).validate(of), ...(strategy.validate?.(of, '') ?? [])].map(
    describeFieldError,
  )

describe('a CertificateSigningRequest', () => {
  it('is fine with a request, a signer and usages', () => {
    expect(problems(request({ expirationSeconds: 600 }))).toEqual([])
  })

  it.each<readonly [string, object, string]>([
    ['no request', { request: '' }, 'PEM block type must be CERTIFICATE REQUEST'],
    ['another PEM', { request: 'bm8=' }, 'PEM block type must be CERTIFICATE REQUEST'],
    ['no usages', { usages: undefined }, 'spec.usages: Required value'],
    [
      'an unknown usage',
      { usages: ['client auth', 'fun'] },
      'spec.usages[1]: Unsupported value: "fun": supported values: "any"',
    ],
    ['a usage twice', { usages: ['any', 'any'] }, 'spec.usages[1]: Duplicate value: "any"'],
    ['no signer', { signerName: '' }, 'spec.signerName: Required value'],
    ['a signer without a path', { signerName: 'example.com' }, 'must be a fully qualified domain and path of the form'],
    [
      'a signer with two paths',
      { signerName: 'example.com/a/b' },
      'must be a fully qualified domain and path of the form',
    ],
    [
      'a signer of no domain',
      { signerName: 'own/a' },
      'should be a domain with at least two segments separated by dots',
    ],
    ['a signer of a bad domain', { signerName: 'Example.com/a' }, 'validating label "Example": '],
    ['a signer with a bad path', { signerName: 'example.com/A' }, 'validating label "A": '],
    [
      'the legacy signer',
      { signerName: 'kubernetes.io/legacy-unknown' },
      'the legacy signerName is not allowed via this API version',
    ],
    ['too short a life', { expirationSeconds: 599 }, 'may not specify a duration less than 600 seconds (10 minutes)'],
  ])('is refused with %s', (_, spec, problem) => {
    expect(problems(request(spec))).toEqual([expect.stringContaining(problem)])
  })

  it.each<readonly [string, object, string]>([
    [
      'both decisions',
      { conditions: [condition('Approved'), condition('Denied')] },
      'status.conditions: Invalid value: "Denied": Approved and Denied conditions are mutually exclusive',
    ],
    [
      'a decision that is not true',
      { conditions: [condition('Approved', 'False')] },
      'status.conditions[0].status: Unsupported value: "False": supported values: "True"',
    ],
    [
      'a condition twice',
      { conditions: [condition('X'), condition('X', 'False')] },
      'status.conditions[1].type: Duplicate value: "X"',
    ],
    ['no certificate', { certificate: 'bm8=' }, 'must contain at least one CERTIFICATE PEM block'],
    [
      'a request for one',
      { certificate: certificateRequests.jane },
      'only CERTIFICATE PEM blocks are allowed, found "CERTIFICATE REQUEST"',
    ],
  ])('may not have %s in its status', (_, status, problem) => {
    expect(problems(request({}, status))).toEqual([expect.stringContaining(problem)])
  })

  it('cannot be changed but for its metadata', () => {
    const changed = strategy.prepareForUpdate?.(request({ usages: ['any'] }), request(), 0)
    expect(changed?.spec).toEqual(request().spec)
  })
})

describe('whoever approves', () => {
  const errors = (changed: CertificateSigningRequest, old: CertificateSigningRequest) =>
    validateSigningRequestApproval(changed, old).map(describeFieldError)

  it('adds conditions, which get their times, and leaves the rest', () => {
    const old = request({}, { certificate: 'kept' })
    const written = request({ usages: ['any'] }, { conditions: [condition('Approved')], certificate: 'own' })
    expect(withApproval(old, written, 0)).toEqual({
      ...old,
      status: {
        certificate: 'kept',
        conditions: [
          condition('Approved', 'True', {
            lastUpdateTime: '1970-01-01T00:00:00Z',
            lastTransitionTime: '1970-01-01T00:00:00Z',
          }),
        ],
      },
    })
  })

  it('keeps the time of a transition where the status stays', () => {
    const times = { lastUpdateTime: '2020-01-01T00:00:00Z', lastTransitionTime: '2020-01-01T00:00:00Z' }
    const old = decided(condition('X', 'True', times), condition('Y', 'True', times))
    const { status } = withApproval(old, decided(condition('X'), condition('Y', 'False')), 0)
    expect(status?.conditions).toMatchObject([
      { lastUpdateTime: '1970-01-01T00:00:00Z', lastTransitionTime: '2020-01-01T00:00:00Z' },
      { lastUpdateTime: '1970-01-01T00:00:00Z', lastTransitionTime: '1970-01-01T00:00:00Z' },
    ])
  })

  it('may decide about what an older server has decided both ways', () => {
    const both = decided(condition('Approved'), condition('Denied'))
    expect(errors(both, both)).toEqual([])
  })

  it('takes no decision back', () => {
    expect(errors(decided(condition('Approved')), decided())).toEqual([])
    expect(errors(decided(), decided(condition('Denied')))).toEqual([
      'status.conditions: Forbidden: updates may not remove a condition of type "Denied"',
    ])
  })
})

describe('whoever signs', () => {
  const errors = (changed: CertificateSigningRequest, old: CertificateSigningRequest) =>
    (strategy.validateStatusUpdate?.(changed, old) ?? []).map(describeFieldError)

  it('neither approves nor takes back what was decided', () => {
    const forbidden = (what: string) => [`status.conditions: Forbidden: updates may not ${what}`]
    expect(errors(decided(condition('Approved')), decided())).toEqual(forbidden('add a condition of type "Approved"'))
    expect(errors(decided(), decided(condition('Failed')))).toEqual(forbidden('remove a condition of type "Failed"'))
    expect(errors(decided(condition('Failed')), decided())).toEqual([])
  })

  it('leaves a decision as it was, whatever was written of it', () => {
    const old = decided(condition('Approved', 'True', { reason: 'A' }))
    const written = decided(condition('Approved', 'True', { reason: 'B' }), condition('Seen'))
    const changed = strategy.prepareForStatusUpdate?.(written, old, 0)
    expect(changed?.status?.conditions).toMatchObject([{ reason: 'A' }, { type: 'Seen' }])
  })

  it('puts no other certificate in the place of one', () => {
    const errorsOf = (certificate: string, before: string) => {
      const [last] = errors(request({}, { certificate }), request({}, { certificate: before })).slice(-1)
      return last
    }
    expect(errorsOf('', 'Yg==')).toBe(
      'status.certificate: Forbidden: updates may not modify existing certificate content',
    )
  })
})

it.each<readonly [CertificateSigningRequest, string]>([
  [request(), 'Pending'],
  [decided(condition('Approved')), 'Approved'],
  [decided(condition('Denied')), 'Denied'],
  [decided(condition('Approved'), condition('Failed')), 'Approved,Failed'],
  [request({}, { conditions: [condition('Approved')], certificate: 'Yg==' }), 'Approved,Issued'],
])('tables say what has become of a request: %#', (of, state) => {
  expect(signingRequestState(of)).toBe(state)
})

it('tells for how long a certificate is asked for', () => {
  expect(requestedDuration(request({ expirationSeconds: 86_400 }))).toBe('24h')
  expect(requestedDuration(request())).toBeUndefined()
})
