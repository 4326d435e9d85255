import { X509Certificate } from 'node:crypto'
import { deepEqual } from '../../equality.ts'
import {
  describeFieldError,
  duplicateField,
  type FieldError,
  forbiddenField,
  invalidField,
  requiredField,
  tooLongField,
  unsupportedField,
} from '../../field-error.ts'
import { FieldPath } from '../../field-path.ts'
import { repeatedAt } from '../../finder.ts'
import { checkFormat, dns1123LabelMax, dns1123SubdomainMax } from '../../string-formats.ts'
import { parseCertificateRequest } from './certificate-request.ts'
import type {
  CertificateSigningRequest,
  CertificateSigningRequestCondition,
} from './certificate-signing-request-schema.ts'
import { legacyUnknownSigner } from './signers.ts'

/** What keys may be for: the extended key usages and key usages of X.509, under upstream's names. */
export const keyUsages: readonly string[] = [
  'any',
  'cert sign',
  'client auth',
  'code signing',
  'content commitment',
  'crl sign',
  'data encipherment',
  'decipher only',
  'digital signature',
  'email protection',
  'encipher only',
  'ipsec end system',
  'ipsec tunnel',
  'ipsec user',
  'key agreement',
  'key encipherment',
  'microsoft sgc',
  'netscape sgc',
  'ocsp signing',
  's/mime',
  'server auth',
  'signing',
  'timestamping',
]

const specPath = FieldPath.of('spec')
const conditionsPath = FieldPath.of('status', 'conditions')
const certificatePath = FieldPath.of('status', 'certificate')
const expirationSecondsMin = 600

/** Checks of every write (apis/certificates/validation validateCertificateSigningRequest). */
export function validateSigningRequest(signingRequest: CertificateSigningRequest): readonly FieldError[] {
  return [
    ...validateSpec(signingRequest),
    ...validateConditions(signingRequest),
    ...validateCertificate(signingRequest),
  ]
}

function validateSpec({ spec }: CertificateSigningRequest): readonly FieldError[] {
  const { request = '', usages = [], signerName = '', expirationSeconds } = spec
  const errors: FieldError[] = []
  const problem = requestProblem(request)
  if (problem !== undefined)
    errors.push(invalidField(specPath.field('request'), request === '' ? null : request, problem))
  const usagesPath = specPath.field('usages')
  if (usages.length === 0) errors.push(requiredField(usagesPath))
  for (const [index, usage] of usages.entries()) {
    if (!keyUsages.includes(usage)) errors.push(unsupportedField(usagesPath.index(index), usage, keyUsages))
  }
  for (const index of repeatedAt(usages)) {
    errors.push(duplicateField(usagesPath.index(index), usages[index]))
  }
  errors.push(...validateSignerName(signerName, specPath.field('signerName')))
  if (expirationSeconds !== undefined && expirationSeconds < expirationSecondsMin) {
    const detail = 'may not specify a duration less than 600 seconds (10 minutes)'
    errors.push(invalidField(specPath.field('expirationSeconds'), expirationSeconds, detail))
  }
  return errors
}

function requestProblem(request: string): string | undefined {
  try {
    parseCertificateRequest(Buffer.from(request, 'base64').toString('latin1'))
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

/** `<namespace>.<name>` of some resource fits into the path. */
const signerPathMax = dns1123LabelMax + 1 + dns1123SubdomainMax
const signerNameMax = dns1123SubdomainMax + 1 + signerPathMax

/** A signer's name is a domain and a path: `example.com/signer`. */
export function validateSignerName(signerName: string, path: FieldPath): readonly FieldError[] {
  // The schema asks for it.
  if (signerName === '') return []
  if (signerName === legacyUnknownSigner) {
    return [invalidField(path, signerName, 'the legacy signerName is not allowed via this API version')]
  }
  const [domain = '', name = '', ...more] = signerName.split('/')
  if (!signerName.includes('/') || more.length > 0) {
    const detail = "must be a fully qualified domain and path of the form 'example.com/signer-name'"
    return [invalidField(path, signerName, detail)]
  }
  const labels = domain.split('.')
  return [
    ...(domain.length > dns1123SubdomainMax ? [tooLongField(path, dns1123SubdomainMax)] : []),
    ...validateLabels(domain, labels, 'dns1123-label', path),
    ...(labels.length < 2
      ? [invalidField(path, domain, 'should be a domain with at least two segments separated by dots')]
      : []),
    ...validateLabels(name, name.split('.'), 'dns1123-subdomain', path),
    ...(signerName.length > signerNameMax ? [tooLongField(path, signerNameMax)] : []),
  ]
}

/** What is wrong with the first label that is. */
function validateLabels(
  segment: string,
  labels: readonly string[],
  format: 'dns1123-label' | 'dns1123-subdomain',
  path: FieldPath,
): readonly FieldError[] {
  for (const label of labels) {
    const problems = checkFormat(format, label)
    if (problems.length === 0) continue
    return problems.map((problem) =>
      invalidField(path, segment, `validating label ${JSON.stringify(label)}: ${problem}`),
    )
  }
  return []
}

type Condition = CertificateSigningRequestCondition
const conditionsOf = ({ status }: CertificateSigningRequest): readonly Condition[] => status?.conditions ?? []

/** What has been decided can be nothing but true. */
const decided: readonly string[] = ['Approved', 'Denied', 'Failed']

function validateConditions(signingRequest: CertificateSigningRequest): readonly FieldError[] {
  const conditions = conditionsOf(signingRequest)
  const errors: FieldError[] = []
  const seen = new Set<string>()
  for (const [index, { type, status }] of conditions.entries()) {
    const path = conditionsPath.index(index)
    const statuses = decided.includes(type) ? ['True'] : ['False', 'True', 'Unknown']
    if (type === '') errors.push(requiredField(path.field('type')))
    if ((status as string) === '') errors.push(requiredField(path.field('status')))
    else if (!statuses.includes(status)) errors.push(unsupportedField(path.field('status'), status, statuses))
    const opposite = type === 'Approved' ? 'Denied' : type === 'Denied' ? 'Approved' : undefined
    if (opposite !== undefined && seen.has(opposite)) {
      errors.push(invalidField(conditionsPath, type, 'Approved and Denied conditions are mutually exclusive'))
    }
    seen.add(type)
  }
  return errors
}

function validateCertificate({ status }: CertificateSigningRequest): readonly FieldError[] {
  const { certificate = '' } = status ?? {}
  if (certificate === '') return []
  const problem = certificateProblem(Buffer.from(certificate, 'base64').toString('latin1'))
  return problem === undefined ? [] : [invalidField(certificatePath, '<certificate data>', problem)]
}

function certificateProblem(pem: string): string | undefined {
  const blocks = [...pem.matchAll(/-----BEGIN ([^-\n]*)-----\s([^-]*)-----END \1-----/g)]
  if (blocks.length === 0) return 'must contain at least one CERTIFICATE PEM block'
  for (const [block, type, content = ''] of blocks) {
    if (type !== 'CERTIFICATE') return `only CERTIFICATE PEM blocks are allowed, found ${JSON.stringify(type)}`
    if (content.includes(':')) return 'no PEM block headers are permitted'
    try {
      new X509Certificate(block)
    } catch {
      return 'x509: malformed certificate'
    }
  }
  return undefined
}

/** What a change may do beside changing metadata. */
interface Allowed {
  readonly approval?: true
  readonly certificate?: true
}

/** What a change of the whole, which has only metadata, may not do. */
export const validateSigningRequestUpdate = (
  changed: CertificateSigningRequest,
  old: CertificateSigningRequest,
): readonly FieldError[] => validateChange(changed, old, {})

/** What a signer may not do: approve, and put another certificate in the place of one. */
export const validateSigningRequestStatusUpdate = (
  changed: CertificateSigningRequest,
  old: CertificateSigningRequest,
): readonly FieldError[] => [...newErrors(changed, old), ...validateChange(changed, old, { certificate: true })]

/** What whoever approves may not do: take back what has been decided, and sign. */
export const validateSigningRequestApproval = (
  changed: CertificateSigningRequest,
  old: CertificateSigningRequest,
): readonly FieldError[] => [...newErrors(changed, old), ...validateChange(changed, old, { approval: true })]

/** What is wrong with a request and was not so before: a decision can be made about one that an older server has let in. */
function newErrors(changed: CertificateSigningRequest, old: CertificateSigningRequest): readonly FieldError[] {
  const errors = validateSigningRequest(changed)
  if (errors.length === 0) return errors
  const known = new Set(validateSigningRequest(old).map(describeFieldError))
  return errors.filter((error) => !known.has(describeFieldError(error)))
}

function validateChange(
  changed: CertificateSigningRequest,
  old: CertificateSigningRequest,
  allowed: Allowed,
): readonly FieldError[] {
  return [
    ...decided.flatMap((type) => validateDecision(type, conditionsOf(changed), conditionsOf(old), allowed)),
    ...validateNewCertificate(changed.status?.certificate ?? '', old.status?.certificate ?? '', allowed),
  ]
}

function validateDecision(
  type: string,
  conditions: readonly Condition[],
  old: readonly Condition[],
  { approval = false }: { readonly approval?: boolean },
): readonly FieldError[] {
  const after = conditions.filter((each) => each.type === type)
  const before = old.filter((each) => each.type === type)
  if (after.length < before.length) {
    return [forbiddenField(conditionsPath, `updates may not remove a condition of type "${type}"`)]
  }
  if (approval || type === 'Failed') return []
  if (after.length > before.length) {
    return [forbiddenField(conditionsPath, `updates may not add a condition of type "${type}"`)]
  }
  return deepEqual(after, before)
    ? []
    : [forbiddenField(conditionsPath, `updates may not modify a condition of type "${type}"`)]
}

function validateNewCertificate(certificate: string, old: string, allowed: Allowed): readonly FieldError[] {
  if (certificate === old) return []
  if (allowed.certificate !== true) return [forbiddenField(certificatePath, 'updates may not set certificate content')]
  return old === '' ? [] : [forbiddenField(certificatePath, 'updates may not modify existing certificate content')]
}
