import { type GoTypes, hasReason } from '@coracle/api'
import type { Clock } from '@coracle/environment'

/** Whose time stands still while something is loaded, where it is virtual. */
export type HeldClock = Pick<Clock, 'hold'>

/** The names of upstream's types. Nobody needs them before something does not decode. */
export const loadGoTypes = (clock: HeldClock): Promise<GoTypes> => clock.hold(load())

const load = async (): Promise<GoTypes> => (await import('@coracle/api/go-types')).goTypes

/**
 * What `decode` makes of something. Where its words are about a type of upstream's, it says them again with the names of these. Absent: a clock is not
 * asked, as where requests come over the wire, in the host's time.
 */
export function inGoTypes<T>(decode: (goTypes?: GoTypes) => T, clock?: HeldClock): T | Promise<T> {
  try {
    return decode()
  } catch (error) {
    if (!hasReason(error, 'BadRequest') || !error.message.includes('json: cannot unmarshal ')) throw error
    return (clock === undefined ? load() : loadGoTypes(clock)).then(decode)
  }
}
