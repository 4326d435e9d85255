/** A duration of whole seconds as Go prints it: `10s`, `1m20s`, `5m0s`, `1h0m0s`. */
export function durationText(ms: number): string {
  const seconds = Math.round(ms / 1000)
  const minutes = Math.floor(seconds / 60)
  const hours = Math.floor(minutes / 60)
  if (minutes === 0) return `${seconds}s`
  if (hours === 0) return `${minutes}m${seconds % 60}s`
  return `${hours}h${minutes % 60}m${seconds % 60}s`
}

const second = 1_000_000_000n
const units: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1_000n,
  µs: 1_000n,
  μs: 1_000n,
  ms: 1_000_000n,
  s: second,
  m: 60n * second,
  h: 3_600n * second,
}
const durationPattern = /^([+-]?)((?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|\u00b5s|\u03bcs|ms|s|m|h))+|0)$/
const durationPart = /(\d*)\.?(\d*)(ns|us|\u00b5s|\u03bcs|ms|s|m|h)/g

/** An int64 has no more digits; of a fraction no more of them count. */
const digitsMax = 19
const nanosMax = 2n ** 63n - 1n

/** The nanoseconds of a duration as Go writes it: `1h30m`, `-1.5s`. Undefined where the text is none, or more than an int64 holds. */
export function parseDurationNanos(text: string): bigint | undefined {
  const parts = durationPattern.exec(text)
  if (parts === null) return undefined
  const [, sign, body = ''] = parts
  let nanos = 0n
  for (const [, whole = '', fraction = '', unit = ''] of body.matchAll(durationPart)) {
    const scale = units[unit] ?? 0n
    const digits = whole.replace(/^0+/, '')
    if (digits.length > digitsMax) return undefined
    nanos += BigInt(digits || '0') * scale
    const tenths = fraction.slice(0, digitsMax)
    if (tenths !== '') nanos += (BigInt(tenths) * scale) / 10n ** BigInt(tenths.length)
    if (nanos > (sign === '-' ? nanosMax + 1n : nanosMax)) return undefined
  }
  return sign === '-' ? -nanos : nanos
}
