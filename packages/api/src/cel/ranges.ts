/** Ranges of sizes and costs, from the least to the most. What nothing bounds has no end. */
export interface Range {
  readonly min: number
  readonly max: number
}

export const exactly = (number: number): Range => ({ min: number, max: number })

/** The size of what nothing is known of. */
export const unbounded: Range = { min: 0, max: Number.POSITIVE_INFINITY }

export const sumOf = (ranges: readonly Range[]): Range => ranges.reduce(plus, exactly(0))

export const plus = (a: Range, b: Range): Range => ({ min: a.min + b.min, max: a.max + b.max })

export const times = (a: Range, b: Range): Range => ({ min: product(a.min, b.min), max: product(a.max, b.max) })

/** Each end times a factor, rounded up. */
export const scaled = ({ min, max }: Range, factor: number): Range => ({
  min: Math.ceil(product(min, factor)),
  max: Math.ceil(product(max, factor)),
})

/** The range that holds both. */
export const union = (a: Range, b: Range): Range => ({ min: Math.min(a.min, b.min), max: Math.max(a.max, b.max) })

/** Nothing times without end is nothing. */
const product = (a: number, b: number): number => (a === 0 || b === 0 ? 0 : a * b)
