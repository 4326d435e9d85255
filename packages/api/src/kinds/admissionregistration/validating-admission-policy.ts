import { ageColumn, column, nameColumn } from '../columns.ts'
import { kind } from '../kind.ts'
import { admissionChecks } from './admission-checks.ts'
import {
  type ValidatingAdmissionPolicy,
  validatingAdmissionPolicySchema,
} from './validating-admission-policy-schema.ts'

/** `admissionregistration.k8s.io/v1` validatingadmissionpolicies. */
export const validatingAdmissionPolicies = kind<ValidatingAdmissionPolicy>(validatingAdmissionPolicySchema, {
  plural: 'validatingadmissionpolicies',
  namespaced: false,
  categories: ['api-extensions'],
  columns: [
    nameColumn,
    column('Validations', ({ spec }) => spec?.validations?.length ?? 0, {
      type: 'integer',
      description: 'How many things must be true.',
    }),
    column(
      'ParamKind',
      ({ spec }) => (spec?.paramKind === undefined ? '<unset>' : `${spec.paramKind.apiVersion}/${spec.paramKind.kind}`),
      { type: 'string', description: 'The kind of the objects that hold parameters.' },
    ),
    ageColumn,
  ],
  countsGenerations: true,
  rules: { updatesUnconditionally: false, statusKeeps: 'metadata' },
  finalizers: 'any',
  load: admissionChecks.load,
  validate: (policy) => admissionChecks.get().validatePolicy(policy),
  validateStatusUpdate: (policy) => admissionChecks.get().validatePolicyStatus(policy),
  warnings: (object) => admissionChecks.get().staticNameWarnings(object),
})
