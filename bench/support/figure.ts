/** `CPU` and `s` are seconds, `B` bytes, `%` the share of one core. */
export type Unit = 'CPU' | 's' | 'B' | '/s' | '%'

/** One measured figure. Rates are better large, all else small. */
export interface Figure {
  readonly value: number
  readonly unit: Unit
}

export const figure = (value: number, unit: Unit): Figure => ({ value, unit })

/** A figure as the table shows it, in the unit of the size it has: `105 µs CPU`, `36,400 /s`. */
export function showFigure({ value, unit }: Figure): string {
  switch (unit) {
    case 'CPU':
      return `${showSeconds(value)} CPU`
    case 's':
      return showSeconds(value)
    case 'B':
      return showBytes(value)
    case '/s':
      return `${Math.round(value).toLocaleString('en')} /s`
    case '%':
      return `${value.toFixed(1)} %`
  }
}

function showSeconds(seconds: number): string {
  if (seconds < 1e-3) return `${Math.round(seconds * 1e6)} µs`
  return seconds < 1 ? `${threeDigits(seconds * 1e3)} ms` : `${threeDigits(seconds)} s`
}

const showBytes = (bytes: number): string =>
  Math.abs(bytes) < 1e6 ? `${threeDigits(bytes / 1e3)} kB` : `${Math.round(bytes / 1e6)} MB`

const threeDigits = (value: number): string => (value < 100 ? value.toPrecision(3) : value.toFixed(0))

export const median = (values: readonly number[]): number => {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}
