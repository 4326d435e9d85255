/** Integers of 64 bits: what leaves their range is an error. */
import { CelError } from '../errors.ts'
import { Uint } from '../values.ts'

const intMin = -(2n ** 63n)
const intMax = 2n ** 63n - 1n
const uintMax = 2n ** 64n - 1n

export function toInt(value: bigint): bigint {
  if (value >= intMin && value <= intMax) return value
  throw new CelError('integer overflow')
}

export function toUint(value: bigint): Uint {
  if (value >= 0n && value <= uintMax) return new Uint(value)
  throw new CelError('unsigned integer overflow')
}
