/**
 * Expressions ready to be run: read, checked against the types of their variables, their cost known. What rules of custom
 * resources, admission policies and match conditions of webhooks have in common.
 */
import { type ConstructibleTypes, checkCel } from './check.ts'
import { CelCheckError, CelCostExceeded, CelError, CelSyntaxError, describeProblems } from './errors.ts'
import { estimateCost, type SizeAt } from './estimate.ts'
import { CostMeter, evaluatorOf } from './evaluate.ts'
import { functionTable } from './library/index.ts'
import { parseCel } from './parse.ts'
import type { Range } from './ranges.ts'
import type { CelType } from './types.ts'
import { type AggregateLiterals, validate } from './validate.ts'
import type { CelValue } from './values.ts'

/** What an evaluation came to. */
export type CelOutcome = { readonly cost: number } & (
  | { readonly value: CelValue }
  /** Why there is no value; with `exceeded` it cost more than it may. */
  | { readonly error: string; readonly exceeded: boolean }
)

export interface CelProgram {
  readonly type: CelType
  /** What it may cost, from the sizes of what it looks at. */
  estimateCost(sizeAt: SizeAt): Range
  readonly uses: (variable: string) => boolean
  /** Evaluates it with these values, until it has cost more than `costMax`. */
  run(variables: ReadonlyMap<string, CelValue>, costMax: number): CelOutcome
}

/**
 * Makes an expression over these variables into a program, or says why it is none, in cel-go's words. It may make objects of
 * types that are `constructible`.
 */
export function compileCel(
  source: string,
  variables: ReadonlyMap<string, CelType>,
  constructible?: ConstructibleTypes,
  literals: AggregateLiterals = 'mixed',
): { readonly program: CelProgram } | { readonly problem: string } {
  try {
    const checked = checkCel(parseCel(source), variables, functionTable, constructible)
    validate(checked, literals)
    const evaluate = evaluatorOf(checked)
    return {
      program: {
        type: checked.type,
        estimateCost: (sizeAt) => estimateCost(checked, sizeAt),
        uses: (variable) => checked.variables.has(variable),
        run: (values, costMax) => {
          const meter = new CostMeter(costMax)
          try {
            return { value: evaluate({ variables: values, meter }, undefined), cost: meter.spent }
          } catch (error) {
            const exceeded = error instanceof CelCostExceeded
            if (!exceeded && !(error instanceof CelError)) throw error
            return { error: error.message, exceeded, cost: meter.spent }
          }
        },
      },
    }
  } catch (error) {
    if (error instanceof CelSyntaxError) return { problem: describeProblems(source, [error]) }
    if (error instanceof CelCheckError) return { problem: describeProblems(source, error.problems) }
    throw error
  }
}
