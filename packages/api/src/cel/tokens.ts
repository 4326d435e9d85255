/** Text into tokens: names, numbers, strings, bytes and punctuation. */
import type { Literal } from './ast.ts'
import type { CelProblem } from './errors.ts'

/** From `offset` to, without, `end`. */
export type Token = {
  readonly offset: number
  readonly end: number
} /** `problem`: why it has no value that could be used. */ & (
  | { readonly kind: 'literal'; readonly value: Literal; readonly problem?: string }
  | { readonly kind: 'name'; readonly text: string; readonly quoted: boolean }
  | { readonly kind: 'symbol'; readonly text: string }
  | { readonly kind: 'end' }
)

/** Words that name no variable; fields may be called so. */
export const reservedWords: ReadonlySet<string> = new Set(
  'as break const continue else for function if import let loop package namespace return var void while'.split(' '),
)
const space = /(?:[\t\n\f\r ]|\/\/[^\n]*)+/y
const name = /[_a-zA-Z][_a-zA-Z0-9]*/y
const quotedName = /`([a-zA-Z0-9_.\-/ ]+)`/y
const number = /0[xX][0-9a-fA-F]+[uU]?|(?:\d+\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\.\d+(?:[eE][+-]?\d+)?)|\d+[uU]?/y
const string = /([bB]?[rR]?|[rR][bB])("""|'''|"|')/y
const symbol = /&&|\|\||<=|>=|==|!=|[-+*/%<>!?:.,()[\]{}]/y

/** The tokens of a text, an `end` last; and what of it is none. */
export function tokensOf(source: string): {
  readonly tokens: readonly Token[]
  readonly problems: readonly CelProblem[]
} {
  const tokens: Token[] = []
  const problems: CelProblem[] = []
  let offset = 0
  const match = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = offset
    return pattern.exec(source)
  }
  for (;;) {
    offset += match(space)?.[0].length ?? 0
    if (offset >= source.length) break
    const start = offset
    const quote = match(string)
    if (quote !== null) {
      const [prefix = '', flags = '', mark = ''] = quote
      const read = readString(source, start + prefix.length, flags.toLowerCase(), mark)
      if (!('failsAt' in read)) {
        const { value, end, problem } = read
        tokens.push({ kind: 'literal', value, offset: start, end, ...(problem === undefined ? {} : { problem }) })
        offset = end
        continue
      }
      // What began as a string may still begin with an empty one, or with a name.
      if (mark.length === 3) {
        offset = start + flags.length + 2
        tokens.push({ kind: 'literal', value: /b/i.test(flags) ? new Uint8Array() : '', offset: start, end: offset })
        continue
      }
      if (flags === '') {
        offset = unrecognized(read.failsAt)
        continue
      }
    }
    const token = nextToken(match, start)
    if (token === undefined) {
      offset = unrecognized(failureOf(source, start))
      continue
    }
    tokens.push(token)
    offset = token.end
  }
  tokens.push({ kind: 'end', offset: source.length, end: source.length })
  return { tokens, problems }

  /** As ANTLR's lexers do it, all is passed over up to the character that cannot follow, and with it. */
  function unrecognized(failsAt: number): number {
    const end = failsAt + String.fromCodePoint(source.codePointAt(failsAt) ?? 0).length
    const text = source.slice(offset, end)
    problems.push({ offset, message: `Syntax error: token recognition error at: '${text}'` })
    return end
  }
}

/** Where what begins here cannot go on: half an operator, or a name in quotes. */
function failureOf(source: string, start: number): number {
  if (/[=&|]/.test(source.charAt(start))) return start + 1
  const quoted = /`[a-zA-Z0-9_.\-/ ]*/y
  quoted.lastIndex = start
  return start + (quoted.exec(source)?.[0].length ?? 0)
}

const literalWords: ReadonlyMap<string, Literal> = new Map<string, Literal>([
  ['true', true],
  ['false', false],
  ['null', null],
])

function nextToken(match: (pattern: RegExp) => RegExpExecArray | null, offset: number): Token | undefined {
  const word = match(name)
  if (word !== null) {
    const [text] = word
    const value = literalWords.get(text)
    const at = { offset, end: offset + text.length }
    return value === undefined ? { kind: 'name', text, quoted: false, ...at } : { kind: 'literal', value, ...at }
  }
  const quoted = match(quotedName)
  if (quoted !== null) {
    const [whole, text = ''] = quoted
    return { kind: 'name', text, quoted: true, offset, end: offset + whole.length }
  }
  const digits = match(number)
  if (digits !== null) {
    const [text] = digits
    return { kind: 'literal', ...numberOf(text), offset, end: offset + text.length }
  }
  const mark = match(symbol)
  return mark === null ? undefined : { kind: 'symbol', text: mark[0], offset, end: offset + mark[0].length }
}

interface ReadLiteral {
  readonly value: Literal
  readonly problem?: string
}

function numberOf(text: string): ReadLiteral {
  if (/^0x/i.test(text) || /^\d+u?$/i.test(text)) {
    const unsigned = /u$/i.test(text)
    const value = BigInt(unsigned ? text.slice(0, -1) : text)
    if (unsigned) {
      return value < 2n ** 64n ? { value: { uint: value } } : { value: { uint: 0n }, problem: 'invalid uint literal' }
    }
    // The sign is an operator: it is joined to the literal later.
    return value <= 2n ** 63n ? { value: { int: value } } : { value: { int: 0n }, problem: 'invalid int literal' }
  }
  const value = Number(text)
  return Number.isFinite(value)
    ? { value: { double: value } }
    : { value: { double: 0 }, problem: 'invalid double literal' }
}

const simpleEscapes: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '\\': '\\',
  '?': '?',
  '"': '"',
  "'": "'",
  '`': '`',
}
const codeEscape = /[xX]([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-3][0-7]{2})/y

/** What a string literal says and where it ends, or where it cannot go on. */
function readString(
  source: string,
  begin: number,
  flags: string,
  mark: string,
): (ReadLiteral & { readonly end: number }) | { readonly failsAt: number } {
  const raw = flags.includes('r')
  const asBytes = flags.includes('b')
  const bytes: number[] = []
  let text = ''
  let problem: string | undefined
  const addText = (part: string): void => {
    if (asBytes) bytes.push(...Buffer.from(part))
    else text += part
  }
  let at = begin
  while (!source.startsWith(mark, at)) {
    const character = source[at]
    if (character === undefined || (mark.length === 1 && (character === '\n' || character === '\r'))) {
      return { failsAt: at }
    }
    if (character === '\r') {
      // However lines end in the text of the expression, in strings they end in one way.
      addText('\n')
      at += source[at + 1] === '\n' ? 2 : 1
      continue
    }
    if (character !== '\\' || raw) {
      const whole = String.fromCodePoint(source.codePointAt(at) ?? 0)
      addText(whole)
      at += whole.length
      continue
    }
    const simple = simpleEscapes[source[at + 1] ?? '']
    if (simple !== undefined) {
      addText(simple)
      at += 2
      continue
    }
    codeEscape.lastIndex = at + 1
    const coded = codeEscape.exec(source)
    if (coded === null) return { failsAt: escapeFailure(source, at + 1) }
    const [whole, byte, short, long, octal] = coded
    const code = octal === undefined ? Number.parseInt(byte ?? short ?? long ?? '', 16) : Number.parseInt(octal, 8)
    if (asBytes && (short ?? long) !== undefined) problem ??= 'unable to unescape string'
    else if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) problem ??= 'invalid unicode code point'
    else if (asBytes) bytes.push(code)
    else text += String.fromCodePoint(code)
    at += 1 + whole.length
  }
  const read = { value: asBytes ? Uint8Array.from(bytes) : text, end: at + mark.length }
  return problem === undefined ? read : { ...read, problem }
}

/** The first character that belongs to no escape sequence. */
function escapeFailure(source: string, at: number): number {
  const begun = /[xX][0-9a-fA-F]?|u[0-9a-fA-F]{0,3}|U[0-9a-fA-F]{0,7}|[0-3][0-7]?/y
  begun.lastIndex = at
  return at + (begun.exec(source)?.[0].length ?? 0)
}
