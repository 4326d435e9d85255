import { kindSchema } from '../../meta.ts'
import { atomicList, boolean, object, optional, required, string } from '../../schema/builders.ts'
import type { Infer } from '../../schema/schema.ts'
import { resourceDefinition } from '../kind.ts'
import { authenticationV1 } from '../meta/names.ts'
import { userInfo } from './user-info.ts'

const spec = object(`${authenticationV1}.TokenReviewSpec`, 'What is asked about a token.', {
  audiences: optional(
    atomicList(string()),
    'Who the token is shown to: it is good if it is meant for one of them. Without any, for the API server.',
  ),
  token: required(string(), 'The opaque bearer token.', { default: '' }),
})

const status = object(`${authenticationV1}.TokenReviewStatus`, 'The answer of the server.', {
  audiences: optional(atomicList(string()), 'Those of the audiences asked about that the token is meant for.'),
  authenticated: optional(boolean, 'Whether the token is good.'),
  error: optional(string(), 'Why the token could not be checked.'),
  user: optional(userInfo, 'Whose token it is.'),
})

/** Asks whose a bearer token is. Never stored. */
export interface TokenReview extends Infer<typeof tokenReviewSchema> {}
export const tokenReviewSchema = kindSchema(
  `${authenticationV1}.TokenReview`,
  'Asks whose a bearer token is. For servers that were shown one.',
  { spec: required(spec, 'What is asked.'), status: optional(status, 'Filled in by the server.') },
)

export const tokenReviews = resourceDefinition<TokenReview>(tokenReviewSchema, {
  plural: 'tokenreviews',
  namespaced: false,
  verbs: ['create'],
})
