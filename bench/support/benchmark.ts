import { type Figure, figure, type Unit } from './figure.ts'
import type { Subject } from './server.ts'

/** What one run of a benchmark says about one row of the table. */
export interface Measurement {
  /** What is judged. */
  readonly figure: Figure
  /** What else the run has shown: the rate beside the CPU, the slowest request. */
  readonly beside?: readonly Figure[]
}

/** What is to be reached. */
export type Budget =
  /** Whatever the machine's reference server does; or, of the figure of Kubernetes 1.20.2 on the machine of the budgets, where none is measured. */
  | { readonly ratio: number; readonly upstream: Figure }
  /** In itself. */
  | { readonly limit: Figure }

/** One row of the table. */
export interface Row {
  readonly what: string
  readonly budget: Budget
}

/** Something to do to a server, and what it tells. */
export interface Benchmark {
  readonly name: string
  readonly rows: readonly Row[]
  /** How often it is done; the table has the median. */
  readonly rounds: number
  /** Whether it needs a server that it starts itself: one that is fresh, or has simulated nodes. */
  readonly needsOwnServer: boolean
  /** A measurement for each row. */
  measure(subject: Subject): Promise<readonly Measurement[]>
}

export const limit = (value: number, unit: Unit): Budget => ({ limit: figure(value, unit) })

export const ratio = (value: number, upstream: number, unit: Unit): Budget => ({
  ratio: value,
  upstream: figure(upstream, unit),
})

/** What a figure has to be, with what the reference server reached in the same run if it was measured. */
export function limitOf(budget: Budget, reference: Figure | undefined): Figure {
  if ('limit' in budget) return budget.limit
  const { value, unit } = reference ?? budget.upstream
  return figure(budget.ratio * value, unit)
}

/** Whether `measured` keeps `wanted`. */
export const keeps = (measured: Figure, wanted: Figure): boolean =>
  wanted.unit === '/s' ? measured.value >= wanted.value : measured.value <= wanted.value
