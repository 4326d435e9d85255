import type { WorkTurns } from '../../work-turns.ts'

/** Expressions that cost more together may keep others waiting: what comes after them is work for a turn of its own. */
export const costlyMin = 50_000

/** Spreads the expressions that are asked about one request over turns of the event loop, by what they cost. */
export class ExpressionTurns {
  readonly #turns: WorkTurns
  #told = 0

  constructor(turns: WorkTurns) {
    this.#turns = turns
  }

  /** Undefined where the next expression may be asked now; otherwise resolves when it may. `spent`: what all before it have cost. */
  before(spent: number): Promise<void> | undefined {
    if (spent - this.#told <= costlyMin) return undefined
    this.#told = spent
    return this.#turns.take(true)
  }
}
