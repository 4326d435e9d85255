import { ageColumn, column, nameColumn } from '../columns.ts'
import { kind } from '../kind.ts'
import { admissionChecks } from './admission-checks.ts'
import { type MutatingAdmissionPolicy, mutatingAdmissionPolicySchema } from './mutating-admission-policy-schema.ts'

/** `admissionregistration.k8s.io/v1` mutatingadmissionpolicies. */
export const mutatingAdmissionPolicies = kind<MutatingAdmissionPolicy>(mutatingAdmissionPolicySchema, {
  plural: 'mutatingadmissionpolicies',
  namespaced: false,
  categories: ['api-extensions'],
  columns: [
    nameColumn,
    column('Mutations', ({ spec }) => spec?.mutations?.length ?? 0, {
      type: 'integer',
      description: 'How many changes it makes.',
    }),
    column(
      'ParamKind',
      ({ spec }) => (spec?.paramKind === undefined ? '<unset>' : `${spec.paramKind.apiVersion}/${spec.paramKind.kind}`),
      { type: 'string', description: 'The kind of the objects that hold parameters.' },
    ),
    ageColumn,
  ],
  countsGenerations: true,
  rules: { updatesUnconditionally: false },
  finalizers: 'any',
  load: admissionChecks.load,
  validate: (policy) => admissionChecks.get().validateMutatingPolicy(policy),
  warnings: (object) => admissionChecks.get().staticNameWarnings(object),
})
