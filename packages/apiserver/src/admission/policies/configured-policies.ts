import {
  type KubernetesObject,
  type MatchResources,
  selectorFromLabelSelector,
  type ValidatingAdmissionPolicy,
  type ValidatingAdmissionPolicyBinding,
} from '@coracle/api'
import { MatchConditions } from '../matching/conditions.ts'
import type { MatchCriteria } from '../matching/criteria.ts'
import { PolicyExpressions } from './policy-expressions.ts'

/** A policy, ready to be matched with requests. */
export interface ConfiguredPolicy {
  readonly name: string
  readonly spec: NonNullable<ValidatingAdmissionPolicy['spec']>
  readonly criteria: MatchCriteria
  readonly conditions: MatchConditions
  readonly expressions: PolicyExpressions
}

/** The binding of a policy. */
export interface ConfiguredBinding {
  readonly name: string
  readonly spec: ValidatingAdmissionPolicyBinding['spec']
  /** Which of the policy's requests; all of them where it does not say. */
  readonly criteria: MatchCriteria | undefined
}

export function configuredPolicies(objects: readonly KubernetesObject[]): readonly ConfiguredPolicy[] {
  return objects.map((each) => {
    const { metadata, spec = {} } = each as ValidatingAdmissionPolicy
    return {
      name: metadata.name ?? '',
      spec,
      criteria: criteriaOf(spec.matchConstraints ?? {}),
      conditions: new MatchConditions(spec.matchConditions ?? [], spec.paramKind !== undefined),
      expressions: new PolicyExpressions(spec),
    }
  })
}

/** The bindings by the names of their policies. */
export function configuredBindings(
  objects: readonly KubernetesObject[],
): ReadonlyMap<string, readonly ConfiguredBinding[]> {
  const bindings = objects.map((each) => {
    const { metadata, spec } = each as ValidatingAdmissionPolicyBinding
    const { matchResources } = spec
    return {
      name: metadata.name ?? '',
      spec,
      criteria: matchResources === undefined ? undefined : criteriaOf(matchResources),
    }
  })
  return Map.groupBy(bindings, ({ spec }) => spec.policyName)
}

function criteriaOf({
  resourceRules = [],
  excludeResourceRules = [],
  matchPolicy,
  namespaceSelector = {},
  objectSelector = {},
}: Partial<MatchResources>): MatchCriteria {
  return {
    rules: resourceRules,
    exclude: excludeResourceRules,
    matchesEquivalent: matchPolicy !== 'Exact',
    namespaces: selectorFromLabelSelector(namespaceSelector),
    objects: selectorFromLabelSelector(objectSelector),
  }
}
