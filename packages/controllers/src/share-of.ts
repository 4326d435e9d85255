/** A number of a total: the number itself, or a percentage of the total (`25%`), rounded the way that is asked for. */
export function shareOf(value: number | string, total: number, rounding: 'up' | 'down'): number {
  if (typeof value === 'number') return value
  const share = (Number(value.slice(0, -1)) * total) / 100
  return rounding === 'up' ? Math.ceil(share) : Math.floor(share)
}
