import {
  apiClientSigner,
  type CertificateSigningRequest,
  certificateSigningRequests,
  deepEqual,
  parseCertificateRequest,
} from '@coracle/api'
import type { Authorizer, User } from '../request.ts'
import type { AdmissionPlugin, AdmissionTarget } from './admission.ts'
import { forbiddenByAdmission } from './forbidden.ts'
import { creates } from './stored-objects.ts'

/** A new CertificateSigningRequest says who made it, whatever it said of that itself: those who approve go by it. */
export const certificateRequester: AdmissionPlugin = {
  name: 'CertificateRequester',
  concerns: (target) => creates(target, certificateSigningRequests),
  mutate(attributes, object) {
    const request = object as CertificateSigningRequest
    const { request: pem, signerName, expirationSeconds, usages } = request.spec
    const { name: username, uid, groups, extra } = attributes.context.user
    const spec = { request: pem, signerName, expirationSeconds, usages, username, uid, groups, extra }
    const given = Object.fromEntries(Object.entries(spec).filter(([, value]) => value !== undefined))
    return { ...request, spec: given } as unknown as CertificateSigningRequest
  },
}

/** Only who may approve for the signer of a request approves or denies it. */
export function certificateApproval(authorizer: Authorizer): AdmissionPlugin {
  return {
    name: 'CertificateApproval',
    concerns: (target) => changes(target, 'approval'),
    validate(attributes, object) {
      const { signerName } = (attributes.old as CertificateSigningRequest).spec
      if (may(authorizer, attributes.context.user, 'approve', signerName)) return
      throw forbiddenByAdmission(
        attributes,
        object,
        `user not permitted to approve requests with signerName ${JSON.stringify(signerName)}`,
      )
    },
  }
}

/** Only who may sign for the signer of a request gives it a certificate, or says what has become of it. */
export function certificateSigning(authorizer: Authorizer): AdmissionPlugin {
  return {
    name: 'CertificateSigning',
    concerns: (target) => changes(target, 'status'),
    validate(attributes, object) {
      const old = attributes.old as CertificateSigningRequest
      const { status } = object as CertificateSigningRequest
      if (
        (status?.certificate ?? '') === (old.status?.certificate ?? '') &&
        deepEqual(status?.conditions ?? [], old.status?.conditions ?? [])
      ) {
        return
      }
      const { signerName } = old.spec
      if (may(authorizer, attributes.context.user, 'sign', signerName)) return
      throw forbiddenByAdmission(
        attributes,
        object,
        `user not permitted to sign requests with signerName ${JSON.stringify(signerName)}`,
      )
    },
  }
}

/** Nobody becomes a member of `system:masters`, who may do everything, by a certificate that is asked for. */
export const certificateSubjectRestriction: AdmissionPlugin = {
  name: 'CertificateSubjectRestriction',
  concerns: (target) => creates(target, certificateSigningRequests),
  validate(attributes, object) {
    const { request, signerName } = (object as CertificateSigningRequest).spec
    if (signerName !== apiClientSigner) return
    const { subject } = parseCertificateRequest(Buffer.from(request, 'base64').toString('latin1'))
    if (!subject.organization.includes('system:masters')) return
    throw forbiddenByAdmission(
      attributes,
      object,
      `use of ${apiClientSigner} signer with system:masters group is not allowed`,
    )
  },
}

const changes = ({ operation, definition, subresource }: AdmissionTarget, part: string): boolean =>
  operation === 'UPDATE' &&
  definition.group === certificateSigningRequests.group &&
  definition.plural === certificateSigningRequests.plural &&
  subresource === part

/** Whether somebody may do this for the signer, or for all signers of its domain. */
function may(authorizer: Authorizer, user: User, verb: 'approve' | 'sign', signerName: string): boolean {
  const [domain = ''] = signerName.split('/')
  const signers = { group: 'certificates.k8s.io', version: '*', kind: '', plural: 'signers', namespaced: false }
  return [signerName, `${domain}/*`].some(
    (name) =>
      authorizer.refuse(user, { kind: 'resource', verb, resource: signers, subresource: '', namespace: '', name }) ===
      undefined,
  )
}
