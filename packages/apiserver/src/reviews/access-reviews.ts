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
import { type Authorizer, collectionAttributes, type RequestAttributes, type User } from '../request.ts'

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
    const attributes =
      resourceAttributes === undefined
        ? ({ kind: 'path', verb: nonResourceAttributes.verb ?? '', path: nonResourceAttributes.path ?? '' } as const)
        : this.#attributesOf(resourceAttributes)
    const reason = this.#authorizer.refuse(user, attributes)
    const allowed = reason === undefined
    const why = allowed ? (this.#authorizer.allowedBy?.(user, attributes) ?? '') : reason
    return why === '' ? { allowed } : { allowed, reason: why }
  }

  #attributesOf(asked: ResourceAttributes): RequestAttributes {
    const { verb = '', group = '', resource: plural = '', subresource = '', namespace = '', name = '' } = asked
    const resource = resourceOf(this.#registries, group, plural)
    const attributes = { kind: 'resource', verb, resource, subresource, namespace, name } as const
    const fieldSelector = fieldSelectorOf(asked)
    return fieldSelector === '' ? attributes : collectionAttributes(attributes, fieldSelector)
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

/** The field selector of a request as a query would have it. Conditions that no query can have are left out, as upstream. */
function fieldSelectorOf({ fieldSelector: { rawSelector = '', requirements = [] } = {} }: ResourceAttributes): string {
  if (requirements.length === 0) return rawSelector
  const terms = requirements.flatMap(({ key, operator, values = [] }) => {
    const [value, ...more] = values
    if (value === undefined || more.length > 0) return []
    return operator === 'In' ? `${key}=${value}` : operator === 'NotIn' ? `${key}!=${value}` : []
  })
  return terms.join()
}
