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
  /** What is to be reached on the reference machine. */
  readonly budget: Figure
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

/** Whether `measured` keeps `budget`. */
export const keepsBudget = (measured: Figure, budget: Figure): boolean =>
  budget.unit === '/s' ? measured.value >= budget.value : measured.value <= budget.value

export const median = (values: readonly number[]): number => {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}
