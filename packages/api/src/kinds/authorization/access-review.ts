import { type FieldError, invalidField, requiredField } from '../../field-error.ts'
import { FieldPath } from '../../field-path.ts'
import { kindSchema, type ObjectMeta } from '../../meta.ts'
import { atomicList, boolean, list, mapOf, object, optional, required, string } from '../../schema/builders.ts'
import type { Infer } from '../../schema/schema.ts'
import { checkOperatorValues, checkRequirement } from '../core/pod/validation/checks.ts'
import { resourceDefinition } from '../kind.ts'
import type { LabelSelectorRequirement } from '../meta/label-selector.ts'
import { authorizationV1 } from '../meta/names.ts'
import {
  type NonResourceAttributes,
  nonResourceAttributes,
  type ResourceAttributes,
  resourceAttributes,
} from './attributes.ts'

const attributes = {
  nonResourceAttributes: optional(nonResourceAttributes, 'A request for a path. One of the two is given.'),
  resourceAttributes: optional(resourceAttributes, 'A request for a resource. One of the two is given.'),
}

const selfSpec = object(
  `${authorizationV1}.SelfSubjectAccessReviewSpec`,
  'What is asked about the rights of the one who asks.',
  attributes,
)

/** Who wants to do what. */
export interface SubjectAccessReviewSpec extends Infer<typeof spec> {}
const spec = object(`${authorizationV1}.SubjectAccessReviewSpec`, 'What is asked about the rights of somebody.', {
  ...attributes,
  extra: optional(mapOf(list(string())), 'What else the authenticator says of the user.'),
  groups: optional(atomicList(string()), 'The groups the user is in.'),
  uid: optional(string(), 'The uid of the user.'),
  user: optional(string(), 'The name of the user. Without one somebody is asked about who is only in the groups.'),
})

/** Whether it may be done. */
export interface SubjectAccessReviewStatus extends Infer<typeof status> {}
const status = object(`${authorizationV1}.SubjectAccessReviewStatus`, 'The answer of the server.', {
  allowed: required(boolean, 'Whether it may be done.', { default: false }),
  denied: optional(boolean, 'Whether it was refused for good, so that nobody else is asked.'),
  evaluationError: optional(string(), 'What went wrong in finding out. There may be an answer all the same.'),
  reason: optional(string(), 'Why it may be done, or not.'),
})
const answer = optional(status, 'Filled in by the server.')

/** Asks whether somebody may do something. Never stored. */
export interface SubjectAccessReview extends Infer<typeof subjectAccessReviewSchema> {}
export const subjectAccessReviewSchema = kindSchema(
  `${authorizationV1}.SubjectAccessReview`,
  'Asks whether somebody may do something.',
  { spec: required(spec, 'Who wants to do what.', { default: {} }), status: answer },
)

/** Asks whether somebody may do something in a namespace, so that the right to ask can be given by namespace. Never stored. */
export interface LocalSubjectAccessReview extends Infer<typeof localSubjectAccessReviewSchema> {}
export const localSubjectAccessReviewSchema = kindSchema(
  `${authorizationV1}.LocalSubjectAccessReview`,
  'Asks whether somebody may do something in a namespace, so that the right to ask can be given by namespace.',
  { spec: required(spec, 'Who wants to do what, in the namespace of the review.', { default: {} }), status: answer },
)

/** Asks whether the one who asks may do something. Never stored. */
export interface SelfSubjectAccessReview extends Infer<typeof selfSubjectAccessReviewSchema> {}
export const selfSubjectAccessReviewSchema = kindSchema(
  `${authorizationV1}.SelfSubjectAccessReview`,
  'Asks whether the one who asks may do something. Everybody may ask that.',
  { spec: required(selfSpec, 'What they want to do.', { default: {} }), status: answer },
)

export const subjectAccessReviews = resourceDefinition<SubjectAccessReview>(subjectAccessReviewSchema, {
  plural: 'subjectaccessreviews',
  namespaced: false,
  verbs: ['create'],
})
export const localSubjectAccessReviews = resourceDefinition<LocalSubjectAccessReview>(localSubjectAccessReviewSchema, {
  plural: 'localsubjectaccessreviews',
  verbs: ['create'],
})
export const selfSubjectAccessReviews = resourceDefinition<SelfSubjectAccessReview>(selfSubjectAccessReviewSchema, {
  plural: 'selfsubjectaccessreviews',
  namespaced: false,
  verbs: ['create'],
})

type Requested = Pick<SubjectAccessReviewSpec, 'resourceAttributes' | 'nonResourceAttributes'>

const specPath = FieldPath.of('spec')

/** What is wrong with a SelfSubjectAccessReview. */
export const validateSelfSubjectAccessReview = ({ metadata, spec }: SelfSubjectAccessReview): readonly FieldError[] => [
  ...requestKindErrors(spec),
  ...selectorsErrors(spec.resourceAttributes),
  ...metadataErrors(metadata, 'must be empty'),
]

/** What is wrong with a SubjectAccessReview. */
export const validateSubjectAccessReview = ({ metadata, spec }: SubjectAccessReview): readonly FieldError[] => [
  ...subjectErrors(spec),
  ...metadataErrors(metadata, 'must be empty'),
]

/** What is wrong with a LocalSubjectAccessReview. */
export function validateLocalSubjectAccessReview(review: LocalSubjectAccessReview): readonly FieldError[] {
  const { namespace = '' } = review.metadata
  const { resourceAttributes, nonResourceAttributes } = review.spec
  const errors = [
    ...subjectErrors(review.spec),
    ...metadataErrors(review.metadata, 'must be empty except for namespace', 'namespace'),
  ]
  const requested = resourceAttributes?.namespace ?? ''
  if (resourceAttributes !== undefined && requested !== namespace) {
    const path = specPath.field('resourceAttributes').field('namespace')
    errors.push(invalidField(path, requested, 'must match metadata.namespace'))
  }
  if (nonResourceAttributes !== undefined) {
    const path = specPath.field('nonResourceAttributes')
    errors.push(invalidField(path, shownAttributes(nonResourceAttributes), 'disallowed on this kind of request'))
  }
  return errors
}

function subjectErrors(spec: SubjectAccessReviewSpec): FieldError[] {
  const { user = '', groups = [] } = spec
  const errors = requestKindErrors(spec)
  if (user === '' && groups.length === 0) {
    errors.push(invalidField(specPath.field('user'), user, 'at least one of user or group must be specified'))
  }
  return [...errors, ...selectorsErrors(spec.resourceAttributes)]
}

/** The selectors are either read, or as a query has them. Whoever asks may know more operators than this server. */
function selectorsErrors(attributes: ResourceAttributes | undefined): FieldError[] {
  const path = specPath.field('resourceAttributes')
  return (['fieldSelector', 'labelSelector'] as const).flatMap((name) => {
    const selector = attributes?.[name]
    if (selector === undefined) return []
    const { rawSelector = '', requirements = [] } = selector
    const at = path.field(name)
    const why = 'may not specified at the same time as requirements'
    if (rawSelector === '' && requirements.length === 0) {
      const needed = `when ${at} is specified, requirements or rawSelector is required`
      return [requiredField(at.field('requirements'), needed)]
    }
    const check = name === 'fieldSelector' ? checkFieldRequirement : checkLabelRequirement
    const conditions = at.field('requirements')
    return [
      ...(rawSelector !== '' && requirements.length > 0
        ? [invalidField(at.field('rawSelector'), rawSelector, why)]
        : []),
      ...requirements.flatMap((each, index) => check(each, conditions.index(index))),
    ]
  })
}

const checkLabelRequirement = (requirement: LabelSelectorRequirement, path: FieldPath): FieldError[] =>
  checkRequirement(requirement, path, true)

const checkFieldRequirement = (
  { key, operator, values = [] }: LabelSelectorRequirement,
  path: FieldPath,
): FieldError[] => [
  ...(key === '' ? [requiredField(path.field('key'), 'must be specified')] : []),
  ...checkOperatorValues(operator, values, path, true),
]

function requestKindErrors({ resourceAttributes, nonResourceAttributes }: Requested): FieldError[] {
  if (resourceAttributes !== undefined && nonResourceAttributes !== undefined) {
    const why = 'cannot be specified in combination with resourceAttributes'
    return [invalidField(specPath.field('nonResourceAttributes'), shownAttributes(nonResourceAttributes), why)]
  }
  if (resourceAttributes !== undefined || nonResourceAttributes !== undefined) return []
  const why = 'exactly one of nonResourceAttributes or resourceAttributes must be specified'
  return [invalidField(specPath.field('resourceAttributes'), null, why)]
}

/** As upstream's own type has them. */
const shownAttributes = ({ path = '', verb = '' }: NonResourceAttributes): unknown => ({ Path: path, Verb: verb })

/** What a server writes into metadata itself is taken away before anybody looks at it. */
function metadataErrors(metadata: ObjectMeta, why: string, allowed?: 'namespace'): readonly FieldError[] {
  const own: readonly string[] = [
    'managedFields',
    'uid',
    'creationTimestamp',
    'deletionTimestamp',
    'deletionGracePeriodSeconds',
  ]
  const shown = Object.entries(metadata).filter(([name]) => !own.includes(name))
  const isEmpty = shown.every(([name]) => name === allowed)
  return isEmpty ? [] : [invalidField(FieldPath.of('metadata'), Object.fromEntries(shown), why)]
}
