import { kindSchema } from '../../meta.ts'
import { atomicList, boolean, object, optional, required, string } from '../../schema/builders.ts'
import type { Infer } from '../../schema/schema.ts'
import { resourceDefinition } from '../kind.ts'
import { authorizationV1 } from '../meta/names.ts'

const spec = object(`${authorizationV1}.SelfSubjectRulesReviewSpec`, 'The namespace that is asked about.', {
  namespace: optional(string(), 'The namespace whose rules are asked for. Required.'),
})

/** What may be done with resources. */
export interface ResourceRule extends Infer<typeof resourceRule> {}
const resourceRule = object(`${authorizationV1}.ResourceRule`, 'What may be done with resources.', {
  apiGroups: optional(atomicList(string()), 'The groups of the resources; `*` is all.'),
  resourceNames: optional(atomicList(string()), 'The names it is limited to; none is all.'),
  resources: optional(atomicList(string()), 'The resources; `*` is all, `*/scale` those that have the subresource.'),
  verbs: required(atomicList(string()), 'The verbs; `*` is all.'),
})

/** What may be done with paths that are no resources. */
export interface NonResourceRule extends Infer<typeof nonResourceRule> {}
const nonResourceRule = object(`${authorizationV1}.NonResourceRule`, 'What may be done with paths.', {
  nonResourceURLs: optional(atomicList(string()), 'The paths; a `*` at the end is any rest.'),
  verbs: required(atomicList(string()), 'The methods in lower case; `*` is all.'),
})

const status = object(`${authorizationV1}.SubjectRulesReviewStatus`, 'The answer of the server.', {
  evaluationError: optional(string(), 'Why the rules are incomplete: not every authorizer can tell its rules.'),
  incomplete: required(boolean, 'Whether there may be more rules.', { default: false }),
  nonResourceRules: required(atomicList(nonResourceRule), 'What may be done with paths, in no order.'),
  resourceRules: required(atomicList(resourceRule), 'What may be done with resources, in no order.'),
})

/** Asks what the one who asks may do in a namespace: for what people see, not to decide by. Never stored. */
export interface SelfSubjectRulesReview extends Infer<typeof selfSubjectRulesReviewSchema> {}
export const selfSubjectRulesReviewSchema = kindSchema(
  `${authorizationV1}.SelfSubjectRulesReview`,
  'Tells what the one who asks may do in a namespace, as far as it can be listed. Ask an access review to decide by it.',
  { spec: required(spec, 'What is asked.', { default: {} }), status: optional(status, 'Filled in by the server.') },
)

export const selfSubjectRulesReviews = resourceDefinition<SelfSubjectRulesReview>(selfSubjectRulesReviewSchema, {
  plural: 'selfsubjectrulesreviews',
  namespaced: false,
  verbs: ['create'],
})
