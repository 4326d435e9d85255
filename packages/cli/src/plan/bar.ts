const blocks = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█']
const none = '·'

/** How many were ready from some moment on. */
interface Sample {
  readonly at: number
  readonly ready: number
}

/**
 * A picture of how many were ready over some seconds: a character for what was before, and one for each part of that time, whose
 * height is the fewest at any moment of it. A point is none. Pure.
 */
export function availabilityBar(samples: readonly Sample[], seconds: number, width: number): string {
  const most = Math.max(1, ...samples.map(({ ready }) => ready))
  const part = seconds / (width - 1)
  return Array.from({ length: width }, (_, index) => {
    const fewest = index === 0 ? (samples[0]?.ready ?? 0) : fewestBetween(samples, (index - 1) * part, index * part)
    if (fewest === 0) return none
    return blocks[Math.max(0, Math.ceil((fewest / most) * blocks.length) - 1)] ?? none
  }).join('')
}

/** The fewest that were ready at any moment from one time to another: what was so before counts until it changes. */
function fewestBetween(samples: readonly Sample[], from: number, to: number): number {
  const before = samples.findLast(({ at }) => at <= from) ?? samples[0]
  const within = samples.filter(({ at }) => at > from && at < to)
  return Math.min(...[...(before === undefined ? [] : [before]), ...within].map(({ ready }) => ready))
}
