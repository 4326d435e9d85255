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

/** The places in a list of texts at which stands what is in it before. */
export function repeatedAt(texts: readonly string[]): ReadonlySet<number> {
  const seen = new Set<string>()
  const repeated = new Set<number>()
  for (const [index, text] of texts.entries()) {
    if (seen.has(text)) repeated.add(index)
    seen.add(text)
  }
  return repeated
}
