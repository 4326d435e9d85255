import { isQuantity, quantityValue } from '@coracle/api'
import { parseDuration } from '@coracle/environment'

/** What a node may run low on: upstream's eviction signals. */
export const evictionSignals = [
  'memory.available',
  'nodefs.available',
  'nodefs.inodesFree',
  'imagefs.available',
  'imagefs.inodesFree',
  'pid.available',
] as const
export type EvictionSignal = (typeof evictionSignals)[number]

/** How little may be left of each before pods go, as a quantity or in percent: `100Mi`, `10%`. What is absent may all be used up. */
export type EvictionThresholds = Readonly<Partial<Record<EvictionSignal, string>>>

/** Upstream's defaults. */
export const evictionThresholds: EvictionThresholds = {
  'memory.available': '100Mi',
  'nodefs.available': '10%',
  'nodefs.inodesFree': '5%',
  'imagefs.available': '15%',
  'imagefs.inodesFree': '5%',
}

/** What else there is to say of evictions, beside the hard thresholds. */
export interface EvictionDetails {
  /** Pods go below these too, once that has been so for as long as `softGraceMs` says. */
  readonly soft: EvictionThresholds
  readonly softGraceMs: Readonly<Partial<Record<EvictionSignal, number>>>
  /** How much more than its threshold is to be left of each again before pods stop going, as a quantity or in percent. */
  readonly minimumReclaim: EvictionThresholds
  /** Pods that go for a soft threshold have so long to end at most, and no longer than they say. */
  readonly podGraceMaxMs: number
  /** How long a node is said to be under pressure after it no longer is. */
  readonly pressureTransitionMs: number
}

/** Upstream's defaults. */
export const evictionDetails: EvictionDetails = {
  soft: {},
  softGraceMs: {},
  minimumReclaim: {},
  podGraceMaxMs: 0,
  pressureTransitionMs: 300_000,
}

/** Thresholds as upstream's `--eviction-hard` has them: `memory.available<100Mi,nodefs.available<10%`. Throws where it is something else. */
export function parseEvictionThresholds(text: string): EvictionThresholds {
  return parseSignals(text, '<', (value, part) => {
    const percent = percentOf(value)
    const isRight = percent === undefined ? isQuantity(value) && quantityValue(value) > 0 : percent <= 100
    if (!isRight) throw new Error(`${part}: the value is to be a quantity above 0, or 0% to 100%`)
    // Nothing is ever less than the one, and all is less than the other.
    return percent === 0 || percent === 100 ? undefined : value
  })
}

/** As upstream's `--eviction-minimum-reclaim` has them: `nodefs.available=500Mi`. Throws where it is something else. */
export function parseMinimumReclaim(text: string): EvictionThresholds {
  return parseSignals(text, '=', (value, part) => {
    const percent = percentOf(value)
    const isRight = percent === undefined ? isQuantity(value) && quantityValue(value) >= 0 : percent > 0
    if (!isRight) throw new Error(`${part}: the value is to be a quantity of at least 0, or more than 0%`)
    return value
  })
}

/** As upstream's `--eviction-soft-grace-period` has them: `memory.available=1m30s`. Throws where it is something else. */
export function parseSoftGracePeriods(text: string): EvictionDetails['softGraceMs'] {
  return parseSignals(text, '=', (value, part) => {
    try {
      const graceMs = parseDuration(value)
      if (graceMs >= 0) return graceMs
    } catch {}
    throw new Error(`${part}: the value is to be a duration of at least 0, such as 1m30s`)
  })
}

/** The first soft threshold of which nobody says how long it is borne. */
export const softWithoutGrace = ({
  soft,
  softGraceMs,
}: Pick<EvictionDetails, 'soft' | 'softGraceMs'>): EvictionSignal | undefined =>
  evictionSignals.find((signal) => soft[signal] !== undefined && softGraceMs[signal] === undefined)

function parseSignals<T>(
  text: string,
  operator: '<' | '=',
  parseValue: (value: string, part: string) => T | undefined,
): Partial<Record<EvictionSignal, T>> {
  const found = new Map<EvictionSignal, T | undefined>()
  for (const part of text.split(',').filter((each) => each !== '')) {
    const at = part.indexOf(operator)
    const signal = evictionSignals.find((each) => each === part.slice(0, at))
    if (at < 0 || signal === undefined)
      throw new Error(`${JSON.stringify(part)} is none of ${evictionSignals.join(', ')}, ${operator} and a value`)
    if (found.has(signal)) throw new Error(`${signal} is there twice`)
    found.set(signal, parseValue(part.slice(at + 1), part))
  }
  return Object.fromEntries([...found].filter(([, value]) => value !== undefined)) as Partial<Record<EvictionSignal, T>>
}

function percentOf(value: string): number | undefined {
  const percent = /^(\d+(?:\.\d+)?)%$/.exec(value)?.[1]
  return percent === undefined ? undefined : Number(percent)
}
