import { badRequest, type SelfSubjectRulesReview } from '@coracle/api'
import type { Authorizer, User } from '../request.ts'

/** What somebody may do in a namespace. Throws a BadRequest where none is named. */
export function answerRulesReview(
  review: SelfSubjectRulesReview,
  authorizer: Authorizer,
  user: User,
): SelfSubjectRulesReview {
  const { namespace = '' } = review.spec
  if (namespace === '') throw badRequest('no namespace on request')
  const { resources = [], paths = [], incomplete } = authorizer.rulesFor?.(user, namespace) ?? {}
  return {
    ...review,
    spec: {},
    status: {
      resourceRules: resources,
      nonResourceRules: paths,
      incomplete: incomplete !== undefined,
      ...(incomplete === undefined ? {} : { evaluationError: incomplete }),
    },
  }
}
