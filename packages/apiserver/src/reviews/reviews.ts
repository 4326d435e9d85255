import {
  localSubjectAccessReviews,
  selfSubjectAccessReviews,
  selfSubjectReviews,
  selfSubjectRulesReviews,
  subjectAccessReviews,
  tokenReviews,
} from '@coracle/api'
import type { Clock } from '@coracle/environment'
import type { Registries } from '../registries.ts'
import { PostedRegistry } from '../registry/posted-registry.ts'
import type { Authorizer } from '../request.ts'
import { AccessReviews } from './access-reviews.ts'
import { answerSelfSubjectReview, answerTokenReview, type ReviewedTokens } from './identity-reviews.ts'
import { answerRulesReview } from './rules-review.ts'

/**
 * Serves what is asked about users and their rights (authentication.k8s.io and authorization.k8s.io). The answers come from what
 * decides about requests itself. Reviews are questions and no writes: nothing is stored, and admission does not see them.
 */
export function serveReviews(
  registries: Registries,
  authorizer: Authorizer,
  clock: Clock,
  tokens: ReviewedTokens,
): void {
  const access = new AccessReviews(registries, authorizer)
  const all = [
    new PostedRegistry(selfSubjectReviews, (review, { user }) => answerSelfSubjectReview(review, user, clock.now())),
    new PostedRegistry(tokenReviews, (review) => answerTokenReview(review, tokens)),
    new PostedRegistry(subjectAccessReviews, access.answer),
    new PostedRegistry(localSubjectAccessReviews, access.answerLocal),
    new PostedRegistry(selfSubjectAccessReviews, (review, { user }) => access.answerSelf(review, user)),
    new PostedRegistry(selfSubjectRulesReviews, (review, { user }) => answerRulesReview(review, authorizer, user)),
  ]
  for (const registry of all) registries.addComputed(registry)
}
