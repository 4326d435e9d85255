import { parseTime } from '@coracle/api'

const nanosPerMs = 1_000_000

/** A time of an engine as CRI has it: nanoseconds since 1970, to the millisecond; 0 for never, which engines write as the year 1. */
export function nanos(time: string): number {
  if (time === '' || time.startsWith('0001-')) return 0
  const [, seconds = time, digits = '', zone = ''] = /^([^.Z+]*?)(?:\.(\d+))?(Z|[+-]\d\d:\d\d)$/.exec(time) ?? []
  return (parseTime(seconds + zone) + Number(digits.padEnd(3, '0').slice(0, 3))) * nanosPerMs
}
