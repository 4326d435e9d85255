import { expect, it } from 'vitest'
import { warningsOf } from '../../../test/requests.ts'
import type { StoredKind } from '../../stored-kind.ts'
import { mutatingAdmissionPolicies } from './mutating-admission-policy.ts'
import { mutatingAdmissionPolicyBindings } from './mutating-admission-policy-binding.ts'
import { mutatingWebhookConfigurations } from './mutating-webhook-configuration.ts'
import { validatingAdmissionPolicies } from './validating-admission-policy.ts'
import { validatingAdmissionPolicyBindings } from './validating-admission-policy-binding.ts'
import { validatingWebhookConfigurations } from './validating-webhook-configuration.ts'

const kinds: readonly StoredKind[] = [
  mutatingAdmissionPolicies,
  mutatingAdmissionPolicyBindings,
  mutatingWebhookConfigurations,
  validatingAdmissionPolicies,
  validatingAdmissionPolicyBindings,
  validatingWebhookConfigurations,
]

it.each(kinds)('$kind: a name of those that are read from files is warned of', (kind) => {
  const named = (name: string): readonly string[] => warningsOf(kind, { metadata: { name } }, { metadata: { name } })
  expect(named('mine.static.k8s.io')).toEqual([
    'metadata.name: names ending with ".static.k8s.io" are reserved for static manifest-based configurations and cannot be managed via the API',
  ])
  expect(named('static.k8s.io')).toEqual([])
  expect(warningsOf(kind, { metadata: { name: 'mine.static.k8s.io' } })).toHaveLength(1)
})
