const isLetter = (character: string): boolean => /^\p{L}$/u.test(character)
const isDigit = (character: string | undefined): boolean => character !== undefined && /^\p{Nd}$/u.test(character)

/**
 * The order in which Go's YAML (go.yaml.in/yaml/v2) writes keys: numbers within them by their value, what is no letter before letters, and
 * capitals before small ones.
 */
export function compareKeys(a: string, b: string): number {
  const [as, bs] = [[...a], [...b]]
  const end = Math.min(as.length, bs.length)
  for (let at = 0; at < end; at++) {
    const [x = '', y = ''] = [as[at], bs[at]]
    if (x === y) continue
    if (isLetter(x) !== isLetter(y)) return isLetter(y) ? -1 : 1
    return isLetter(x) ? codeOf(x) - codeOf(y) : compareNumbers(as, bs, at)
  }
  return as.length - bs.length
}

const codeOf = (character: string): number => character.codePointAt(0) ?? 0

/** Compares what differs from `at` on, where neither has a letter there. */
function compareNumbers(as: readonly string[], bs: readonly string[], at: number): number {
  const begun = (as[at] === '0' || bs[at] === '0') && followsNonZero(as, at) ? 1 : 0
  const [first, second] = [numberAt(as, at, begun), numberAt(bs, at, begun)]
  return first.value - second.value || first.end - second.end || codeOf(as[at] ?? '') - codeOf(bs[at] ?? '')
}

/** Whether a number that is not zero has begun before `at`. */
function followsNonZero(characters: readonly string[], at: number): boolean {
  for (let before = at - 1; before >= 0 && isDigit(characters[before]); before--) {
    if (characters[before] !== '0') return true
  }
  return false
}

function numberAt(characters: readonly string[], at: number, begun: number) {
  let value = begun
  let end = at
  for (; isDigit(characters[end]); end++) value = value * 10 + codeOf(characters[end] ?? '') - codeOf('0')
  return { value, end }
}
