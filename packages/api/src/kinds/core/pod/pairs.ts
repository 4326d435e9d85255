/**
 * In how many pairs of things of a pod each is compared with those before it. What comes of it are hints: a pod of the largest size would
 * keep everybody waiting for minutes otherwise.
 */
export const pairsMax = 50_000

/** What `find` says of each of `items` and one before it, in their order, for the first pairs. */
export function ofPairs<T, R>(items: readonly T[], find: (item: T, earlier: T) => R | undefined): readonly R[] {
  const found: R[] = []
  let pairs = 0
  for (const [index, item] of items.entries()) {
    for (const earlier of items.slice(0, Math.min(index, pairsMax - pairs))) {
      const each = find(item, earlier)
      if (each !== undefined) found.push(each)
    }
    pairs += index
    if (pairs >= pairsMax) break
  }
  return found
}
