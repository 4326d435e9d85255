import { isQuantity, quantityValue } from '@coracle/api'

/** What a node may run low on: upstream's eviction signals, those of processes apart. */
export const evictionSignals = [
  'memory.available',
  'nodefs.available',
  'nodefs.inodesFree',
  'imagefs.available',
  'imagefs.inodesFree',
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

/** Thresholds as upstream's `--eviction-hard` has them: `memory.available<100Mi,nodefs.available<10%`. Throws where it is something else. */
export function parseEvictionThresholds(text: string): EvictionThresholds {
  const found: Partial<Record<EvictionSignal, string>> = {}
  for (const part of text.split(',').filter((each) => each !== '')) {
    const [, name = '', value = ''] = /^([^<]*)<(.*)$/.exec(part) ?? []
    const signal = evictionSignals.find((each) => each === name)
    if (signal === undefined)
      throw new Error(`${JSON.stringify(part)} is none of ${evictionSignals.join(', ')}, < and a value`)
    if (signal in found) throw new Error(`${signal} is there twice`)
    const percent = /^(\d+(?:\.\d+)?)%$/.exec(value)?.[1]
    const isRight = percent === undefined ? isQuantity(value) && quantityValue(value) > 0 : Number(percent) <= 100
    if (!isRight) throw new Error(`${part}: the value is to be a quantity above 0, or 0% to 100%`)
    // Nothing is ever less than the one, and all is less than the other.
    if (percent === undefined || (Number(percent) > 0 && Number(percent) < 100)) found[signal] = value
  }
  return found
}
