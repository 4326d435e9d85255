import { badRequest, type SelfSubjectRulesReview } from '@coracle/api'
import type { Authorizer, User } from '../request.ts'

/** Throws a BadRequest where no namespace is named. */
export function checkRulesReview({ spec: { namespace = '' } }: SelfSubjectRulesReview): void {
  if (namespace === '') throw badRequest('no namespace on request')
}

/** What somebody may do in a namespace. */
export function answerRulesReview(
  review: SelfSubjectRulesReview,
  authorizer: Authorizer,
  user: User,
): SelfSubjectRulesReview {
  const { namespace = '' } = review.spec
  const { resources = [], paths = [], incomplete, error } = authorizer.rulesFor?.(user, namespace) ?? {}
  const problems = [incomplete, error].filter((problem) => problem !== undefined)
  return {
    ...review,
    metadata: {},
    spec: {},
    status: {
      resourceRules: resources,
      nonResourceRules: paths,
      incomplete: incomplete !== undefined,
      ...(problems.length === 0
        ? {}
        : { evaluationError: problems.length === 1 ? problems[0] : `[${problems.join(', ')}]` }),
    },
  }
}
