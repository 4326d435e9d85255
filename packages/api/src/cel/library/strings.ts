/** Functions over text: the language's own, the strings extension, and Kubernetes' regular expressions. */
import { compilePattern, findPattern } from '../../custom/pattern.ts'
import { CelError } from '../errors.ts'
import {
  type CallCost,
  overload,
  regexTraversal,
  rewritingCost,
  searchingCost,
  stringTraversal,
  traversalCost,
} from '../functions.ts'
import { CelList, sizeOf } from '../values.ts'
import { formatText } from './format.ts'

const both: CallCost = ([text = 1, other = 1]) => Math.ceil(text * stringTraversal) * Math.ceil(other * stringTraversal)
/** One more character, so that an expensive pattern is not free on an empty text. */
const regex: CallCost = ([text = 1, pattern = 1]) =>
  Math.ceil((text + 1) * stringTraversal) * Math.ceil(pattern * regexTraversal)
/** Twice the text that comes of it. */
const joining: CallCost = ([count = 1, between = 0], [list]) => {
  if (!(list instanceof CelList)) return 1
  const size = list.values().reduce<number>((sum, each) => sum + sizeOf(each), Math.max(0, count - 1) * between)
  return Math.ceil(size * 2 * stringTraversal)
}

/** Positions count characters, of which some are two units. */
const characters = (text: string): readonly string[] => [...text]

function charAt(text: string, index: bigint): string {
  const all = characters(text)
  if (index < 0n || index > BigInt(all.length)) throw new CelError(`index out of range: ${index}`)
  return all[Number(index)] ?? ''
}

/** Behind the end nothing is found; before the beginning nothing can be looked for. */
function indexOf(text: string, part: string, from = 0n): bigint {
  if (part === '') return from
  if (from < 0n) throw new CelError(`index out of range: ${from}`)
  const all = characters(text)
  if (from >= BigInt(all.length)) return -1n
  const head = all.slice(0, Number(from)).join('').length
  const found = text.indexOf(part, head)
  return found === -1 ? -1n : BigInt(characters(text.slice(0, found)).length)
}

function lastIndexOf(text: string, part: string, from?: bigint): bigint {
  const all = characters(text)
  if (part === '') return from ?? BigInt(all.length)
  if (from !== undefined && from < 0n) throw new CelError(`index out of range: ${from}`)
  if (from !== undefined && from >= BigInt(all.length)) return -1n
  const head = from === undefined ? undefined : all.slice(0, Number(from)).join('').length
  const found = text.lastIndexOf(part, head)
  return found === -1 ? -1n : BigInt(characters(text.slice(0, found)).length)
}

function substring(text: string, start: bigint, end?: bigint): string {
  const all = characters(text)
  const last = end ?? BigInt(all.length)
  if (end !== undefined && start > end) throw new CelError(`invalid substring range. start: ${start}, end: ${end}`)
  if (start < 0n || start > BigInt(all.length)) throw new CelError(`index out of range: ${start}`)
  if (last < 0n || last > BigInt(all.length)) throw new CelError(`index out of range: ${last}`)
  return all.slice(Number(start), Number(last)).join('')
}

function replace(text: string, old: string, by: string, count = -1n): string {
  if (count < 0n && old !== '') return text.replaceAll(old, () => by)
  const all = old === '' ? characters(text) : text.split(old)
  const times = count < 0n ? Infinity : Number(count)
  if (old === '') {
    const head = all.map((each, index) => (index < times ? by + each : each)).join('')
    return times > all.length ? head + by : head
  }
  return all.map((each, index) => (index === 0 ? each : (index <= times ? by : old) + each)).join('')
}

function split(text: string, by: string, limit = -1n): CelList {
  if (limit === 0n) return CelList.of([])
  const all = by === '' ? characters(text) : text.split(by)
  if (limit < 0n || BigInt(all.length) <= limit) return CelList.of(all)
  const head = all.slice(0, Number(limit) - 1)
  return CelList.of([...head, all.slice(Number(limit) - 1).join(by)])
}

function join(list: CelList, by = ''): string {
  return list
    .values()
    .map((each) => {
      if (typeof each === 'string') return each
      throw new CelError('no such overload')
    })
    .join(by)
}

/**
 * Without white space at both ends: that which Go's unicode knows, not the byte order mark. Not by a pattern, which would look at white
 * space within the text again and again.
 */
function trim(text: string): string {
  let start = 0
  let end = text.length
  while (start < end && isSpace(text.charAt(start))) start += 1
  while (end > start && isSpace(text.charAt(end - 1))) end -= 1
  return text.slice(start, end)
}

const isSpace = (character: string): boolean => /[\s\u0085]/.test(character) && character !== '\ufeff'

const upper = (text: string): string => text.replaceAll(/[a-z]+/g, (letters) => letters.toUpperCase())
const lower = (text: string): string => text.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase())

const quoted: Readonly<Record<string, string>> = {
  '\x07': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
  '\\': '\\\\',
  '"': '\\"',
}
const quote = (text: string): string =>
  `"${characters(text)
    .map((each) => quoted[each] ?? each)
    .join('')
    .toWellFormed()}"`

function matchesPattern(text: string, source: string): boolean {
  const { pattern, problem } = compilePattern(source)
  if (problem !== undefined) throw new CelError(problem)
  return pattern.matches(text)
}

const findAll = (text: string, source: string, limit?: bigint): CelList => {
  const found = findPattern(source, text, limit === undefined || limit < 0n ? undefined : Number(limit))
  if (typeof found === 'string') throw new CelError(`Illegal regex: ${found}`)
  return CelList.of(found)
}

function find(text: string, source: string): string {
  const [first] = findAll(text, source, 1n).values()
  return typeof first === 'string' ? first : ''
}

export const strings = [
  overload('size(string): int', (text: string) => BigInt(characters(text).length)),
  overload('string.size(): int', (text: string) => BigInt(characters(text).length)),
  overload('size(bytes): int', (bytes: Uint8Array) => BigInt(bytes.length)),
  overload('bytes.size(): int', (bytes: Uint8Array) => BigInt(bytes.length)),
  overload('string.contains(string): bool', (text: string, part: string) => text.includes(part), both),
  overload('string.startsWith(string): bool', (text: string, part: string) => text.startsWith(part), traversalCost),
  overload('string.endsWith(string): bool', (text: string, part: string) => text.endsWith(part), traversalCost),
  // As cel-go counts, only the one that is called on a text costs what it does.
  overload('matches(string, string): bool', matchesPattern),
  overload('string.matches(string): bool', matchesPattern, regex),
  overload('string.find(string): string', find, regex),
  overload('string.findAll(string): list<string>', findAll, regex),
  overload('string.findAll(string, int): list<string>', findAll, regex),
  overload('string.charAt(int): string', charAt),
  overload('string.indexOf(string): int', (text: string, part: string) => indexOf(text, part), searchingCost),
  overload('string.indexOf(string, int): int', indexOf, searchingCost),
  overload('string.lastIndexOf(string): int', (text: string, part: string) => lastIndexOf(text, part), searchingCost),
  overload('string.lastIndexOf(string, int): int', lastIndexOf, searchingCost),
  overload('string.substring(int): string', (text: string, start: bigint) => substring(text, start), traversalCost),
  overload('string.substring(int, int): string', substring, traversalCost),
  overload('string.lowerAscii(): string', lower, traversalCost),
  overload('string.upperAscii(): string', upper, traversalCost),
  overload('string.trim(): string', trim, traversalCost),
  overload(
    'string.replace(string, string): string',
    (text: string, old: string, by: string) => replace(text, old, by),
    rewritingCost,
  ),
  overload('string.replace(string, string, int): string', replace, rewritingCost),
  overload('string.split(string): list<string>', (text: string, by: string) => split(text, by), rewritingCost),
  overload('string.split(string, int): list<string>', split, rewritingCost),
  overload('list<string>.join(): string', (list: CelList) => join(list), joining),
  overload('list<string>.join(string): string', join, joining),
  overload('strings.quote(string): string', quote, traversalCost),
  overload('string.format(list<dyn>): string', (text: string, args: CelList) => formatText(text, args), traversalCost),
]
