import {
  type ApiError,
  type KubernetesObject,
  type ResourceDefinition,
  validatingAdmissionPolicies,
  validatingAdmissionPolicyBindings,
} from '@coracle/api'
import type { AdmissionFacts } from '@coracle/api/admission'
import type { Clock } from '@coracle/environment'
import type { Registries } from '../../registries.ts'
import { isNamespace } from '../../registry/namespaces.ts'
import type { Authorizer } from '../../request.ts'
import type { WorkTurns } from '../../work-turns.ts'
import type { AdmissionAttributes, AdmissionPlugin } from '../admission.ts'
import { admissionRequest } from '../matching/admission-request.ts'
import { Configured } from '../matching/configured.ts'
import {
  isExemptFromPolicies,
  namespaceObject,
  namespaceOf,
  selectorsMatch,
  versionWanted,
} from '../matching/criteria.ts'
import { expressionAuthorizer } from '../matching/expression-authorizer.ts'
import { RequestObjects } from '../matching/versioned-objects.ts'
import {
  type ConfiguredBinding,
  type ConfiguredPolicy,
  configuredBindings,
  configuredPolicies,
} from './configured-policies.ts'
import type { PolicyFailure, PolicyVerdict } from './policy-expressions.ts'
import { bindingMatches } from './policy-matching.ts'
import { paramKindProblem, paramsOf } from './policy-params.ts'
import { policyRefusal } from './policy-refusal.ts'

/** Texts that policies note in the audit log are cut here. */
export const auditValueBytesMax = 10 * 1024

/** Judges what is written by the ValidatingAdmissionPolicies that a binding puts in force. */
export function validatingPolicies(
  registries: Registries,
  authorizer: Authorizer,
  turns: WorkTurns,
  clock: Clock,
): AdmissionPlugin {
  const policies = new Configured(registries, validatingAdmissionPolicies.storageKey, (objects) =>
    configuredPolicies(objects, clock),
  )
  const bindings = new Configured(registries, validatingAdmissionPolicyBindings.storageKey, configuredBindings)
  return {
    name: 'ValidatingAdmissionPolicy',
    validate(attributes, object) {
      const bound = bindings.current
      if (bound.size === 0 || isExemptFromPolicies(attributes)) return
      const concerned = policies.current.flatMap((policy) => {
        const version = versionWanted(policy.criteria, attributes)
        const own = bound.get(policy.name)
        return version === undefined || own === undefined ? [] : [{ policy, version, bindings: own }]
      })
      if (concerned.length > 0)
        return new PolicyRequest({ registries, authorizer, turns }, attributes, object).judge(concerned)
    },
  }
}

interface Concerned {
  readonly policy: ConfiguredPolicy
  readonly version: ResourceDefinition
  readonly bindings: readonly ConfiguredBinding[]
}

interface Denial {
  readonly policy: string
  /** Undefined where the policy itself is what is wrong. */
  readonly binding: string | undefined
  readonly failure: Pick<PolicyFailure, 'message' | 'reason'>
}

/** One request's way through the policies that are about it. */
class PolicyRequest {
  readonly #registries: Registries
  readonly #turns: WorkTurns
  readonly #attributes: AdmissionAttributes
  readonly #object: KubernetesObject | undefined
  readonly #objects: RequestObjects
  readonly #authorizer: NonNullable<AdmissionFacts['authorizer']>
  readonly #denials: Denial[] = []

  constructor(
    {
      registries,
      authorizer,
      turns,
    }: { readonly registries: Registries; readonly authorizer: Authorizer; readonly turns: WorkTurns },
    attributes: AdmissionAttributes,
    object: KubernetesObject | undefined,
  ) {
    this.#registries = registries
    this.#turns = turns
    this.#attributes = attributes
    this.#object = object
    this.#objects = new RequestObjects(attributes, object)
    this.#authorizer = expressionAuthorizer(authorizer, registries, attributes.context.user)
  }

  /** Throws the first refusal, after all policies have said what they have to say. */
  async judge(concerned: readonly Concerned[]): Promise<void> {
    for (const each of concerned) {
      const { criteria, spec } = each.policy
      if (!selectorsMatch(criteria, this.#attributes, this.#object, this.#registries)) continue
      const problem = paramKindProblem(this.#registries, spec.paramKind)
      if (problem === undefined) await this.#ask(each)
      else this.#deny(each.policy, undefined, `failed to configure policy: ${problem}`)
    }
    const [first] = this.#denials
    if (first !== undefined) throw refusalOf(first, this.#attributes, this.#object)
  }

  async #ask({ policy, version, bindings }: Concerned): Promise<void> {
    const noted = new Map<string, string[]>()
    for (const binding of bindings) {
      if (!bindingMatches(binding, this.#attributes, this.#object, this.#registries)) continue
      for (const verdict of await this.#verdicts(policy, version, binding)) {
        for (const failure of verdict.failures) this.#enforce(policy, binding, failure)
        for (const error of verdict.annotationErrors) this.#deny(policy, binding, error)
        for (const [key, whole] of verdict.annotations) {
          const value = Buffer.from(whole).subarray(0, auditValueBytesMax).toString()
          const values = noted.get(key) ?? []
          if (!values.includes(value)) values.push(value)
          noted.set(key, values)
        }
      }
    }
    const { annotate } = this.#attributes.context
    for (const [key, values] of noted) {
      annotate?.(`${policy.name}/${key}`, values.join(', '))
    }
  }

  /** What a policy says, once for each object that holds parameters. */
  async #verdicts(
    policy: ConfiguredPolicy,
    version: ResourceDefinition,
    binding: ConfiguredBinding,
  ): Promise<readonly PolicyVerdict[]> {
    try {
      const { definition, namespace } = this.#attributes
      const own = namespaceOf(this.#attributes)
      const params = await paramsOf(this.#registries, policy.spec.paramKind, binding.spec.paramRef, own)
      const facts: AdmissionFacts = {
        request: admissionRequest(this.#attributes, version),
        ...(await this.#objects.in(version)),
        namespaceObject: isNamespace(definition) ? undefined : namespaceObject(this.#registries, namespace),
        authorizer: this.#authorizer,
      }
      return await Promise.all(params.map((each) => verdictOf(policy, { ...facts, params: each }, this.#turns)))
    } catch (error) {
      this.#deny(policy, binding, `failed to configure binding: ${(error as Error).message}`)
      return []
    }
  }

  /** Refuses the request because a policy, or what is bound to it, cannot do its work. */
  #deny({ name, spec }: ConfiguredPolicy, binding: ConfiguredBinding | undefined, message: string): void {
    if (spec.failurePolicy === 'Ignore') return
    this.#denials.push({ policy: name, binding: binding?.name, failure: { message, reason: 'Invalid' } })
  }

  #enforce(policy: ConfiguredPolicy, { name: binding, spec }: ConfiguredBinding, failure: PolicyFailure): void {
    if (failure.kind === 'error' && policy.spec.failurePolicy === 'Ignore') return
    const { annotate, warn } = this.#attributes.context
    for (const action of spec.validationActions) {
      if (action === 'Deny') this.#denials.push({ policy: policy.name, binding, failure })
      if (action === 'Warn') {
        warn?.(
          `Validation failed for ValidatingAdmissionPolicy '${policy.name}' with binding '${binding}': ${failure.message}`,
        )
      }
      if (action === 'Audit') {
        const { message, index: expressionIndex } = failure
        const { validationActions } = spec
        const value = [{ message, policy: policy.name, binding, expressionIndex, validationActions }]
        annotate?.('validation.policy.admission.k8s.io/validation_failure', JSON.stringify(value))
      }
    }
  }
}

async function verdictOf(
  { conditions, expressions }: ConfiguredPolicy,
  facts: AdmissionFacts,
  turns: WorkTurns,
): Promise<PolicyVerdict> {
  const nothing = { failures: [], annotations: new Map<string, string>(), annotationErrors: [] }
  if (!conditions.isEmpty) {
    const judged = await conditions.judge(facts, turns)
    if ('error' in judged) {
      return { ...nothing, failures: [{ kind: 'error', message: judged.error, reason: 'Invalid', index: 0 }] }
    }
    if (!judged.matches) return nothing
  }
  return expressions.judge(facts, turns)
}

function refusalOf(
  { policy, binding, failure }: Denial,
  attributes: AdmissionAttributes,
  object: KubernetesObject | undefined,
): ApiError {
  const bound = binding === undefined ? '' : ` with binding '${binding}'`
  const why = `ValidatingAdmissionPolicy '${policy}'${bound} denied request: ${failure.message}`
  return policyRefusal(attributes, object, failure.reason, why)
}
