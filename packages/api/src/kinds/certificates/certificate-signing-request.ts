import type { FieldError } from '../../field-error.ts'
import { finderOf } from '../../finder.ts'
import { humanDuration } from '../../human-duration.ts'
import { formatTime } from '../../time.ts'
import { ageColumn, column, nameColumn } from '../columns.ts'
import { kind } from '../kind.ts'
import {
  type CertificateSigningRequest,
  type CertificateSigningRequestCondition,
  certificateSigningRequestSchema,
} from './certificate-signing-request-schema.ts'
import { requestChecks } from './request-checks.ts'

/** Whether a condition of this type has been set. */
export const hasDecision = ({ status }: CertificateSigningRequest, type: 'Approved' | 'Denied' | 'Failed'): boolean =>
  (status?.conditions ?? []).some((condition) => condition.type === type)

/** What has become of a request, in the words of upstream's tables: `Approved,Issued`. */
export function signingRequestState(signingRequest: CertificateSigningRequest): string {
  const decision = (['Denied', 'Approved'] as const).find((type) => hasDecision(signingRequest, type)) ?? 'Pending'
  const failed = hasDecision(signingRequest, 'Failed') ? ',Failed' : ''
  return `${decision}${failed}${signingRequest.status?.certificate ? ',Issued' : ''}`
}

/** For how long a certificate is asked for, for people; undefined where that is left to the signer. */
export const requestedDuration = ({ spec }: CertificateSigningRequest): string | undefined =>
  spec.expirationSeconds === undefined ? undefined : humanDuration(spec.expirationSeconds * 1000)

/**
 * The request as it is after somebody has approved or denied it: of what they wrote the metadata and the conditions
 * count.
 */
export function withApproval(
  old: CertificateSigningRequest,
  { metadata, status }: CertificateSigningRequest,
  nowMs: number,
): CertificateSigningRequest {
  const conditions = withTimes(status?.conditions ?? [], old.status?.conditions ?? [], nowMs)
  return { ...old, metadata, status: { ...old.status, conditions } }
}

/** Signers do not approve: what has been decided stays as it is, unless they add or remove such conditions, which is refused. */
function withSignersPart(
  changed: CertificateSigningRequest,
  old: CertificateSigningRequest,
  nowMs: number,
): CertificateSigningRequest {
  const { conditions } = changed.status ?? {}
  if (conditions === undefined) return changed
  const before = old.status?.conditions ?? []
  const decisions = new Map(
    before.filter(({ type }) => type === 'Approved' || type === 'Denied').map((each) => [each.type, each]),
  )
  const kept = conditions.map((each) => decisions.get(each.type) ?? each)
  return { ...changed, status: { ...changed.status, conditions: withTimes(kept, before, nowMs) } }
}

/** Conditions with the times that were left out: of the change, or of the condition as it was where its status is the same. */
function withTimes(
  conditions: readonly CertificateSigningRequestCondition[],
  old: readonly CertificateSigningRequestCondition[],
  nowMs: number,
): readonly CertificateSigningRequestCondition[] {
  const now = formatTime(nowMs)
  const find = finderOf(old, keyOf)
  return conditions.map((condition) => {
    const { lastUpdateTime = now, lastTransitionTime } = condition
    const same = find(keyOf(condition))
    return {
      ...condition,
      lastUpdateTime,
      lastTransitionTime: lastTransitionTime ?? same?.lastTransitionTime ?? now,
    }
  })
}

const keyOf = ({ type, status }: CertificateSigningRequestCondition): string => JSON.stringify([type, status])

/** `certificates.k8s.io/v1` certificatesigningrequests. */
export const certificateSigningRequests = kind<CertificateSigningRequest>(certificateSigningRequestSchema, {
  plural: 'certificatesigningrequests',
  group: 'certificates.k8s.io',
  shortNames: ['csr'],
  namespaced: false,
  nameFormat: 'path-segment',
  subresources: { approval: { kind: 'CertificateSigningRequest', verbs: ['get', 'patch', 'update'] } },
  selectableFields: { 'spec.signerName': ({ spec }) => spec.signerName },
  columns: [
    nameColumn,
    ageColumn,
    column('SignerName', ({ spec }) => spec.signerName || '<none>', { field: 'spec.signerName' }),
    column('Requestor', ({ spec }) => spec.username ?? '', { field: 'spec.username' }),
    column('RequestedDuration', (request) => requestedDuration(request) ?? '<none>', {
      type: 'string',
      description: 'For how long the certificate is asked to be good.',
    }),
    column('Condition', signingRequestState, { type: 'string', description: 'What has become of it.' }),
  ],
  rules: {
    resetFields: {
      '': { 'f:spec': {}, 'f:status': {} },
      status: { 'f:spec': {}, 'f:status': { 'f:conditions': {} } },
      approval: { 'f:spec': {}, 'f:status': { 'f:certificate': {} } },
    },
  },
  prepareForUpdate: (changed, old) => ({ ...changed, spec: old.spec }),
  prepareForStatusUpdate: withSignersPart,
  load: requestChecks.load,
  validate: (request) => requestChecks.get().validateSigningRequest(request),
  validateUpdate: (request, old) => requestChecks.get().validateSigningRequestUpdate(request, old),
  validateStatusUpdate: (request, old) => requestChecks.get().validateSigningRequestStatusUpdate(request, old),
})

/** What is wrong with an approval or denial. The strategy of the kind must be loaded. */
export const validateSigningRequestApproval = (
  request: CertificateSigningRequest,
  old: CertificateSigningRequest,
): readonly FieldError[] => requestChecks.get().validateSigningRequestApproval(request, old)
