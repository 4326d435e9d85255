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

/** Throws a BadRequest where there is no token to ask about. */
export function checkTokenReview(review: TokenReview): void {
  if (specOf(review).token === undefined) throw badRequest('token is required for TokenReview in authentication')
}

/** Whose a token is: one that is known as such, one of an issuer who is trusted, or one of a service account. */
export async function answerTokenReview(
  review: TokenReview,
  { known, issued, configuredAuthentication }: ReviewedTokens,
): Promise<TokenReview> {
  const { token = '', audiences: asked = [] } = specOf(review)
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

/** It may have been left out as a whole, and so may a token, which is never empty. */
function specOf({ spec }: TokenReview): Partial<TokenReview['spec']> {
  const { token = '', ...others } = (spec ?? {}) as Partial<TokenReview['spec']>
  return token === '' ? others : { ...others, token }
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
