import { atomicList, enumOf, object, optional, pointer, string } from '../../schema/builders.ts'
import type { Infer } from '../../schema/schema.ts'
import { labelSelector } from '../meta/label-selector.ts'
import { admissionregistrationV1 } from './names.ts'
import { ruleFields } from './rule-schema.ts'

/** A set of requests, of objects of certain names if it says so. */
export interface NamedAdmissionRule extends Infer<typeof namedAdmissionRule> {}
export const namedAdmissionRule = object(
  `${admissionregistrationV1}.NamedRuleWithOperations`,
  'Requests: any of the operations on any of the resources, of these names.',
  { resourceNames: optional(atomicList(string()), 'Names of objects; any without them.'), ...ruleFields },
  { mapType: 'atomic' },
)

/** Which requests a policy is about. */
export interface MatchResources extends Infer<typeof matchResources> {}
export const matchResources = object(
  `${admissionregistrationV1}.MatchResources`,
  'Requests, by their resources and by labels.',
  {
    namespaceSelector: optional(labelSelector, 'The namespaces whose objects it is about, by their labels.', {
      default: {},
    }),
    objectSelector: optional(labelSelector, 'The objects it is about, by their labels before or after the request.', {
      default: {},
    }),
    resourceRules: optional(
      atomicList(namedAdmissionRule),
      'The requests that it is about: those that any rule matches.',
    ),
    excludeResourceRules: optional(atomicList(namedAdmissionRule), 'Requests that it is not about all the same.'),
    matchPolicy: pointer(
      enumOf('Equivalent', 'Exact'),
      'Equivalent: requests for another version of a resource in the rules are converted to that one. Exact: they do not match.',
      { default: 'Equivalent' },
    ),
  },
  { mapType: 'atomic' },
)
