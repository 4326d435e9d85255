/** Random tries before all values are looked at in order: enough unless most are taken. */
const randomTriesMax = 16

/**
 * A free number of [0, size), or undefined where none is. Those below `keptBack` are chosen last: people ask for them by
 * value (https://kep.k8s.io/3070). Pure but for `random`, which gives numbers of [0, 1).
 */
export function chooseFree(
  size: number,
  keptBack: number,
  isTaken: (value: number) => boolean,
  random: () => number,
): number | undefined {
  const span = size - keptBack
  for (let attempt = 0; attempt < randomTriesMax && span > 0; attempt += 1) {
    const value = keptBack + Math.floor(random() * span)
    if (!isTaken(value)) return value
  }
  const start = span > 0 ? keptBack + Math.floor(random() * span) : 0
  for (let step = 0; step < size; step += 1) {
    // From `start` to the end, then from `keptBack` on, then what is kept back.
    const value = step < size - start ? start + step : step < span ? keptBack + step - (size - start) : step - span
    if (!isTaken(value)) return value
  }
  return undefined
}

/** How many of a range's first values are kept back: between 16 and `max`, a sixteenth of a range of middling size. */
export const keptBackOf = (size: number, max: number): number =>
  size < 16 ? 0 : Math.min(Math.max(16, Math.floor(size / 16)), max)
