import type {
  LocalSubjectAccessReview,
  SelfSubjectAccessReview,
  SelfSubjectReview,
  SelfSubjectRulesReview,
  SubjectAccessReview,
  TokenReview,
} from '@coracle/api'
import type { Clock } from '@coracle/environment'
import type { Registries } from '../registries.ts'
import type { PostedAnswer } from '../registry/posted-registry.ts'
import type { Authorizer } from '../request.ts'
import { AccessReviews } from './access-reviews.ts'
import {
  answerSelfSubjectReview,
  answerTokenReview,
  checkTokenReview,
  type ReviewedTokens,
} from './identity-reviews.ts'
import { answerRulesReview, checkRulesReview } from './rules-review.ts'

/** What answers come from. */
export interface ReviewParts {
  readonly registries: Registries
  readonly authorizer: Authorizer
  readonly clock: Clock
  readonly tokens: ReviewedTokens
}

/** The answers to each kind of review. */
export interface ReviewAnswers {
  readonly selfSubject: PostedAnswer<SelfSubjectReview>
  readonly token: PostedAnswer<TokenReview>
  readonly subjectAccess: PostedAnswer<SubjectAccessReview>
  readonly localSubjectAccess: PostedAnswer<LocalSubjectAccessReview>
  readonly selfSubjectAccess: PostedAnswer<SelfSubjectAccessReview>
  readonly selfSubjectRules: PostedAnswer<SelfSubjectRulesReview>
}

export function reviewAnswers({ registries, authorizer, clock, tokens }: ReviewParts): ReviewAnswers {
  const access = new AccessReviews(registries, authorizer)
  return {
    selfSubject: { answer: (review, { user }) => answerSelfSubjectReview(review, user, clock.now()) },
    token: { check: checkTokenReview, answer: (review) => answerTokenReview(review, tokens) },
    subjectAccess: access.ofSubjects,
    localSubjectAccess: access.local,
    selfSubjectAccess: access.self,
    selfSubjectRules: {
      check: checkRulesReview,
      answer: (review, { user }) => answerRulesReview(review, authorizer, user),
    },
  }
}
