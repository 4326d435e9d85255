import { compareText } from '../../compare-text.ts'
import { kindSchema } from '../../meta.ts'
import { object, optional, pointer, required, setList, string } from '../../schema/builders.ts'
import type { Infer } from '../../schema/schema.ts'
import { ageColumn, column, nameColumn } from '../columns.ts'
import { kind } from '../kind.ts'
import { type LabelSelector, labelSelector } from '../meta/label-selector.ts'
import { admissionChecks } from './admission-checks.ts'
import { matchResources } from './match-resources-schema.ts'
import { admissionregistrationV1 } from './names.ts'

/** Which objects hold the parameters of a policy. */
export interface ParamRef extends Infer<typeof paramRef> {}
export const paramRef = object(
  `${admissionregistrationV1}.ParamRef`,
  'The objects that hold parameters, by name or by labels.',
  {
    name: optional(string(), 'The name of one. Not beside a selector.'),
    namespace: optional(string(), 'Their namespace; that of the request unless said otherwise.'),
    selector: optional(labelSelector, 'Their labels. The policy is asked once for each.'),
    parameterNotFoundAction: pointer(string(), 'Allow or Deny: what becomes of requests where there is none.'),
  },
  { mapType: 'atomic' },
)

export interface ValidatingAdmissionPolicyBindingSpec extends Infer<typeof spec> {}
const spec = object(
  `${admissionregistrationV1}.ValidatingAdmissionPolicyBindingSpec`,
  'A validating policy, its parameters, the requests it is in force for, and what a violation leads to.',
  {
    policyName: required(string(), 'The name of the policy.', { default: '' }),
    paramRef: optional(paramRef, 'The objects that hold its parameters.'),
    matchResources: optional(matchResources, 'Only these requests, of those that the policy is about.'),
    validationActions: required(
      setList(string()),
      'What becomes of a request that does not keep it: Deny, Warn, Audit.',
      { default: [] },
    ),
  },
)

/** Puts a policy in force. */
export interface ValidatingAdmissionPolicyBinding extends Infer<typeof validatingAdmissionPolicyBindingSchema> {}
export const validatingAdmissionPolicyBindingSchema = kindSchema(
  `${admissionregistrationV1}.ValidatingAdmissionPolicyBinding`,
  'Puts a ValidatingAdmissionPolicy in force, for some requests and with parameters if it says so.',
  { spec: required(spec, 'What is put in force, and where.', { default: { policyName: '', validationActions: [] } }) },
)

const notSet = '<unset>'

/** `admissionregistration.k8s.io/v1` validatingadmissionpolicybindings. */
export const validatingAdmissionPolicyBindings = kind<ValidatingAdmissionPolicyBinding>(
  validatingAdmissionPolicyBindingSchema,
  {
    plural: 'validatingadmissionpolicybindings',
    namespaced: false,
    categories: ['api-extensions'],
    columns: [
      nameColumn,
      column('PolicyName', ({ spec }) => spec?.policyName ?? '', { field: 'spec.policyName' }),
      column('ParamRef', ({ spec }) => paramText(spec?.paramRef), {
        type: 'string',
        description: 'The object that holds its parameters.',
      }),
      ageColumn,
    ],
    countsGenerations: true,
    rules: { updatesUnconditionally: false },
    finalizers: 'any',
    load: admissionChecks.load,
    validate: (binding) => admissionChecks.get().validateBinding(binding),
    warnings: (object) => admissionChecks.get().staticNameWarnings(object),
  },
)

/** A reference to parameters as tables show it. */
export function paramText({ name = '', namespace = '', selector }: ParamRef = {}): string {
  // Whether the parameters are in namespaces cannot be told from here.
  if (name !== '') return `${namespace === '' ? '*' : namespace}/${name}`
  return selector === undefined ? notSet : goText(selector)
}

/** A selector as Go prints the structure, which is what upstream's table shows. */
function goText({ matchLabels = {}, matchExpressions = [] }: LabelSelector): string {
  const labels = Object.keys(matchLabels).sort(compareText)
  const expressions = matchExpressions.map(
    ({ key, operator, values = [] }) =>
      `LabelSelectorRequirement{Key:${key},Operator:${operator},Values:[${values.join(' ')}],},`,
  )
  return `&LabelSelector{MatchLabels:map[string]string{${labels.map((key) => `${key}: ${matchLabels[key]},`).join('')}},MatchExpressions:[]LabelSelectorRequirement{${expressions.join('')}},}`
}
