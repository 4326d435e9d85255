import { type CertificateSigningRequest, validateSigningRequestApproval, withApproval } from '@coracle/api'
import type { Environment } from '@coracle/environment'
import type { ResourceRegistry } from '../registry/resource-registry.ts'
import { objectPart } from './object-part.ts'
import type { Subresource } from './subresource.ts'

/** `certificatesigningrequests/approval`: the request, of which only the conditions may be changed, and metadata. */
export const approvalSubresource = (registry: ResourceRegistry, { clock }: Environment): Subresource =>
  objectPart<CertificateSigningRequest>(registry, {
    subresource: 'approval',
    makesGenerations: false,
    withPart: (request, written) => withApproval(request, written, clock.now()),
    validate: validateSigningRequestApproval,
  })
