/** Sets of indexes as Jobs write them: `1,3-5,7`. */

/** A run of indexes, both ends belonging to it. */
export type IndexInterval = readonly [first: number, last: number]

/** The number that Go's strconv.Atoi reads, with a sign if it has one; undefined for what is none of 64 bits. */
export function parseIndex(text: string): number | undefined {
  if (!/^[+-]?\d+$/.test(text)) return undefined
  const number = Number(text)
  return number >= -(2 ** 63) && number < 2 ** 63 ? number : undefined
}

/** The intervals of a text; parts that are none, or not below `completions`, are left out. */
export function parseIndexes(text: string | undefined, completions: number): readonly IndexInterval[] {
  const intervals: [number, number][] = []
  for (const part of (text ?? '').split(',')) {
    const [start = '', end = start] = part.split('-')
    const [first, last] = [parseIndex(start), parseIndex(end)]
    if (first === undefined || last === undefined || first >= completions) continue
    intervals.push([first, Math.min(last, completions - 1)])
  }
  return intervals
}

/** Indexes in ascending order as text: two and more in a row as the first and the last. */
export function formatIndexes(intervals: readonly IndexInterval[]): string {
  return intervals
    .map(([first, last]) => {
      if (first === last) return String(first)
      return last === first + 1 ? `${first},${last}` : `${first}-${last}`
    })
    .join(',')
}

/** The intervals with further indexes, in ascending order. */
export function addIndexes(intervals: readonly IndexInterval[], indexes: readonly number[]): readonly IndexInterval[] {
  const all = [...intervals, ...indexes.map((index): IndexInterval => [index, index])].sort((a, b) => a[0] - b[0])
  const joined: [number, number][] = []
  for (const [first, last] of all) {
    const before = joined.at(-1)
    if (before !== undefined && first <= before[1] + 1) before[1] = Math.max(before[1], last)
    else joined.push([first, last])
  }
  return joined
}

export const hasIndex = (intervals: readonly IndexInterval[], index: number): boolean => {
  let [low, high] = [0, intervals.length - 1]
  while (low <= high) {
    const middle = (low + high) >> 1
    const [first, last] = intervals[middle] as IndexInterval
    if (index < first) high = middle - 1
    else if (index > last) low = middle + 1
    else return true
  }
  return false
}

export const countIndexes = (intervals: readonly IndexInterval[]): number =>
  intervals.reduce((sum, [first, last]) => sum + last - first + 1, 0)

/** What is wrong with a text of indexes, in upstream's words; else how many they are. */
export function checkIndexes(text: string, completions: number): number | string {
  if (text === '') return 0
  let total = 0
  let previous = -1
  for (const part of text.split(',')) {
    const limits = part.split('-')
    if (limits.length > 2) {
      return `the fragment ${JSON.stringify(part)} violates the requirement that an index interval can have at most two parts separated by '-'`
    }
    for (const limit of limits) {
      const index = parseIndex(limit)
      if (index === undefined) return `cannot convert string to integer for index: ${JSON.stringify(limit)}`
      if (index >= completions) return `too large index: ${JSON.stringify(limit)}`
    }
    const first = Number(limits[0])
    const last = Number(limits[1] ?? first)
    if (limits.length === 2 && first >= last) return `non-increasing order, previous: ${first}, current: ${last}`
    if (previous >= first) return `non-increasing order, previous: ${previous}, current: ${first}`
    previous = last
    total += last - first + 1
  }
  return total
}
