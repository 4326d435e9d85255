/** Text into tokens: names, numbers, strings, bytes and punctuation. */
import type { Literal } from './ast.ts'
import { CelSyntaxError } from './errors.ts'

export type Token = { readonly offset: number } & (
  | { readonly kind: 'literal'; readonly value: Literal }
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

/** The tokens of a text, an `end` last. Throws CelSyntaxError. */
export function tokensOf(source: string): readonly Token[] {
  const tokens: Token[] = []
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
      const read = readString(source, start + prefix.length, flags.toLowerCase(), mark, start)
      tokens.push({ kind: 'literal', value: read.value, offset: start })
      offset = read.end
      continue
    }
    const token = nextToken(match, start)
    if (token === undefined) {
      const found = JSON.stringify(String.fromCodePoint(source.codePointAt(offset) ?? 0)).slice(1, -1)
      throw new CelSyntaxError(start, `Syntax error: token recognition error at: '${found}'`)
    }
    tokens.push(token.token)
    offset += token.length
  }
  tokens.push({ kind: 'end', offset: source.length })
  return tokens
}

const literalWords: ReadonlyMap<string, Literal> = new Map<string, Literal>([
  ['true', true],
  ['false', false],
  ['null', null],
])

function nextToken(
  match: (pattern: RegExp) => RegExpExecArray | null,
  offset: number,
): { readonly token: Token; readonly length: number } | undefined {
  const word = match(name)
  if (word !== null) {
    const [text] = word
    const value = literalWords.get(text)
    if (value !== undefined) return { token: { kind: 'literal', value, offset }, length: text.length }
    return { token: { kind: 'name', text, quoted: false, offset }, length: text.length }
  }
  const quoted = match(quotedName)
  if (quoted !== null) {
    const [whole, text = ''] = quoted
    return { token: { kind: 'name', text, quoted: true, offset }, length: whole.length }
  }
  const digits = match(number)
  if (digits !== null) {
    const [text] = digits
    return { token: { kind: 'literal', value: numberOf(text, offset), offset }, length: text.length }
  }
  const mark = match(symbol)
  return mark === null ? undefined : { token: { kind: 'symbol', text: mark[0], offset }, length: mark[0].length }
}

function numberOf(text: string, offset: number): Literal {
  if (/^0x/i.test(text) || /^\d+u?$/i.test(text)) {
    const unsigned = /u$/i.test(text)
    const value = BigInt(unsigned ? text.slice(0, -1) : text)
    if (unsigned) {
      if (value < 2n ** 64n) return { uint: value }
      throw new CelSyntaxError(offset, 'invalid uint literal')
    }
    // The sign is an operator: it is joined to the literal later.
    if (value <= 2n ** 63n) return { int: value }
    throw new CelSyntaxError(offset, 'invalid int literal')
  }
  const value = Number(text)
  if (Number.isFinite(value)) return { double: value }
  throw new CelSyntaxError(offset, 'invalid double literal')
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

function readString(
  source: string,
  begin: number,
  flags: string,
  mark: string,
  start: number,
): { readonly value: Literal; readonly end: number } {
  const raw = flags.includes('r')
  const asBytes = flags.includes('b')
  const bytes: number[] = []
  let text = ''
  const addText = (part: string): void => {
    if (asBytes) bytes.push(...Buffer.from(part))
    else text += part
  }
  let at = begin
  while (!source.startsWith(mark, at)) {
    const character = source[at]
    if (character === undefined || (mark.length === 1 && (character === '\n' || character === '\r'))) {
      throw new CelSyntaxError(start, `Syntax error: token recognition error at: '${source.slice(start)}'`)
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
    if (coded === null) throw new CelSyntaxError(start, 'Syntax error: invalid escape sequence')
    const [whole, byte, short, long, octal] = coded
    const code = octal === undefined ? Number.parseInt(byte ?? short ?? long ?? '', 16) : Number.parseInt(octal, 8)
    if (asBytes && (short ?? long) !== undefined) throw new CelSyntaxError(start, 'unable to unescape string')
    if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) {
      throw new CelSyntaxError(start, 'invalid unicode code point')
    }
    if (asBytes) bytes.push(code)
    else text += String.fromCodePoint(code)
    at += 1 + whole.length
  }
  return { value: asBytes ? Uint8Array.from(bytes) : text, end: at + mark.length }
}
