import {
  type FieldError,
  invalid,
  type LocalSubjectAccessReview,
  localSubjectAccessReviews,
  type NonResourceAttributes,
  type ResourceAttributes,
  type ResourceDefinition,
  type SelfSubjectAccessReview,
  type SubjectAccessReview,
  type SubjectAccessReviewSpec,
  type SubjectAccessReviewStatus,
  selfSubjectAccessReviews,
  subjectAccessReviews,
  validateLocalSubjectAccessReview,
  validateSelfSubjectAccessReview,
  validateSubjectAccessReview,
} from '@coracle/api'
import { resourceOf } from '../admission/matching/expression-authorizer.ts'
import type { Registries } from '../registries.ts'
import type { PostedAnswer } from '../registry/posted-registry.ts'
import type { Authorizer, RequestAttributes, User } from '../request.ts'
import { askedSelectors } from './asked-selectors.ts'

/** Answers whether somebody may do something, by the authorizer that would be asked if they did it. */
export class AccessReviews {
  readonly #registries: Registries
  readonly #authorizer: Authorizer

  constructor(registries: Registries, authorizer: Authorizer) {
    this.#registries = registries
    this.#authorizer = authorizer
  }

  readonly ofSubjects: PostedAnswer<SubjectAccessReview> = {
    check: (review) => check(subjectAccessReviews, validateSubjectAccessReview(review)),
    answer: (review) => ({ ...review, status: this.#statusOf(userOf(review.spec), review.spec) }),
  }

  readonly local: PostedAnswer<LocalSubjectAccessReview> = {
    check: (review) => check(localSubjectAccessReviews, validateLocalSubjectAccessReview(review)),
    answer: (review) => ({ ...review, status: this.#statusOf(userOf(review.spec), review.spec) }),
  }

  /** Of whoever asks. */
  readonly self: PostedAnswer<SelfSubjectAccessReview> = {
    check: (review) => check(selfSubjectAccessReviews, validateSelfSubjectAccessReview(review)),
    answer: (review, { user }) => ({ ...review, status: this.#statusOf(user, review.spec) }),
  }

  #statusOf(user: User, { resourceAttributes, nonResourceAttributes = {} }: AskedAbout): SubjectAccessReviewStatus {
    if (resourceAttributes === undefined) {
      const { verb = '', path = '' } = nonResourceAttributes
      return this.#decided(user, { kind: 'path', verb, path })
    }
    const { fieldSelector, evaluationError } = askedSelectors(resourceAttributes)
    const status = this.#decided(user, this.#attributesOf(resourceAttributes, fieldSelector))
    return evaluationError === '' ? status : { ...status, evaluationError }
  }

  #decided(user: User, attributes: RequestAttributes): SubjectAccessReviewStatus {
    const reason = this.#authorizer.refuse(user, attributes)
    const allowed = reason === undefined
    const why = allowed ? (this.#authorizer.allowedBy?.(user, attributes) ?? '') : reason
    return why === '' ? { allowed } : { allowed, reason: why }
  }

  /** Other than of a request, the name is what the review says it is, whatever the selector selects. */
  #attributesOf(asked: ResourceAttributes, fieldSelector: string): RequestAttributes {
    const { verb = '', group = '', resource: plural = '', subresource = '', namespace = '', name = '' } = asked
    const resource = resourceOf(this.#registries, group, plural)
    const attributes = { kind: 'resource', verb, resource, subresource, namespace, name } as const
    return fieldSelector === '' ? attributes : { ...attributes, fieldSelector }
  }
}

interface AskedAbout {
  readonly resourceAttributes?: ResourceAttributes | undefined
  readonly nonResourceAttributes?: NonResourceAttributes | undefined
}

/** Upstream says neither the kind nor the name of what it refuses. */
function check(definition: ResourceDefinition, errors: readonly FieldError[]): void {
  if (errors.length > 0) throw invalid({ ...definition, kind: '' }, '', errors)
}

const userOf = ({ user = '', groups = [], uid, extra }: SubjectAccessReviewSpec): User => ({
  name: user,
  groups,
  ...(uid === undefined ? {} : { uid }),
  ...(extra === undefined ? {} : { extra }),
})
