import {
  type KubernetesObject,
  localSubjectAccessReviews,
  type ResourceDefinition,
  selfSubjectAccessReviews,
  selfSubjectReviews,
  selfSubjectRulesReviews,
  subjectAccessReviews,
  tokenReviews,
} from '@coracle/api'
import type { Clock } from '@coracle/environment'
import type { AdmissionChain } from '../admission/admission.ts'
import type { Registries } from '../registries.ts'
import { type PostedAnswer, PostedRegistry } from '../registry/posted-registry.ts'
import type { Authorizer } from '../request.ts'
import { AccessReviews } from './access-reviews.ts'
import {
  answerSelfSubjectReview,
  answerTokenReview,
  checkTokenReview,
  type ReviewedTokens,
} from './identity-reviews.ts'
import { answerRulesReview, checkRulesReview } from './rules-review.ts'

/**
 * Serves what is asked about users and their rights (authentication.k8s.io and authorization.k8s.io). The answers come from what
 * decides about requests itself. Nothing is stored; admission sees a review as the creation it is.
 */
export function serveReviews(
  registries: Registries,
  admission: AdmissionChain,
  authorizer: Authorizer,
  clock: Clock,
  tokens: ReviewedTokens,
): void {
  const access = new AccessReviews(registries, authorizer)
  const serve = <T extends KubernetesObject>(definition: ResourceDefinition<T>, answer: PostedAnswer<T>) =>
    registries.addComputed(new PostedRegistry(definition, admission, answer))
  serve(selfSubjectReviews, { answer: (review, { user }) => answerSelfSubjectReview(review, user, clock.now()) })
  serve(tokenReviews, { check: checkTokenReview, answer: (review) => answerTokenReview(review, tokens) })
  serve(subjectAccessReviews, access.ofSubjects)
  serve(localSubjectAccessReviews, access.local)
  serve(selfSubjectAccessReviews, access.self)
  serve(selfSubjectRulesReviews, {
    check: checkRulesReview,
    answer: (review, { user }) => answerRulesReview(review, authorizer, user),
  })
}
