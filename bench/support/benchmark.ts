import type { Target } from './connection.ts'

/** One figure. Times and sizes are better small, rates better large. */
export interface Figure {
  readonly value: number
  readonly unit: 's' | 'MB' | '/s'
}

/** One row of the table. */
export interface Benchmark {
  readonly name: string
  readonly what: string
  /** What is to be reached on the machine the budgets were made on. */
  readonly budget: Figure
  /**
   * What upstream reached on that machine. Where a reference server is measured, it is the ratio of the two that is to be
   * reached, whatever the machine.
   */
  readonly upstream?: number
  /** Measures a Coracle that it starts itself. */
  measure(): Promise<Figure>
  /** Measures a server that is already running; absent where only a fresh one can be measured. */
  measureReference?(target: Target): Promise<Figure>
}

export const showFigure = ({ value, unit }: Figure): string =>
  unit === '/s'
    ? `${Math.round(value).toLocaleString('en')} /s`
    : unit === 'MB'
      ? `${Math.round(value)} MB`
      : `${value.toFixed(value < 10 ? 3 : 1)} s`

/** What `measured` is to keep: the budget, or its ratio to what the reference server reached in the same run. */
export function limitOf({ budget, upstream }: Benchmark, reference: Figure | undefined): Figure {
  if (upstream === undefined || reference === undefined) return budget
  return { ...budget, value: (budget.value / upstream) * reference.value }
}

/** Whether `measured` keeps `limit`. */
export const keepsBudget = (measured: Figure, limit: Figure): boolean =>
  limit.unit === '/s' ? measured.value >= limit.value : measured.value <= limit.value

export const median = (values: readonly number[]): number => {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}
