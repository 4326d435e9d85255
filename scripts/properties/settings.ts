/** How property tests draw their values. */
export interface PropertySettings {
  /** The same seed draws the same values, in every test. */
  readonly seed: number
  /** How many times as many values each property is tried with as its test asks for. */
  readonly runs: number
}

/** What a run of the tests draws from unless told otherwise: it passes or fails for what the code does, not by chance. */
export const usualSeed = 1

const seedMax = 2 ** 31 - 1
const runsMax = 10_000

/**
 * Reads `CORACLE_PROPERTY_SEED` (a number, or `random` for one that `drawSeed` gives) and `CORACLE_PROPERTY_RUNS`; throws with a message
 * for people.
 */
export function propertySettings(
  { CORACLE_PROPERTY_SEED: seed, CORACLE_PROPERTY_RUNS: runs }: Readonly<Record<string, string | undefined>>,
  drawSeed: (max: number) => number,
): PropertySettings {
  return {
    seed: seed === 'random' ? drawSeed(seedMax) : whole('CORACLE_PROPERTY_SEED', seed, usualSeed, [0, seedMax]),
    runs: whole('CORACLE_PROPERTY_RUNS', runs, 1, [1, runsMax]),
  }
}

function whole(
  name: string,
  text: string | undefined,
  otherwise: number,
  [min, max]: readonly [number, number],
): number {
  if (text === undefined || text === '') return otherwise
  const value = Number(text)
  if (/^\d+$/.test(text) && value >= min && value <= max) return value
  const also = name === 'CORACLE_PROPERTY_SEED' ? ', or "random"' : ''
  throw new Error(`${name} is a whole number from ${min} to ${max}${also}, not ${JSON.stringify(text)}`)
}

/** The environment in which `propertySettings` reads these settings again: that of the processes that run tests. */
export function environmentOf({ seed, runs }: PropertySettings): Readonly<Record<string, string>> {
  return { CORACLE_PROPERTY_SEED: String(seed), CORACLE_PROPERTY_RUNS: String(runs) }
}
