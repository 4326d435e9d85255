import {
  type KubernetesObject,
  type MatchResources,
  type MutatingAdmissionPolicy,
  type MutatingAdmissionPolicyBindingSpec,
  type MutatingAdmissionPolicySpec,
  selectorFromLabelSelector,
  type ValidatingAdmissionPolicy,
  type ValidatingAdmissionPolicyBinding,
} from '@coracle/api'
import type { Clock } from '@coracle/environment'
import { MatchConditions } from '../matching/conditions.ts'
import type { MatchCriteria } from '../matching/criteria.ts'
import { PolicyExpressions } from './policy-expressions.ts'
import { PolicyMutations } from './policy-mutations.ts'

/** A policy, ready to be matched with requests. */
export interface ConfiguredPolicy {
  readonly name: string
  readonly spec: NonNullable<ValidatingAdmissionPolicy['spec']>
  readonly criteria: MatchCriteria
  readonly conditions: MatchConditions
  readonly expressions: PolicyExpressions
}

/** A policy that changes what it is about. */
export interface ConfiguredMutatingPolicy {
  readonly name: string
  readonly spec: MutatingAdmissionPolicySpec
  readonly criteria: MatchCriteria
  readonly conditions: MatchConditions
  readonly mutations: PolicyMutations
}

/** What bindings of all policies say. */
interface BindingSpec {
  readonly policyName?: string | undefined
  readonly matchResources?: MatchResources | undefined
}

/** The binding of a policy. */
export interface ConfiguredBinding<S extends BindingSpec = ValidatingAdmissionPolicyBinding['spec']> {
  readonly name: string
  readonly spec: S
  /** Which of the policy's requests; all of them where it does not say. */
  readonly criteria: MatchCriteria | undefined
}

export function configuredPolicies(objects: readonly KubernetesObject[], clock: Clock): readonly ConfiguredPolicy[] {
  return objects.map((each) => {
    const { metadata, spec = {} } = each as ValidatingAdmissionPolicy
    return {
      name: metadata.name ?? '',
      spec,
      criteria: criteriaOf(spec.matchConstraints ?? {}),
      conditions: new MatchConditions(spec.matchConditions ?? [], clock, spec.paramKind !== undefined),
      expressions: new PolicyExpressions(spec, clock),
    }
  })
}

export function configuredMutatingPolicies(
  objects: readonly KubernetesObject[],
  clock: Clock,
): readonly ConfiguredMutatingPolicy[] {
  return objects.map((each) => {
    const { metadata, spec = {} } = each as MutatingAdmissionPolicy
    return {
      name: metadata.name ?? '',
      spec,
      criteria: criteriaOf(spec.matchConstraints ?? {}),
      conditions: new MatchConditions(spec.matchConditions ?? [], clock, spec.paramKind !== undefined),
      mutations: new PolicyMutations(spec, clock),
    }
  })
}

/** The bindings by the names of their policies. */
export const configuredBindings = (objects: readonly KubernetesObject[]) =>
  boundBy<ValidatingAdmissionPolicyBinding['spec']>(objects)

/** The bindings of mutating policies by the names of these. */
export const configuredMutatingBindings = (objects: readonly KubernetesObject[]) =>
  boundBy<MutatingAdmissionPolicyBindingSpec>(objects)

function boundBy<S extends BindingSpec>(
  objects: readonly KubernetesObject[],
): ReadonlyMap<string, readonly ConfiguredBinding<S>[]> {
  const bindings = objects.map((each) => {
    const { metadata, spec } = each as KubernetesObject & { readonly spec: S }
    const { matchResources } = spec
    return {
      name: metadata.name ?? '',
      spec,
      criteria: matchResources === undefined ? undefined : criteriaOf(matchResources),
    }
  })
  return Map.groupBy(bindings, ({ spec }) => spec.policyName ?? '')
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
