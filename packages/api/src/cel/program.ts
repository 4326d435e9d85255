/**
 * Expressions ready to be run: read, checked against the types of their variables, their cost known. What rules of custom
 * resources, admission policies and match conditions of webhooks have in common.
 */
import { type ConstructibleTypes, checkCel } from './check.ts'
import { CelCheckError, CelCostExceeded, CelError, CelSyntaxError, describeProblems } from './errors.ts'
import { estimateCost, type SizeAt } from './estimate.ts'
import { CostMeter, type Evaluator, evaluatorOf } from './evaluate.ts'
import { functionTable, patchingFunctionTable } from './library/index.ts'
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

/** What some expressions may use and others may not: `cel.bind`, and what helps to write JSON patches. */
export type CelExtension = 'bindings' | 'json-patches'

export interface CelOptions {
  /** The types of objects that it may make; none without. */
  readonly constructible?: ConstructibleTypes
  /** Whether lists and maps in it may be of several types; they may not, where this is not given. */
  readonly literals?: AggregateLiterals
  /** What it may use beyond what all may; nothing, where this is not given. */
  readonly extension?: CelExtension
  /** What is wrong with the type of what it comes to; undefined where nothing is. */
  typeProblem?(type: CelType): string | undefined
}

/**
 * Why an expression is no program: it cannot be read or its types do not fit, what it comes to is of another type than is
 * wanted, or a constant in it cannot be converted or is no pattern.
 */
export interface CelFailure {
  readonly stage: 'compilation' | 'type' | 'instantiation'
  readonly problem: string
}

/** Makes an expression over these variables into a program, or says why it is none, in cel-go's words. */
export function compileCel(
  source: string,
  variables: ReadonlyMap<string, CelType>,
  { constructible, literals = 'alike', extension, typeProblem }: CelOptions = {},
): { readonly program: CelProgram } | CelFailure {
  try {
    const parsed = parseCel(source, { bindings: extension === 'bindings' })
    const functions = extension === 'json-patches' ? patchingFunctionTable : functionTable
    const checked = checkCel(parsed, variables, functions, constructible)
    validate(checked, literals)
    const problem = typeProblem?.(checked.type)
    if (problem !== undefined) return { stage: 'type', problem }
    const evaluate = evaluatorOf(checked)
    return {
      program: {
        type: checked.type,
        estimateCost: (sizeAt) => estimateCost(checked, sizeAt),
        uses: (variable) => checked.variables.has(variable),
        run: (values, costMax) => runWithin(evaluate, values, costMax),
      },
    }
  } catch (error) {
    if (error instanceof CelSyntaxError) return { stage: 'compilation', problem: describeProblems(source, [error]) }
    if (error instanceof CelCheckError) {
      return { stage: 'compilation', problem: describeProblems(source, error.problems) }
    }
    if (error instanceof CelError) return { stage: 'instantiation', problem: error.message }
    throw error
  }
}

function runWithin(evaluate: Evaluator, variables: ReadonlyMap<string, CelValue>, costMax: number): CelOutcome {
  const meter = new CostMeter(costMax)
  try {
    return { value: evaluate({ variables, meter }, undefined), cost: meter.spent }
  } catch (error) {
    const exceeded = error instanceof CelCostExceeded
    if (!exceeded && !(error instanceof CelError)) throw error
    return { error: error.message, exceeded, cost: meter.spent }
  }
}
