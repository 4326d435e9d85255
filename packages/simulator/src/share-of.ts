/** A share of a number of pods: an absolute number, or a percentage of it. */
export function shareOf(share: number | string | undefined, total: number, round: (value: number) => number): number {
  if (typeof share !== 'string') return share ?? 0
  return round((Number.parseInt(share, 10) * total) / 100)
}
