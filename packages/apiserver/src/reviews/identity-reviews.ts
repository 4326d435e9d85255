import { badRequest, formatTime, type SelfSubjectReview, type TokenReview, type UserInfo } from '@coracle/api'
import type { Time } from '@coracle/environment'
import type { User } from '../request.ts'
import type { TokenAuthenticator } from '../security/authentication.ts'

/** Whom tokens are meant for that say nothing else: this server. Upstream's first API audience, its default issuer. */
export const apiAudience = 'https://kubernetes.default.svc.cluster.local'

/** Who makes the request: impersonated users see who they are taken for. */
export function answerSelfSubjectReview(review: SelfSubjectReview, user: User, nowMs: Time): SelfSubjectReview {
  return {
    ...review,
    metadata: { creationTimestamp: formatTime(nowMs) },
    status: { userInfo: infoOf(user) },
  }
}

/** Whose a token is. Throws a BadRequest where there is none. */
export function answerTokenReview(review: TokenReview, authenticate: TokenAuthenticator): TokenReview {
  const { token, audiences = [] } = review.spec
  if (token === '') throw badRequest('token is required for TokenReview in authentication')
  // No token here says for whom it is: all are for this server.
  const isForUs = audiences.length === 0 || audiences.includes(apiAudience)
  const user = isForUs ? authenticate(token) : undefined
  if (user !== undefined) {
    return { ...review, status: { authenticated: true, user: infoOf(user), audiences: [apiAudience] } }
  }
  const error = isForUs
    ? 'invalid bearer token'
    : `token audiences ["${apiAudience}"] is invalid for the target audiences ${JSON.stringify(audiences)}`
  return { ...review, status: { error } }
}

function infoOf({ name, groups, uid, extra }: User): UserInfo {
  return {
    username: name,
    ...(uid === undefined ? {} : { uid }),
    groups,
    ...(extra === undefined || Object.keys(extra).length === 0 ? {} : { extra }),
  }
}
