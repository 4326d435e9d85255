/** Up to this many items are looked through: most lists have fewer, for which that is cheaper than an index. */
export const lookedThroughMax = 16

/** Finds the first item with a key, in time that does not grow with the list: users can make theirs long. */
export function finderOf<T, K>(items: readonly T[], keyOf: (item: T) => K): (key: K) => T | undefined {
  if (items.length <= lookedThroughMax) return (key) => items.find((item) => keyOf(item) === key)
  const byKey = new Map<K, T>()
  for (const item of items) {
    const key = keyOf(item)
    if (!byKey.has(key)) byKey.set(key, item)
  }
  return (key) => byKey.get(key)
}

/** The places in a list at which stands what is in it before: of texts, or of values with the same key. */
export function repeatedAt(texts: readonly string[]): ReadonlySet<number>
export function repeatedAt<T>(values: readonly T[], keyOf: (value: T) => string): ReadonlySet<number>
export function repeatedAt<T>(values: readonly T[], keyOf: (value: T) => string = String): ReadonlySet<number> {
  const [seen, repeated] = [new Set<string>(), new Set<number>()]
  for (const [index, value] of values.entries()) {
    const key = keyOf(value)
    if (seen.has(key)) repeated.add(index)
    else seen.add(key)
  }
  return repeated
}
