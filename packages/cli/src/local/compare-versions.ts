/** Below zero where version `a`, `0.1.0`, is older than `b`. What follows the numbers does not count. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [numbersOf(a), numbersOf(b)]
  for (let index = 0; index < Math.max(left.length, right.length); index++) {
    const difference = (left[index] ?? 0) - (right[index] ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}

const numbersOf = (version: string): readonly number[] =>
  (/^v?\d+(\.\d+)*/.exec(version)?.[0] ?? '').replace('v', '').split('.').map(Number)
