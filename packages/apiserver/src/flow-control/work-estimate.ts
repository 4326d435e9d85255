/** How many seats a request takes, and for how long beyond its answer. */
export interface WorkEstimate {
  /** While it is answered. */
  readonly initialSeats: number
  /** While watchers are told what it has changed: for `lingersMs` after its answer. */
  readonly finalSeats: number
  readonly lingersMs: number
}

/** What of a list tells how much it takes. */
export interface ListWork {
  /** Whether it is about one object, which it names. */
  readonly namesOne: boolean
  readonly isWatch: boolean
  /** 0 for all. */
  readonly limit: number
  readonly selects: boolean
  readonly resourceVersion: string
  readonly resourceVersionMatch: string
  readonly continues: boolean
  readonly sendsInitialEvents: boolean
}

/** What is stored of a resource. */
export interface StoredAmount {
  readonly count: number
  readonly averageBytes: number
}

/** What upstream's work estimator is configured with (apiserver, util/flowcontrol/request/config.go). */
export const listSeatsMax = 100
export const writeSeatsMax = 10
const bytesPerSeat = 100_000
/** A list from a cache is sent as it goes. */
const streamedBytesMax = 1_000_000
const watchersPerSeat = 10
const eventMs = 5
/** What upstream assumes a request to take before it has been answered. */
const serviceMs = 3

/** Most seats that a request of a level takes, of as many as the level has: 15 %, and no more than one of a flow's queues has by right. */
export function widestOf(seats: number, handSize: number): number {
  return Math.max(1, Math.min(Math.ceil(seats * 0.15), Math.floor(seats / handSize)))
}

/** What is neither a list nor a write. */
export const oneSeat: WorkEstimate = { initialSeats: 1, finalSeats: 0, lingersMs: 0 }

/** What a list, or a watch that begins with one, takes: seats by the memory it fills. `widest` is of its level; absent where that has none. Pure. */
export function estimateList(list: ListWork, stored: StoredAmount, widest = listSeatsMax): WorkEstimate {
  const { isWatch, resourceVersion } = list
  const hasInitialEvents = list.sendsInitialEvents || resourceVersion === '' || resourceVersion === '0'
  if (isWatch && !hasInitialEvents) return oneSeat
  const isCached = isWatch || isFromCache(list)
  const bytes = objectsInMemory(list, stored.count, isCached) * stored.averageBytes
  const seats = Math.ceil((isCached ? Math.min(bytes, streamedBytesMax) : bytes) / bytesPerSeat)
  return { ...oneSeat, initialSeats: Math.min(Math.max(seats, 1), widest, listSeatsMax) }
}

/** A list whose options cannot be read is refused later; until then it counts as the widest there is. */
export const unreadableList = (widest = listSeatsMax): WorkEstimate => ({
  ...oneSeat,
  initialSeats: Math.min(widest, listSeatsMax),
})

function objectsInMemory({ namesOne, limit, selects }: ListWork, count: number, isCached: boolean): number {
  if (namesOne) return 1
  const limited = limit > 0 ? Math.min(limit, count) : count
  return !isCached && selects ? Math.max(limited, Math.floor(count / 2)) : limited
}

/** Whether upstream answers a list from its watch cache; it asks etcd for states of the past. */
function isFromCache({ resourceVersionMatch, resourceVersion, continues, limit }: ListWork): boolean {
  if (resourceVersionMatch === 'NotOlderThan') return true
  if (resourceVersionMatch !== '' || continues) return false
  return limit === 0 || resourceVersion === '' || resourceVersion === '0'
}

/**
 * What a write takes: one seat, and where ten or more watch what it changes others for the time it takes to tell them, as many as a level
 * lets it have and for as much longer as these are fewer. Pure.
 */
export function estimateWrite(watchers: number, widest = writeSeatsMax): WorkEstimate {
  if (watchers < watchersPerSeat) return oneSeat
  const wanted = Math.ceil(watchers / watchersPerSeat)
  const finalSeats = Math.min(wanted, widest, writeSeatsMax)
  return { initialSeats: 1, finalSeats, lingersMs: (wanted * eventMs) / finalSeats }
}

/** The seats that are set aside for a request: as many as it ever has. */
export const seatsOf = ({ initialSeats, finalSeats }: WorkEstimate): number => Math.max(initialSeats, finalSeats)

/** How much a request is of what its level does, where one that has one seat is 1. */
export const workOf = ({ initialSeats, finalSeats, lingersMs }: WorkEstimate): number =>
  initialSeats + (finalSeats * lingersMs) / serviceMs
