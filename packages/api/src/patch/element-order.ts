/**
 * The order of a merged list: elements the patch names stand in the order it wants, the others keep the order they had,
 * and the two are interleaved so that each of the others comes before the first named one that it came before.
 * https://github.com/kubernetes/design-proposals-archive/blob/main/cli/preserve-order-in-strategic-merge-patch.md
 */
export function mergeOrdered(
  elements: readonly unknown[],
  wantedKeys: readonly string[],
  formerKeys: readonly string[],
  keyOf: (element: unknown) => string,
): readonly unknown[] {
  const wanted = positions(wantedKeys)
  const former = positions(formerKeys)
  const named = elements.filter((element) => wanted.has(keyOf(element)))
  const others = elements.filter((element) => !wanted.has(keyOf(element)))
  const left = byPosition(others, former, keyOf)
  const right = byPosition(named, wanted, keyOf)
  return interleave(left, right, (element) => former.get(keyOf(element)))
}

function interleave(
  left: readonly unknown[],
  right: readonly unknown[],
  formerPosition: (element: unknown) => number | undefined,
): readonly unknown[] {
  const result: unknown[] = []
  let at = 0
  for (const element of right) {
    const bound = formerPosition(element) ?? Number.NEGATIVE_INFINITY
    while (at < left.length && (formerPosition(left[at]) ?? Number.POSITIVE_INFINITY) < bound) {
      result.push(left[at])
      at += 1
    }
    result.push(element)
  }
  return [...result, ...left.slice(at)]
}

function positions(keys: readonly string[]): ReadonlyMap<string, number> {
  const found = new Map<string, number>()
  keys.forEach((key, position) => {
    if (!found.has(key)) found.set(key, position)
  })
  return found
}

/** Stable; what has no position comes last. */
const byPosition = (
  elements: readonly unknown[],
  order: ReadonlyMap<string, number>,
  keyOf: (element: unknown) => string,
): readonly unknown[] => {
  const position = (element: unknown): number => order.get(keyOf(element)) ?? Number.MAX_SAFE_INTEGER
  return [...elements].sort((a, b) => position(a) - position(b))
}
