import { kindSchema } from '../../meta.ts'
import { object, optional, string } from '../../schema/builders.ts'
import type { Infer } from '../../schema/schema.ts'
import { ageColumn, column, nameColumn } from '../columns.ts'
import { kind } from '../kind.ts'
import { admissionChecks } from './admission-checks.ts'
import { matchResources } from './match-resources-schema.ts'
import { admissionregistrationV1 } from './names.ts'
import { paramRef, paramText } from './validating-admission-policy-binding.ts'

export interface MutatingAdmissionPolicyBindingSpec extends Infer<typeof spec> {}
const spec = object(
  `${admissionregistrationV1}.MutatingAdmissionPolicyBindingSpec`,
  'A mutating policy, its parameters, and the requests that it is in force for.',
  {
    matchResources: optional(matchResources, 'Only these requests, of those that the policy is about.'),
    paramRef: optional(paramRef, 'The objects that hold its parameters.'),
    policyName: optional(string(), 'The name of the policy.'),
  },
)

/** Puts a mutating policy in force. */
export interface MutatingAdmissionPolicyBinding extends Infer<typeof mutatingAdmissionPolicyBindingSchema> {}
export const mutatingAdmissionPolicyBindingSchema = kindSchema(
  `${admissionregistrationV1}.MutatingAdmissionPolicyBinding`,
  'Puts a MutatingAdmissionPolicy in force, for some requests and with parameters if it says so.',
  { spec: optional(spec, 'What is put in force, and where.', { default: {} }) },
)

/** `admissionregistration.k8s.io/v1` mutatingadmissionpolicybindings. */
export const mutatingAdmissionPolicyBindings = kind<MutatingAdmissionPolicyBinding>(
  mutatingAdmissionPolicyBindingSchema,
  {
    plural: 'mutatingadmissionpolicybindings',
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
    validate: (binding) => admissionChecks.get().validateMutatingBinding(binding),
    warnings: (object) => admissionChecks.get().staticNameWarnings(object),
  },
)
