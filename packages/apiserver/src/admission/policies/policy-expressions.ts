import type { AuditAnnotation, ValidatingAdmissionPolicy, Validation } from '@coracle/api'
import type { AdmissionFacts, CelProgram, CelValue, CostBudget, PolicyVariable } from '@coracle/api/admission'
import type { Clock } from '@coracle/environment'
import type { WorkTurns } from '../../work-turns.ts'
import { costlyMin, ExpressionTurns } from '../matching/expression-turns.ts'
import { loadExpressions } from '../matching/load-expressions.ts'
import { compileVariables } from './policy-variables.ts'

/** What one evaluation of a policy may cost, as upstream. */
export const policyCostMax = 10_000_000
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
  /** Why some of that cannot be: whatever bindings want of failures, a policy that must not fail refuses then. */
  readonly annotationErrors: readonly string[]
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

  /** Asks all validations, and what is to be noted. Others are served before what is likely to take long, and after each that did. */
  async judge(facts: AdmissionFacts, turns: WorkTurns): Promise<PolicyVerdict> {
    this.#compiled ??= compile(this.#spec, this.#clock)
    const compiled = await this.#compiled
    const { problem } = compiled
    if (problem !== undefined) return failed(problem)
    const turn = turns.take(this.#isCostly)
    // Without an await where there is no need: its time would begin before the work does.
    if (turn !== undefined) await turn
    const values = compiled.api.admissionVariables(facts)
    const validations = new Asking(compiled, values, turns)
    const annotations = new Asking(compiled, values, turns)
    const verdict = await verdictOf(compiled, values, validations, annotations, turns)
    this.#isCostly = validations.spent + annotations.spent > costlyMin
    return verdict
  }
}

/** Expressions that are asked one after the other, with one budget: each finds variables as those before it found them. */
class Asking {
  readonly #budget: CostBudget
  readonly #values: Map<string, CelValue>
  readonly #turns: ExpressionTurns

  constructor({ api, variables }: Compiled, values: Values, turns: WorkTurns, costMax = policyCostMax) {
    this.#turns = new ExpressionTurns(turns)
    this.#budget = new api.CostBudget(costMax)
    this.#values = new Map(values)
    this.#values.set('variables', api.policyVariables(variables, this.#values, this.#budget))
  }

  get spent(): number {
    return this.#budget.spent
  }

  get left(): number {
    return this.#budget.left
  }

  /** Undefined where the next may be asked now; otherwise resolves when it may. */
  turn(): Promise<void> | undefined {
    return this.#turns.before(this.spent)
  }

  /** Undefined where the budget is spent: nothing counts then of what was said before. */
  ask(program: Program, source: string): Outcome | undefined {
    if ('problem' in program) return { error: `compilation error: ${program.problem}` }
    const outcome = this.#budget.run(program, this.#values)
    if ('value' in outcome) return outcome
    return outcome.exceeded ? undefined : { error: `expression '${source}' resulted in error: ${outcome.error}` }
  }
}

type Values = ReadonlyMap<string, CelValue>
type Outcome = { readonly value: CelValue } | { readonly error: string }

/** All validations are asked before any message is made, and messages have what validations left. */
async function verdictOf(
  compiled: Compiled,
  values: Values,
  validations: Asking,
  annotations: Asking,
  turns: WorkTurns,
): Promise<PolicyVerdict> {
  const { api } = compiled
  const outcomes: Outcome[] = []
  for (const { test, source } of compiled.validations) {
    const turn = validations.turn()
    if (turn !== undefined) await turn
    const outcome = validations.ask(test, source.expression)
    if (outcome === undefined) return failed(api.outOfBudget)
    outcomes.push(outcome)
  }
  const failures = await failuresOf(compiled, outcomes, () => new Asking(compiled, values, turns, validations.left))
  const noted = new Map<string, string>()
  const annotationErrors: string[] = []
  for (const { source, value } of compiled.annotations) {
    const turn = annotations.turn()
    if (turn !== undefined) await turn
    const outcome = annotations.ask(value, source.valueExpression)
    if (outcome === undefined) return failed(api.outOfBudget)
    if ('error' in outcome) annotationErrors.push(outcome.error)
    else if (typeof outcome.value === 'string' && outcome.value.trim() !== '') {
      noted.set(source.key, outcome.value.trim())
    }
  }
  return { failures, annotations: noted, annotationErrors }
}

async function failuresOf(
  compiled: Compiled,
  outcomes: readonly Outcome[],
  asking: () => Asking,
): Promise<readonly PolicyFailure[]> {
  const isDenied = outcomes.some((outcome) => 'value' in outcome && outcome.value !== true)
  const messages = isDenied ? await messagesOf(compiled, asking()) : []
  return outcomes.flatMap((outcome, index) => {
    if ('error' in outcome) return [errorAt(index, outcome.error)]
    // Where messages cannot be paid for upstream refuses what was fine, too.
    if (messages === undefined) return [errorAt(index, `failed messageExpression: ${compiled.api.outOfBudget}`)]
    if (outcome.value === true) return []
    const { source } = compiled.validations[index] as Compiled['validations'][number]
    const message = messages[index] || (source.message ?? '').trim() || `failed expression: ${source.expression.trim()}`
    return [{ kind: 'denied', message, reason: source.reason ?? 'Invalid', index }]
  })
}

/** What is said of each validation should it not hold, '' where nothing is made; undefined where that cannot be paid for. */
async function messagesOf({ validations }: Compiled, asking: Asking): Promise<readonly string[] | undefined> {
  const messages: string[] = []
  for (const { source, message } of validations) {
    if (message === undefined) {
      messages.push('')
      continue
    }
    const turn = asking.turn()
    if (turn !== undefined) await turn
    const outcome = asking.ask(message, source.messageExpression ?? '')
    if (outcome === undefined) return undefined
    messages.push('value' in outcome ? usable(outcome.value) : '')
  }
  return messages
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
      value: programOf(source.valueExpression, ['string', 'null']),
    })),
  }
}

/** A message that an expression made; empty where it is not one that can be shown. */
function usable(value: CelValue): string {
  const text = typeof value === 'string' ? value.trim() : ''
  return Buffer.byteLength(text) > messageBytesMax || text.includes('\n') ? '' : text
}

/** What a policy says that could not be asked. */
const failed = (problem: string): PolicyVerdict => ({
  failures: [errorAt(0, problem)],
  annotations: new Map(),
  annotationErrors: [],
})

const errorAt = (index: number, message: string): PolicyFailure => ({
  kind: 'error',
  message,
  reason: 'Invalid',
  index,
})
