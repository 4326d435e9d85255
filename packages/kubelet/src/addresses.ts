/** Hands out addresses of a range, each to one holder at a time. */
export interface AddressPool {
  /** A free address: `preferred` if that is one. Undefined when all are taken. */
  take(preferred?: string): string | undefined
  /** Marks an address as taken that was handed out in an earlier life. False if it is not free or not of this range. */
  claim(address: string): boolean
  release(address: string): void
}

/**
 * The addresses from `first` on, `count` of them. They are given out in turn, so that one that became free is not taken
 * again before all others were: clients of the pod that had it would talk to another.
 */
export function createAddressPool(first: string, count: number): AddressPool {
  const start = toNumber(first)
  const taken = new Set<number>()
  let next = 0
  const indexOf = (address: string): number | undefined => {
    const index = toNumber(address) - start
    return index >= 0 && index < count ? index : undefined
  }
  const claim = (address: string): boolean => {
    const index = indexOf(address)
    if (index === undefined || taken.has(index)) return false
    taken.add(index)
    return true
  }
  return {
    claim,
    take(preferred) {
      if (preferred !== undefined && claim(preferred)) return preferred
      if (taken.size >= count) return undefined
      while (taken.has(next)) next = (next + 1) % count
      const index = next
      next = (next + 1) % count
      taken.add(index)
      return toText(start + index)
    },
    release(address) {
      const index = indexOf(address)
      if (index !== undefined) taken.delete(index)
    },
  }
}

function toNumber(address: string): number {
  return address.split('.').reduce((value, part) => value * 256 + Number(part), 0)
}

function toText(value: number): string {
  return [24, 16, 8, 0].map((shift) => Math.floor(value / 2 ** shift) % 256).join('.')
}
