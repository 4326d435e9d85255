import {
  deepEqual,
  hasReason,
  internalError,
  type KubernetesObject,
  type MutatingAdmissionPolicyBindingSpec,
  mutatingAdmissionPolicies,
  mutatingAdmissionPolicyBindings,
  type ResourceDefinition,
} from '@coracle/api'
import type { AdmissionFacts } from '@coracle/api/admission'
import type { Clock } from '@coracle/environment'
import type { Registries } from '../../registries.ts'
import { isNamespace } from '../../registry/namespaces.ts'
import type { Authorizer } from '../../request.ts'
import type { WorkTurns } from '../../work-turns.ts'
import type { AdmissionAttributes, AdmissionPlugin, Reinvocation } from '../admission.ts'
import { admissionRequest } from '../matching/admission-request.ts'
import { changedObject } from '../matching/changed-object.ts'
import { Configured } from '../matching/configured.ts'
import {
  isExemptFromPolicies,
  namespaceObject,
  namespaceOf,
  selectorsMatch,
  versionWanted,
} from '../matching/criteria.ts'
import { expressionAuthorizer } from '../matching/expression-authorizer.ts'
import { Invocations } from '../matching/invocations.ts'
import { RequestObjects } from '../matching/versioned-objects.ts'
import {
  type ConfiguredBinding,
  type ConfiguredMutatingPolicy,
  configuredMutatingBindings,
  configuredMutatingPolicies,
} from './configured-policies.ts'
import { bindingMatches } from './policy-matching.ts'
import { paramKindProblem, paramsOf } from './policy-params.ts'
import { type MutationFailure, mutationRefusal } from './policy-refusal.ts'

/**
 * Changes what is written by the MutatingAdmissionPolicies that a binding puts in force, one after the other, each by what those
 * before it made. Where something changed after a policy it is asked once more, if its reinvocation policy says so.
 */
export function mutatingPolicies(
  registries: Registries,
  authorizer: Authorizer,
  turns: WorkTurns,
  clock: Clock,
): AdmissionPlugin {
  const policies = new Configured(registries, mutatingAdmissionPolicies.storageKey, (objects) =>
    configuredMutatingPolicies(objects, clock),
  )
  const bindings = new Configured(registries, mutatingAdmissionPolicyBindings.storageKey, configuredMutatingBindings)
  const requests = new WeakMap<Reinvocation, Invocations>()
  return {
    name: 'MutatingAdmissionPolicy',
    mutate(attributes, object, reinvocation) {
      const bound = bindings.current
      if (bound.size === 0 || object === undefined || isExemptFromPolicies(attributes)) return object
      const concerned = policies.current.flatMap((policy) => {
        const version = versionWanted(policy.criteria, attributes)
        const own = bound.get(policy.name)
        return version === undefined || own === undefined ? [] : [{ policy, version, bindings: own }]
      })
      if (concerned.length === 0) return object
      const invocations = requests.get(reinvocation) ?? new Invocations()
      requests.set(reinvocation, invocations)
      return new MutatedRequest(
        { registries, authorizer, turns, clock, attributes, reinvocation, invocations },
        object,
      ).run(concerned)
    },
  }
}

type Binding = ConfiguredBinding<MutatingAdmissionPolicyBindingSpec>

interface Concerned {
  readonly policy: ConfiguredMutatingPolicy
  readonly version: ResourceDefinition
  readonly bindings: readonly Binding[]
}

/** A policy by one of its bindings, with one object that holds parameters, if there is one. */
interface Invocation extends Omit<Concerned, 'bindings'> {
  readonly binding: Binding
  readonly params: KubernetesObject | undefined
  readonly key: string
}

interface RequestParts {
  readonly registries: Registries
  readonly authorizer: Authorizer
  readonly turns: WorkTurns
  readonly clock: Clock
  readonly attributes: AdmissionAttributes
  readonly reinvocation: Reinvocation
  readonly invocations: Invocations
}

/** One request's way through the policies that are about it. */
class MutatedRequest {
  readonly #parts: RequestParts
  #object: KubernetesObject
  /** Why policies that must not fail did: the first decides. */
  readonly #failures: MutationFailure[] = []
  /** Whether a mutation was made, be it one that changes nothing. */
  #isMutated = false

  constructor(parts: RequestParts, object: KubernetesObject) {
    this.#parts = parts
    this.#object = object
  }

  /** The object to go on with. Throws the first failure, after all policies have been asked. */
  async run(concerned: readonly Concerned[]): Promise<KubernetesObject> {
    const { attributes, reinvocation, invocations } = this.#parts
    const given = this.#object
    if (reinvocation.isSecondRound && !deepEqual(invocations.made, given)) invocations.somethingChanged()
    // Which policies there are to ask is found out before any of them changes the object.
    const all: Invocation[] = []
    for (const each of concerned) all.push(...(await this.#invocationsOf(each)))
    for (const invocation of all) await this.#invoke(invocation)
    if (this.#isMutated) {
      // As upstream has it, whoever changed something last is asked again, too.
      invocations.somethingChanged()
      reinvocation.ask()
    }
    invocations.made = this.#object
    if (this.#failures.length > 0) throw mutationRefusal(attributes, given, this.#failures)
    return this.#object
  }

  async #invocationsOf({ policy, version, bindings }: Concerned): Promise<readonly Invocation[]> {
    const { registries, attributes } = this.#parts
    if (!selectorsMatch(policy.criteria, attributes, this.#object, registries)) return []
    const problem = paramKindProblem(registries, policy.spec.paramKind)
    if (problem !== undefined) {
      this.#fail(policy, undefined, `failed to configure policy: ${problem}`)
      return []
    }
    const found: Invocation[] = []
    for (const binding of bindings) {
      if (!bindingMatches(binding, attributes, this.#object, registries)) continue
      try {
        const all = await paramsOf(registries, policy.spec.paramKind, binding.spec.paramRef, namespaceOf(attributes))
        for (const params of all) {
          const { namespace = '', name = '' } = params?.metadata ?? {}
          found.push({ policy, version, binding, params, key: `${policy.name} ${binding.name} ${namespace}/${name}` })
        }
      } catch (error) {
        this.#fail(policy, binding, `failed to configure binding: ${(error as Error).message}`)
      }
    }
    return found
  }

  async #invoke(invocation: Invocation): Promise<void> {
    const { reinvocation, invocations } = this.#parts
    const { policy, binding, key } = invocation
    const conditions = await this.#judge(invocation)
    if ('error' in conditions) return this.#fail(policy, binding, conditions.error, 'Invalid')
    if (!conditions.matches || (reinvocation.isSecondRound && !invocations.again.has(key))) return
    const before = this.#object
    for (let index = 0; index < policy.mutations.count; index += 1) await this.#mutate(invocation, index)
    if (this.#object !== before) {
      invocations.somethingChanged()
      reinvocation.ask()
    }
    if (policy.spec.reinvocationPolicy === 'IfNeeded') invocations.asked(key)
  }

  async #judge(invocation: Invocation): Promise<{ readonly matches: boolean } | { readonly error: string }> {
    const { conditions } = invocation.policy
    if (conditions.isEmpty) return { matches: true }
    return conditions.judge(await this.#factsOf(invocation), this.#parts.turns)
  }

  /** A mutation that fails leaves the object as it is; those after it are made all the same. */
  async #mutate(invocation: Invocation, index: number): Promise<void> {
    const { policy, version, binding } = invocation
    const { attributes, turns, clock } = this.#parts
    try {
      const facts = await this.#factsOf(invocation)
      const { object } = facts
      if (object === undefined) return
      const shown = attributes.kind === attributes.definition ? version : attributes.kind
      const { patchType, made } = await policy.mutations.apply(index, facts, shown, object, turns)
      this.#isMutated = true
      if (made === object) return
      const isPatched = patchType === 'JSONPatch'
      // Objects of custom kinds keep what their schema does not know until they are stored.
      const fieldValidation = isPatched && shown.schema.dialect !== 'structural' ? 'Strict' : 'Ignore'
      const changed = changedObject(clock, attributes, version, object, made, fieldValidation)
      this.#object = (await (isPatched ? changed.catch(refuseUndecoded) : changed)) ?? this.#object
    } catch (error) {
      if (error instanceof UndecodedError) throw internalError(error.message)
      this.#fail(policy, binding, (error as Error).message, 'Invalid')
    }
  }

  async #factsOf({ version, params }: Invocation): Promise<AdmissionFacts> {
    const { registries, authorizer, attributes } = this.#parts
    const { definition, namespace, context } = attributes
    return {
      request: admissionRequest(attributes, version),
      ...(await new RequestObjects(attributes, this.#object).in(version)),
      namespaceObject: isNamespace(definition) ? undefined : namespaceObject(registries, namespace),
      authorizer: expressionAuthorizer(authorizer, registries, context.user),
      params,
    }
  }

  #fail(
    policy: ConfiguredMutatingPolicy,
    binding: Binding | undefined,
    why: string,
    reason: MutationFailure['reason'] = 'Forbidden',
  ): void {
    if (policy.spec.failurePolicy === 'Ignore') return
    const who =
      binding === undefined
        ? `policy ${JSON.stringify(policy.name)}`
        : `policy '${policy.name}' with binding '${binding.name}'`
    this.#failures.push({ message: `${who} denied request: ${why}`, reason })
  }
}

/** What a JSON patch has made is no object of the kind: the request is refused, whatever the policy says of failures. */
class UndecodedError extends Error {}

function refuseUndecoded(error: Error): never {
  if (!hasReason(error, 'BadRequest')) throw error
  throw new UndecodedError(error.message.replace(/^.* cannot be handled as a \w+: /, ''))
}
