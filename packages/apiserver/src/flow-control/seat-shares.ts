import type { PriorityLevelConfiguration } from '@coracle/api'

/** How many requests of a level are answered at a time. */
export interface SeatShare {
  /** Its seats. */
  readonly nominal: number
  /** Of those, the ones that it lends to nobody. */
  readonly reserved: number
  /** How many it may have with those that others lend. */
  readonly most: number
}

/**
 * Divides the seats of the server among its levels in proportion to their shares (apiserver, util/flowcontrol: NominalCL, MinCL and
 * MaxCL). Each number is rounded as upstream rounds it, so that together they may be a few more than there are. Pure.
 */
export function seatShares(
  levels: readonly PriorityLevelConfiguration[],
  seats: number,
): ReadonlyMap<string, SeatShare> {
  const parts = levels.map(({ metadata: { name = '' }, spec }) => {
    const { nominalConcurrencyShares: shares = 0, lendablePercent = 0 } = spec?.limited ?? spec?.exempt ?? {}
    return { name, shares, lendablePercent, borrowingLimitPercent: spec?.limited?.borrowingLimitPercent }
  })
  const all = parts.reduce((sum, { shares }) => sum + shares, 0)
  return new Map(
    parts.map(({ name, shares, lendablePercent, borrowingLimitPercent }) => {
      const nominal = all === 0 ? 0 : Math.ceil((seats * shares) / all)
      const reserved = nominal - Math.round((nominal * lendablePercent) / 100)
      const most =
        borrowingLimitPercent === undefined ? seats : nominal + Math.round((nominal * borrowingLimitPercent) / 100)
      return [name, { nominal, reserved, most }]
    }),
  )
}
