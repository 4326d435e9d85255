import {
  type CertificateSigningRequest,
  certificateSigningRequests,
  type Endpoints,
  endpoints,
  hasReason,
  nodes,
  type SubjectAccessReview,
  serviceCidrs,
  subjectAccessReviews,
} from '@coracle/api'
import { type Controller, controller, performPlan } from '@coracle/controller-runtime'
import type { Time } from '@coracle/environment'
import { timeOf } from '../pods/pod-state.ts'
import { type ApprovalRight, planApproval, rightsForApproval } from './plan-approval.ts'
import { planCleanup } from './plan-cleanup.ts'
import { isServingRequest, planServingApproval, servingRefusal } from './plan-serving-approval.ts'
import { isToBeSigned, planSigning, type WantedCertificate } from './plan-signing.ts'

export interface CertificateSignerOptions {
  /** Makes certificates, in PEM, in the name of the cluster's authority; without one nothing is signed. */
  readonly issueCertificate?: ((wanted: WantedCertificate) => string) | undefined
}

/** Signs approved requests for the signers of the cluster's own. */
export function createCertificateSigner({ issueCertificate }: CertificateSignerOptions): Controller {
  return controller('certificatesigningrequest-signing-controller')
    .for(certificateSigningRequests, { predicates: [({ object }) => isToBeSigned(object)] })
    .reconcile(async ({ object: request }, context) => {
      if (request === undefined || issueCertificate === undefined) return undefined
      return performPlan(context, request, planSigning(request, issueCertificate))
    })
}

/** Approves requests of node agents for their client certificates, where who asks has the right to that. */
export function createCertificateApprover(): Controller {
  return controller('certificatesigningrequest-approving-controller')
    .for(certificateSigningRequests, { predicates: [({ object }) => rightsForApproval(object).length > 0] })
    .reconcile(async ({ object: request }, context) => {
      const rights = request === undefined ? [] : rightsForApproval(request)
      if (request === undefined || rights.length === 0) return undefined
      for (const right of rights) {
        const review = await context.client.create(subjectAccessReviews, reviewOf(request.spec, right))
        if (review.status?.allowed === true) return performPlan(context, request, planApproval(request, right))
      }
      // Whoever asks may get the right yet.
      return { requeueAfterMs: askAgainMs(request, context.clock.now()) }
    })
}

export interface ServingApproverOptions {
  /** Names and addresses that the certificate of the API server has. */
  readonly serverNames?: readonly string[] | undefined
}

/**
 * Approves requests of nodes for the certificates of their servers, where these name that node and nothing else. Upstream leaves that to
 * administrators: what is not approved here is, too, and an event says why.
 */
export function createServingCertificateApprover({ serverNames = [] }: ServingApproverOptions): Controller {
  return controller('kubelet-serving-approving-controller')
    .for(certificateSigningRequests, { predicates: [({ object }) => isServingRequest(object)] })
    .reads(nodes)
    .reconcile(async ({ object: request }, context) => {
      if (request === undefined || !isServingRequest(request)) return undefined
      const [{ items: ranges }, servers] = await Promise.all([
        context.client.list(serviceCidrs),
        context.client.get(endpoints, { namespace: 'default', name: 'kubernetes' }).catch(absent),
      ])
      const why = servingRefusal(request, {
        nodes: context.informer(nodes).list(),
        serverNames: [...serverNames, ...addressesOf(servers)],
        serviceRanges: ranges.flatMap(({ spec }) => spec?.cidrs ?? []),
      })
      if (why === undefined) return performPlan(context, request, planServingApproval(request))
      const ageMs = context.clock.now() - (timeOf(request.metadata.creationTimestamp) ?? 0)
      if (ageMs >= tellAfterMs)
        context.recorder.event(request, 'Warning', 'NotApproved', `Left to administrators: ${why}`)
      // The node may be about to say which addresses it has.
      return { requeueAfterMs: askAgainMs(request, context.clock.now()) }
    })
}

/** What is not right at once may be in a moment, and is not worth a word. */
const tellAfterMs = 5_000

function absent(error: unknown): undefined {
  if (!hasReason(error, 'NotFound')) throw error
}

const addressesOf = (servers: Endpoints | undefined): readonly string[] =>
  (servers?.subsets ?? []).flatMap(({ addresses = [] }) => addresses.map(({ ip }) => ip))

const askAgainMinMs = 200
const askAgainMaxMs = 1_000_000

/**
 * When it is asked again whether a request may be approved: each time after twice as long, as upstream's does. One that is yet to be made, as the
 * clock was set back since, is not asked about all the time until then.
 */
function askAgainMs({ metadata }: CertificateSigningRequest, nowMs: Time): number {
  const ageMs = Math.abs(nowMs - (timeOf(metadata.creationTimestamp) ?? nowMs))
  return Math.min(Math.max(ageMs, askAgainMinMs), askAgainMaxMs)
}

/** Deletes requests that have been dealt with, and those that nobody deals with. */
export function createCertificateRequestCleaner(): Controller {
  return controller('certificatesigningrequest-cleaner-controller')
    .for(certificateSigningRequests)
    .reconcile(async ({ object: request }, context) => {
      if (request === undefined) return undefined
      return performPlan(context, request, planCleanup(request, context.clock.now()))
    })
}

/** Asks whether somebody may create this subresource, of which there is none: upstream's way to say who is trusted. */
function reviewOf(
  { username, uid, groups, extra }: CertificateSigningRequest['spec'],
  subresource: ApprovalRight,
): SubjectAccessReview {
  const resourceAttributes = {
    group: 'certificates.k8s.io',
    resource: 'certificatesigningrequests',
    verb: 'create',
    subresource,
  }
  return {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SubjectAccessReview',
    metadata: {},
    spec: { user: username, uid, groups, extra, resourceAttributes },
  } as SubjectAccessReview
}
