import { kindSchema } from '../../meta.ts'
import { object, optional } from '../../schema/builders.ts'
import type { Infer } from '../../schema/schema.ts'
import { resourceDefinition } from '../kind.ts'
import { authenticationV1 } from '../meta/names.ts'
import { userInfo } from './user-info.ts'

const status = object(`${authenticationV1}.SelfSubjectReviewStatus`, 'The answer of the server.', {
  userInfo: optional(userInfo, 'Who makes the request.'),
})

/** Asks the server as whom it sees the one who asks. Never stored. */
export interface SelfSubjectReview extends Infer<typeof selfSubjectReviewSchema> {}
export const selfSubjectReviewSchema = kindSchema(
  `${authenticationV1}.SelfSubjectReview`,
  'Tells who makes the request, as the server sees it. With impersonation it is the impersonated user.',
  { status: optional(status, 'Filled in by the server.') },
)

export const selfSubjectReviews = resourceDefinition<SelfSubjectReview>(selfSubjectReviewSchema, {
  plural: 'selfsubjectreviews',
  namespaced: false,
  verbs: ['create'],
})
