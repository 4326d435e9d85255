/** What tells which requests are admitted by a webhook or a policy. */
import { atomicList, object, optional, pointer, required, string } from '../../schema/builders.ts'
import type { Infer } from '../../schema/schema.ts'
import { admissionregistrationV1 } from './names.ts'

const texts = atomicList(string())

/** The fields of a rule, wherever it stands. */
export const ruleFields = {
  operations: optional(texts, 'CREATE, UPDATE, DELETE, CONNECT, or * for all of them.'),
  apiGroups: optional(texts, 'API groups of the resources, or * for all. The first group is the empty text.'),
  apiVersions: optional(texts, 'API versions of the resources, or * for all.'),
  resources: optional(
    texts,
    'Resources: pods are pods, pods/log a subresource, pods/* all subresources of pods, * all resources, */* everything.',
  ),
  scope: pointer(string(), 'Cluster or Namespaced: only resources of that scope. * is any.', { default: '*' }),
}

/** A set of requests: any of its operations on any of its resources. */
export interface AdmissionRule extends Infer<typeof admissionRule> {}
export const admissionRule = object(
  `${admissionregistrationV1}.RuleWithOperations`,
  'Requests: any of the operations on any of the resources.',
  ruleFields,
)

/** An expression in CEL that must be true for a request to be looked at. */
export interface MatchCondition extends Infer<typeof matchCondition> {}
export const matchCondition = object(
  `${admissionregistrationV1}.MatchCondition`,
  'An expression that must be true of a request.',
  {
    name: required(string(), 'What the condition is called.'),
    expression: required(
      string(),
      'In CEL, over object, oldObject, request, authorizer and authorizer.requestResource. Must be true or false.',
      { default: '' },
    ),
  },
)
