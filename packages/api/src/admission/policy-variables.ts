import { CelError } from '../cel/errors.ts'
import type { CelOutcome, CelProgram } from '../cel/program.ts'
import { CelObject, type CelValue } from '../cel/values.ts'

/** What one evaluation may cost, whatever is left (upstream's PerCallLimit). */
export const callCostMax = 1_000_000

/** Why nothing more is asked once expressions have cost what they may together. */
export const outOfBudget =
  'validation failed due to running out of cost budget, no further validation rules will be run'

/** What the expressions of a policy may cost together, in one evaluation. */
export class CostBudget {
  readonly #max: number
  #left: number

  constructor(max: number) {
    this.#max = max
    this.#left = max
  }

  /** What was spent so far. */
  get spent(): number {
    return this.#max - this.#left
  }

  /** What is left to be spent by those that come after. */
  get left(): number {
    return this.#left
  }

  /**
   * The outcome is `exceeded` where the budget does not allow for it, variables it has asked for included; one that is only dear by
   * itself has an error.
   */
  run(program: CelProgram, variables: ReadonlyMap<string, CelValue>): CelOutcome {
    const outcome = program.run(variables, Math.min(callCostMax, this.#left))
    this.#left -= outcome.cost
    const { cost } = outcome
    if (this.#left < 0) return { error: 'error' in outcome ? outcome.error : outOfBudget, exceeded: true, cost }
    return 'error' in outcome ? { ...outcome, exceeded: false } : outcome
  }
}

/** A value that expressions share, by its name. */
export interface PolicyVariable {
  readonly name: string
  readonly program: CelProgram
}

/** The value of `variables`: each is found out when an expression first asks for it, and once. */
export function policyVariables(
  definitions: readonly PolicyVariable[],
  values: ReadonlyMap<string, CelValue>,
  budget: CostBudget,
): CelValue {
  const programs = new Map(definitions.map(({ name, program }) => [name, program]))
  const known = new Map<string, CelOutcome>()
  const all = new Map(values)
  const found = new CelObject(
    'kubernetes.variables',
    () => [...programs.keys()],
    (name) => {
      const program = programs.get(name)
      if (program === undefined) return undefined
      const outcome = known.get(name) ?? budget.run(program, all)
      known.set(name, outcome)
      if ('value' in outcome) return outcome.value
      throw new CelError(`composited variable ${JSON.stringify(name)} fails to evaluate: ${outcome.error}`)
    },
  )
  all.set('variables', found)
  return found
}
