import type { AuditAnnotation, ValidatingAdmissionPolicy, Validation } from '@coracle/api'
import type { AdmissionFacts, CelProgram, CelValue, CostBudget, PolicyVariable } from '@coracle/api/admission'
import type { Clock } from '@coracle/environment'
import type { WorkTurns } from '../../work-turns.ts'
import { loadExpressions } from '../matching/load-expressions.ts'
import { compileVariables } from './policy-variables.ts'

/** What one evaluation of a policy may cost, as upstream. */
export const policyCostMax = 10_000_000
/** What costs more may keep others waiting: evaluating it is work for a turn of its own, as `WorkTurns` has it. */
export const costlyMin = 50_000
/** Longer messages of expressions are not used. */
const messageBytesMax = 5 * 1024

type Api = typeof import('@coracle/api/admission')
type Program = CelProgram | { readonly problem: string }

interface Compiled {
  readonly api: Api
  readonly variables: readonly PolicyVariable[]
  /** A variable that cannot be compiled: nothing else can be asked. */
  readonly problem: string | undefined
  readonly validations: readonly {
    readonly source: Validation
    readonly test: Program
    readonly message: Program | undefined
  }[]
  readonly annotations: readonly { readonly source: AuditAnnotation; readonly value: Program }[]
}

/** What a policy says of a request where it is not kept: `error` where an expression has no value. */
export interface PolicyFailure {
  readonly kind: 'denied' | 'error'
  readonly message: string
  readonly reason: string
  /** Which validation; 0 where it is not about one. */
  readonly index: number
}

export interface PolicyVerdict {
  readonly failures: readonly PolicyFailure[]
  /** What is noted in the audit log, by key. */
  readonly annotations: ReadonlyMap<string, string>
}

/** The expressions of a policy. They are compiled when they are first asked, and CEL is loaded then. */
export class PolicyExpressions {
  readonly #spec: NonNullable<ValidatingAdmissionPolicy['spec']>
  readonly #clock: Clock
  #compiled: Promise<Compiled> | undefined
  /** Whether asking is likely to take long, by what it took last. */
  #isCostly = true

  constructor(spec: NonNullable<ValidatingAdmissionPolicy['spec']>, clock: Clock) {
    this.#spec = spec
    this.#clock = clock
  }

  /** Asks all validations, and what is to be noted. Others are served before what is likely to take long. */
  async judge(facts: AdmissionFacts, turns: WorkTurns): Promise<PolicyVerdict> {
    this.#compiled ??= compile(this.#spec, this.#clock)
    const compiled = await this.#compiled
    const { api, problem } = compiled
    if (problem !== undefined) return { failures: [errorAt(0, problem)], annotations: new Map() }
    const turn = turns.take(this.#isCostly)
    // Without an await where there is no need: its time would begin before the work does.
    if (turn !== undefined) await turn
    const budget = new api.CostBudget(policyCostMax)
    const values = api.admissionVariables(facts)
    values.set('variables', api.policyVariables(compiled.variables, values, budget))
    const failures: PolicyFailure[] = []
    compiled.validations.forEach((validation, index) => {
      const failure = ask(validation, index, values, budget)
      if (failure !== undefined) failures.push(failure)
    })
    const annotations = new Map<string, string>()
    const own = new api.CostBudget(policyCostMax)
    for (const { source, value } of compiled.annotations) {
      const outcome = run(value, source.valueExpression, values, own)
      if ('error' in outcome) failures.push(errorAt(0, outcome.error))
      else if (typeof outcome.value === 'string' && outcome.value.trim() !== '') {
        annotations.set(source.key, outcome.value.trim())
      }
    }
    this.#isCostly = budget.spent + own.spent > costlyMin
    return { failures, annotations }
  }
}

async function compile(spec: NonNullable<ValidatingAdmissionPolicy['spec']>, clock: Clock): Promise<Compiled> {
  const api = await loadExpressions(clock)
  const { options, variables, problem } = compileVariables(api, spec)
  const programOf = (source: string, wanted: readonly ('bool' | 'string' | 'null')[], more = options): Program => {
    const compiled = api.compileAdmissionExpression(source, wanted, more)
    return 'problem' in compiled ? compiled : compiled.program
  }
  return {
    api,
    variables,
    problem,
    validations: (spec.validations ?? []).map((source) => ({
      source,
      test: programOf(source.expression, ['bool']),
      message:
        (source.messageExpression ?? '') === ''
          ? undefined
          : programOf(source.messageExpression ?? '', ['string'], { ...options, hasAuthorizer: false }),
    })),
    annotations: (spec.auditAnnotations ?? []).map((source) => ({
      source,
      value: programOf(source.valueExpression.trim(), ['string', 'null']),
    })),
  }
}

function ask(
  { source, test, message }: Compiled['validations'][number],
  index: number,
  values: ReadonlyMap<string, CelValue>,
  budget: CostBudget,
): PolicyFailure | undefined {
  const outcome = run(test, source.expression, values, budget)
  if ('error' in outcome) return errorAt(index, outcome.error)
  if (outcome.value === true) return undefined
  const said = message === undefined ? undefined : run(message, source.messageExpression ?? '', values, budget)
  const own = said !== undefined && 'value' in said ? usable(said.value) : ''
  const text = own || (source.message ?? '').trim() || `failed expression: ${source.expression.trim()}`
  return { kind: 'denied', message: text, reason: source.reason ?? 'Invalid', index }
}

/** A message that an expression made; empty where it is not one that can be shown. */
function usable(value: CelValue): string {
  const text = typeof value === 'string' ? value.trim() : ''
  return Buffer.byteLength(text) > messageBytesMax || text.includes('\n') ? '' : text
}

type Outcome = { readonly value: CelValue } | { readonly error: string }

function run(program: Program, source: string, values: ReadonlyMap<string, CelValue>, budget: CostBudget): Outcome {
  if ('problem' in program) return { error: program.problem }
  const outcome = budget.run(program, values)
  if ('value' in outcome) return outcome
  return outcome.exceeded
    ? { error: 'validation failed due to running out of cost budget, no further validation rules will be run' }
    : { error: `expression '${source}' resulted in error: ${outcome.error}` }
}

const errorAt = (index: number, message: string): PolicyFailure => ({
  kind: 'error',
  message,
  reason: 'Invalid',
  index,
})
