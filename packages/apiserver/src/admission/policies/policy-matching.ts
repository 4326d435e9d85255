import type { KubernetesObject } from '@coracle/api'
import type { Registries } from '../../registries.ts'
import type { AdmissionAttributes } from '../admission.ts'
import { type MatchCriteria, selectorsMatch, versionWanted } from '../matching/criteria.ts'

/** Whether the binding of a policy puts it in force for a request that the policy is about. */
export function bindingMatches(
  { criteria }: { readonly criteria: MatchCriteria | undefined },
  attributes: AdmissionAttributes,
  object: KubernetesObject | undefined,
  registries: Registries,
): boolean {
  if (criteria === undefined) return true
  // A binding that names no resources takes those of its policy, but for what it leaves out.
  const named = criteria.rules.length > 0 ? criteria : { ...criteria, rules: everyRequest }
  if (versionWanted(named, attributes) === undefined) return false
  return selectorsMatch(criteria, attributes, object, registries)
}

const everyRequest = [{ operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*/*'] }]
