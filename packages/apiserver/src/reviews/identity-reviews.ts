import { badRequest, formatTime, type SelfSubjectReview, type TokenReview, type UserInfo } from '@coracle/api'
import type { Time } from '@coracle/environment'
import type { User } from '../request.ts'
import type { ConfiguredAuthentication, TokenAuthenticator } from '../security/authentication.ts'
import {
  apiAudience,
  notMeantFor,
  type ServiceAccountTokens,
} from '../service-account-tokens/service-account-tokens.ts'

/** Who makes the request: impersonated users see who they are taken for. */
export function answerSelfSubjectReview(review: SelfSubjectReview, user: User, nowMs: Time): SelfSubjectReview {
  return {
    ...review,
    metadata: { creationTimestamp: formatTime(nowMs) },
    status: { userInfo: infoOf(user) },
  }
}

/** What a token may be that somebody asks about. */
export interface ReviewedTokens {
  /** Whose it is, of those that are known as such. */
  readonly known: TokenAuthenticator
  /** Tokens of service accounts. */
  readonly issued: ServiceAccountTokens | undefined
  /** Tokens of issuers who are trusted. */
  readonly configuredAuthentication: Pick<ConfiguredAuthentication, 'verify'> | undefined
}

/** Whose a token is: one that is known as such, one of an issuer who is trusted, or one of a service account. Throws a BadRequest where there is none. */
export async function answerTokenReview(
  review: TokenReview,
  { known, issued, configuredAuthentication }: ReviewedTokens,
): Promise<TokenReview> {
  // It may have been left out as a whole.
  const { token = '', audiences: asked = [] } = (review.spec ?? {}) as Partial<TokenReview['spec']>
  if (token === '') throw badRequest('token is required for TokenReview in authentication')
  const audiences = asked.length === 0 ? [apiAudience] : asked
  const user = known(token)
  // A token that does not say for whom it is is for this server.
  if (user !== undefined && audiences.includes(apiAudience)) return good(review, user, [apiAudience])
  const elsewhere = audiences.includes(apiAudience) ? configuredAuthentication?.verify(token) : undefined
  const verified = (await (elsewhere ?? issued?.verify(token, audiences))) ?? 'invalid bearer token'
  if (typeof verified !== 'string') return good(review, verified.user, verified.audiences)
  const error = user === undefined ? verified : notMeantFor([apiAudience], audiences)
  return { ...review, status: { error } }
}

const good = (review: TokenReview, user: User, audiences: readonly string[]): TokenReview => ({
  ...review,
  status: { authenticated: true, user: infoOf(user), audiences },
})

function infoOf({ name, groups, uid, extra }: User): UserInfo {
  return {
    username: name,
    ...(uid === undefined ? {} : { uid }),
    groups,
    ...(extra === undefined || Object.keys(extra).length === 0 ? {} : { extra }),
  }
}
