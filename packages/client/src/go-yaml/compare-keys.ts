const isLetter = (character = ''): boolean => /\p{L}/u.test(character)
const isDigit = (character = ''): boolean => /\p{Nd}/u.test(character)
/** Where a text has ended: less than any character. */
const codeOf = (character = ''): number => character.codePointAt(0) ?? -1

/**
 * The order in which Go's YAML (go.yaml.in/yaml/v2) writes keys: numbers within them by their value, what is no letter before letters, and
 * capitals before small ones.
 */
export function compareKeys(a: string, b: string): number {
  const [as, bs] = [[...a], [...b]]
  let at = 0
  while (at < as.length && as[at] === bs[at]) at++
  if (isLetter(as[at]) !== isLetter(bs[at])) return isLetter(bs[at]) ? -1 : 1
  return isLetter(as[at]) ? codeOf(as[at]) - codeOf(bs[at]) : compareNumbers(as, bs, at)
}

/** Compares what differs from `at` on, where neither has a letter there. */
function compareNumbers(as: readonly string[], bs: readonly string[], at: number): number {
  const begun = followsNonZero(as, at) ? 1 : 0
  const [first, second] = [numberAt(as, at, begun), numberAt(bs, at, begun)]
  return first.value - second.value || first.end - second.end || codeOf(as[at]) - codeOf(bs[at])
}

/** Whether a number that is not zero has begun before `at`. */
function followsNonZero(characters: readonly string[], at: number): boolean {
  for (let before = at - 1; isDigit(characters[before]); before--) {
    if (characters[before] !== '0') return true
  }
  return false
}

function numberAt(characters: readonly string[], at: number, begun: number) {
  let value = begun
  let end = at
  for (; isDigit(characters[end]); end++) value = value * 10 + codeOf(characters[end]) - codeOf('0')
  return { value, end }
}
