import { forbidden, type MatchCondition } from '@coracle/api'
import type { AdmissionFacts, CelProgram } from '@coracle/api/admission'
import type { Clock } from '@coracle/environment'
import type { WorkTurns } from '../../work-turns.ts'
import type { AdmissionAttributes } from '../admission.ts'
import { ExpressionTurns } from './expression-turns.ts'
import { loadExpressions } from './load-expressions.ts'

/** What all conditions of a webhook or a policy may cost together, as upstream. */
export const conditionsCostMax = 2_500_000

interface CompiledCondition {
  readonly source: string
  /** Why it cannot be run: it was stored by another server, with another idea of expressions. */
  readonly problem?: string
  readonly program?: CelProgram
}

/** Conditions in CEL that a request must meet. They are compiled when they are first asked, and CEL is loaded then. */
export class MatchConditions {
  readonly #sources: readonly MatchCondition[]
  readonly #clock: Clock
  readonly #hasParams: boolean
  #compiled: Promise<readonly CompiledCondition[]> | undefined

  constructor(sources: readonly MatchCondition[], clock: Clock, hasParams = false) {
    this.#sources = sources
    this.#clock = clock
    this.#hasParams = hasParams
  }

  get isEmpty(): boolean {
    return this.#sources.length === 0
  }

  /**
   * Whether all hold. One that does not decides alone; an error counts where there is no such one, and is returned: the failure policy
   * says what then. As upstream, all are evaluated, and together over budget are an error whatever some of them say. Others are served after
   * each that took long.
   */
  async judge(
    facts: AdmissionFacts,
    turns: WorkTurns,
  ): Promise<{ readonly matches: boolean } | { readonly error: string }> {
    const { admissionVariables, CostBudget, outOfBudget } = await loadExpressions(this.#clock)
    this.#compiled ??= this.#compile()
    const { request } = facts
    // As upstream has it they see no namespace, and the resource as it was asked for.
    const seen = { ...request, resource: request.requestResource }
    const variables = admissionVariables({ ...facts, request: seen, namespaceObject: undefined })
    const errors: string[] = []
    let isFalse = false
    const budget = new CostBudget(conditionsCostMax)
    const expressionTurns = new ExpressionTurns(turns)
    for (const { source, problem = '', program } of await this.#compiled) {
      if (program === undefined) {
        errors.push(`compilation error: ${problem}`)
        continue
      }
      const turn = expressionTurns.before(budget.spent)
      if (turn !== undefined) await turn
      const outcome = budget.run(program, variables)
      if ('value' in outcome) {
        if (outcome.value !== true) isFalse = true
      } else if (outcome.exceeded) {
        return { error: outOfBudget }
      } else errors.push(`expression '${source}' resulted in error: ${outcome.error}`)
    }
    if (isFalse) return { matches: false }
    return errors.length === 0 ? { matches: true } : { error: aggregated(errors) }
  }

  async #compile(): Promise<readonly CompiledCondition[]> {
    const { compileAdmissionExpression } = await loadExpressions(this.#clock)
    const options = { hasParams: this.#hasParams, hasAuthorizer: true }
    return this.#sources.map(({ expression }) => ({
      source: expression,
      ...compileAdmissionExpression(expression, ['bool'], options),
    }))
  }
}

/** Several errors as Go's aggregate shows them. */
export function aggregated(errors: readonly string[]): string {
  const distinct = [...new Set(errors)]
  return distinct.length === 1 ? (distinct[0] ?? '') : `[${distinct.join(', ')}]`
}

/** The refusal of a request about which somebody wanted to know more than could be found out. */
export function conditionFailed({ definition, name }: AdmissionAttributes, why: string): Error {
  return forbidden(definition, name, why)
}
