import {
  ApiError,
  applyJsonPatch,
  atomicParts,
  isFailedTest,
  jsonFormOf,
  type KubernetesObject,
  type MutatingAdmissionPolicySpec,
  mergeApplied,
  type ResourceDefinition,
  typedProblems,
} from '@coracle/api'
import type { AdmissionFacts, CelProgram, PatchType, PolicyVariable } from '@coracle/api/admission'
import type { Clock } from '@coracle/environment'
import { readConfiguration } from '../../registry/apply-configuration.ts'
import type { WorkTurns } from '../../work-turns.ts'
import { costlyMin } from '../matching/expression-turns.ts'
import { loadExpressions } from '../matching/load-expressions.ts'
import { policyCostMax } from './policy-expressions.ts'
import { compileVariables } from './policy-variables.ts'

type Api = typeof import('@coracle/api/admission')

interface Compiled {
  readonly api: Api
  readonly variables: readonly PolicyVariable[]
  readonly mutations: readonly CompiledMutation[]
}

interface CompiledMutation {
  readonly patchType: PatchType
  readonly source: string
  readonly program: CelProgram | { readonly problem: string }
}

/** The changes that a policy makes. Their expressions are compiled when they are first asked, and CEL is loaded then. */
export class PolicyMutations {
  readonly count: number
  readonly #spec: MutatingAdmissionPolicySpec
  readonly #clock: Clock
  #compiled: Promise<Compiled> | undefined
  /** Whether a mutation is likely to take long, by what the last one took. */
  #isCostly = true

  constructor(spec: MutatingAdmissionPolicySpec, clock: Clock) {
    this.#spec = spec
    this.#clock = clock
    this.count = spec.mutations?.length ?? 0
  }

  /**
   * What the mutation of this number makes of an object, which is of `version`: not decoded, the object itself where it changes
   * nothing. Others are served before what is likely to take long. Throws an Error that says why it cannot be made.
   */
  async apply(
    index: number,
    facts: AdmissionFacts,
    version: MutatedKind,
    object: KubernetesObject,
    turns: WorkTurns,
  ): Promise<{ readonly patchType?: PatchType; readonly made: unknown }> {
    this.#compiled ??= compile(this.#spec, this.#clock)
    const { api, variables, mutations } = await this.#compiled
    const mutation = mutations[index]
    if (mutation === undefined) return { made: object }
    const { patchType, source, program } = mutation
    if ('problem' in program) throw new Error(program.problem)
    const turn = turns.take(this.#isCostly)
    // Without an await where there is no need: its time would begin before the work does.
    if (turn !== undefined) await turn
    const budget = new api.CostBudget(policyCostMax)
    const values = api.admissionVariables({ ...facts, object })
    values.set('variables', api.policyVariables(variables, values, budget))
    const outcome = budget.run(program, values)
    this.#isCostly = budget.spent > costlyMin
    if ('error' in outcome) {
      throw new Error(outcome.exceeded ? api.outOfBudget : `expression '${source}' resulted in error: ${outcome.error}`)
    }
    const made =
      patchType === 'ApplyConfiguration'
        ? merged(api.configurationFrom(outcome.value), version, object)
        : patched(api.patchFrom(outcome.value), object)
    return { patchType, made }
  }
}

type MutatedKind = Pick<ResourceDefinition, 'group' | 'version' | 'kind' | 'schema'>

async function compile(spec: MutatingAdmissionPolicySpec, clock: Clock): Promise<Compiled> {
  const api = await loadExpressions(clock)
  const { options, variables, problem } = compileVariables(api, spec)
  const mutations = (spec.mutations ?? []).map(({ patchType, applyConfiguration, jsonPatch }): CompiledMutation => {
    const patch = patchType as PatchType
    const { expression: source = '' } = (patch === 'JSONPatch' ? jsonPatch : applyConfiguration) ?? {}
    const compiled = problem === undefined ? api.compileMutation(source, patch, options) : { problem }
    return { patchType: patch, source, program: 'problem' in compiled ? compiled : compiled.program }
  })
  return { api, variables, mutations }
}

/** The object with a configuration merged into it. Nobody owns what it says. */
function merged(
  configuration: Readonly<Record<string, unknown>>,
  version: MutatedKind,
  object: KubernetesObject,
): unknown {
  const { apiVersion, kind } = object
  const given = { ...configuration, apiVersion, kind }
  const problems = typedProblems(version.schema, given)
  if (problems !== undefined) {
    throw new Error(`error applying patch: failed to convert patch object to typed object: ${problems}`)
  }
  const options = { dryRun: false, fieldManager: '', fieldValidation: 'Strict' } as const
  const { object: read } = readConfiguration(version, given, options)
  const atomic = atomicParts(version.schema, read)
  if (atomic.length > 0) {
    throw new Error(
      `error applying patch: invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: ${atomic.join(', ')}`,
    )
  }
  return mergeApplied(version.schema, object, read)
}

/** A patch whose own test fails changes nothing. */
function patched(patch: readonly unknown[], object: KubernetesObject): unknown {
  try {
    return applyJsonPatch(jsonFormOf(object), patch)
  } catch (error) {
    if (isFailedTest(error)) return object
    throw new Error(`JSON Patch: ${problemOf(error)}`)
  }
}

/** Of a patch that does not fit, the cause says what does not. */
function problemOf(error: unknown): string {
  const [cause] = error instanceof ApiError ? (error.status.details?.causes ?? []) : []
  return cause?.message ?? (error as Error).message
}
