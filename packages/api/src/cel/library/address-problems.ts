/** Why texts are no addresses or networks, in the words of Go's net/netip. */
import { goQuoted } from '../../go-text.ts'

/** What is wrong with a text as an address; undefined where nothing is. https://pkg.go.dev/net/netip#ParseAddr */
export function addressProblem(text: string): string | undefined {
  const problem = problemOf(text)
  if (problem === undefined) return undefined
  const { what, at = '' } = problem
  return `ParseAddr(${goQuoted(text)}): ${what}${at === '' ? '' : ` (at ${goQuoted(at)})`}`
}

/** What is wrong with a text as a network; undefined where nothing is. https://pkg.go.dev/net/netip#ParsePrefix */
export function prefixProblem(text: string): string | undefined {
  const problem = networkProblemOf(text)
  return problem === undefined ? undefined : `netip.ParsePrefix(${goQuoted(text)}): ${problem}`
}

function networkProblemOf(text: string): string | undefined {
  const slash = text.lastIndexOf('/')
  if (slash === -1) return "no '/'"
  const address = text.slice(0, slash)
  const wrong = addressProblem(address)
  if (wrong !== undefined) return wrong
  const isLong = address.includes(':')
  if (isLong && address.includes('%')) return 'IPv6 zones cannot be present in a prefix'
  const bits = text.slice(slash + 1)
  if (!/^(?:\d|[1-9]\d*)$/.test(bits)) return `bad bits after slash: ${goQuoted(bits)}`
  return Number(bits) > (isLong ? 128 : 32) ? 'prefix length out of range' : undefined
}

interface Problem {
  readonly what: string
  /** What of the text has not been read. */
  readonly at?: string
}

function problemOf(text: string): Problem | undefined {
  switch (/[.:%]/.exec(text)?.[0]) {
    case '.':
      return shortProblem(text)
    case ':':
      return longProblem(text)
    case '%':
      return { what: 'missing IPv6 address' }
    default:
      return { what: 'unable to parse IP' }
  }
}

/** Of four numbers with dots. */
function shortProblem(text: string): Problem | undefined {
  let [value, digits, dots] = [0, 0, 0]
  for (let index = 0; index < text.length; index += 1) {
    const character = text.charAt(index)
    if (/\d/.test(character)) {
      if (digits === 1 && value === 0) return { what: 'IPv4 field has octet with leading zero' }
      value = value * 10 + Number(character)
      digits += 1
      if (value > 255) return { what: 'IPv4 field has value >255' }
    } else if (character === '.') {
      const isAlone = index === 0 || index === text.length - 1 || text.charAt(index - 1) === '.'
      if (isAlone) return { what: 'IPv4 field must have at least one digit', at: text.slice(index) }
      if (dots === 3) return { what: 'IPv4 address too long' }
      dots += 1
      value = 0
      digits = 0
    } else return { what: 'unexpected character', at: text.slice(index) }
  }
  return dots < 3 ? { what: 'IPv4 address too short' } : undefined
}

/** Of up to eight groups of hexadecimal digits, the last two of which may be written as four numbers with dots. */
function longProblem(text: string): Problem | undefined {
  const [head = ''] = text.split('%', 1)
  if (head.length + 1 === text.length) return { what: 'zone must be a non-empty string' }
  let rest = head
  let ellipsis = -1
  if (rest.startsWith('::')) {
    ellipsis = 0
    rest = rest.slice(2)
    if (rest === '') return undefined
  }
  let bytes = 0
  while (bytes < 16) {
    const [group = ''] = /^[0-9a-fA-F]*/.exec(rest) ?? []
    if (group.length > 4) return { what: 'each group must have 4 or less digits', at: rest }
    if (group === '') return { what: 'each colon-separated field must have at least one digit', at: rest }
    if (rest.charAt(group.length) === '.') {
      if (ellipsis < 0 && bytes !== 12) {
        return { what: 'embedded IPv4 address must replace the final 2 fields of the address', at: rest }
      }
      if (bytes + 4 > 16) {
        return { what: 'too many hex fields to fit an embedded IPv4 at the end of the address', at: rest }
      }
      const problem = shortProblem(rest)
      if (problem !== undefined) return problem
      rest = ''
      bytes += 4
      break
    }
    bytes += 2
    rest = rest.slice(group.length)
    if (rest === '') break
    if (!rest.startsWith(':')) return { what: 'unexpected character, want colon', at: rest }
    if (rest.length === 1) return { what: 'colon must be followed by more characters', at: rest }
    rest = rest.slice(1)
    if (!rest.startsWith(':')) continue
    if (ellipsis >= 0) return { what: 'multiple :: in address', at: rest }
    ellipsis = bytes
    rest = rest.slice(1)
    if (rest === '') break
  }
  if (rest !== '') return { what: 'trailing garbage after address', at: rest }
  if (bytes < 16 && ellipsis < 0) return { what: 'address string too short' }
  return bytes === 16 && ellipsis >= 0 ? { what: 'the :: must expand to at least one field of zeros' } : undefined
}
