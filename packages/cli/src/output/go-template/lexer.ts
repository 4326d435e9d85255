/** What a token is. Words that mean something by themselves are of the type `keyword`. */
export type TokenType =
  | 'assign'
  | 'bool'
  | 'char'
  | 'charConstant'
  | 'declare'
  | 'dot'
  | 'eof'
  | 'error'
  | 'field'
  | 'identifier'
  | 'keyword'
  | 'leftDelimiter'
  | 'leftParen'
  | 'nil'
  | 'number'
  | 'pipe'
  | 'rightDelimiter'
  | 'rightParen'
  | 'space'
  | 'string'
  | 'text'
  | 'variable'

export interface Token {
  readonly type: TokenType
  /** As it is written; of an error, what is wrong. */
  readonly text: string
  /** Where it begins, in characters. */
  readonly position: number
}

const keywords: ReadonlySet<string> = new Set([
  'block',
  'break',
  'continue',
  'define',
  'else',
  'end',
  'if',
  'range',
  'template',
  'with',
])

/**
 * The tokens of a template, as Go's text/template cuts it up (text/template/parse/lex.go): text, and what stands between
 * `{{` and `}}`. The last is the end or an error.
 */
export function tokenize(template: string): readonly Token[] {
  const tokens: Token[] = []
  let position = 0
  for (;;) {
    const start = template.indexOf('{{', position)
    const trimsLeft = start >= 0 && isTrimmedLeft(template, start)
    const text = template.slice(position, start < 0 ? undefined : start)
    const shown = trimsLeft ? text.trimEnd() : text
    if (shown !== '') tokens.push({ type: 'text', text: shown, position })
    if (start < 0) {
      tokens.push({ type: 'eof', text: '', position: template.length })
      return tokens
    }
    const inside = start + (trimsLeft ? 4 : 2)
    const action = template.startsWith('/*', inside)
      ? comment(template, inside)
      : tokenizeAction(template, start, inside)
    tokens.push(...action.tokens)
    if (action.end === undefined) return tokens
    position = action.trimsRight ? skipSpace(template, action.end) : action.end
  }
}

interface Action {
  readonly tokens: readonly Token[]
  /** Where the text after it begins; undefined after an error. */
  readonly end: number | undefined
  readonly trimsRight: boolean
}

const failure = (position: number, text: string, tokens: readonly Token[] = []): Action => ({
  tokens: [...tokens, { type: 'error', text, position }],
  end: undefined,
  trimsRight: false,
})

/** `{{- ` takes away the space before it. */
const isTrimmedLeft = (template: string, start: number): boolean => /^\{\{-\s/.test(template.slice(start, start + 4))

function comment(template: string, position: number): Action {
  const close = template.indexOf('*/', position + 2)
  if (close < 0) return failure(position, 'unclosed comment')
  const [whole, trim] = /^(\s-)?\}\}/.exec(template.slice(close + 2, close + 6)) ?? []
  if (whole === undefined) return failure(position, 'comment ends before closing delimiter')
  return { tokens: [], end: close + 2 + whole.length, trimsRight: trim !== undefined }
}

function skipSpace(template: string, position: number): number {
  let end = position
  while (/\s/.test(template.charAt(end))) end++
  return end
}

/** Tokens whose end is where a pattern ends; the first that matches counts. */
const patterns: readonly (readonly [type: TokenType, pattern: RegExp])[] = [
  ['space', /\s+/y],
  ['declare', /:=/y],
  ['assign', /=/y],
  ['pipe', /\|/y],
  ['string', /"(?:[^"\\\n]|\\.)*"/y],
  ['string', /`[^`]*`/y],
  ['charConstant', /'(?:[^'\\\n]|\\.)*'/y],
  ['variable', /\$[\p{L}\p{N}_]*/uy],
  ['field', /\.[\p{L}_][\p{L}\p{N}_]*/uy],
  [
    'number',
    /(?=[+-]|\.?\d)[+-]?(?:0[xX][\da-fA-F_]*|0[oO][0-7_]*|0[bB][01_]*|[\d_]*(?:\.[\d_]*)?(?:[eE][+-]?[\d_]*)?)/y,
  ],
  ['dot', /\./y],
  ['identifier', /[\p{L}_][\p{L}\p{N}_]*/uy],
]

/** What ends a word: after anything else it is malformed. */
const wordEnd = /^(?:$|[\s.,|:()]|-?\}\})/

function tokenizeAction(template: string, start: number, inside: number): Action {
  const tokens: Token[] = [{ type: 'leftDelimiter', text: '{{', position: start }]
  let position = inside
  let depth = 0
  for (;;) {
    const [close, trim] = /^(\s-)?\}\}/.exec(template.slice(position, position + 4)) ?? []
    if (close !== undefined) {
      if (depth > 0) return failure(position, 'unclosed left paren', tokens)
      tokens.push({ type: 'rightDelimiter', text: '}}', position: position + close.length - 2 })
      return { tokens, end: position + close.length, trimsRight: trim !== undefined }
    }
    if (position >= template.length) return failure(position, 'unclosed action', tokens)
    const token = nextToken(template, position)
    if (token.type === 'error') return failure(position, token.text, tokens)
    if (token.type === 'leftParen') depth++
    if (token.type === 'rightParen' && --depth < 0) return failure(position, 'unexpected right paren', tokens)
    tokens.push(token)
    position += token.text.length
  }
}

function nextToken(template: string, position: number): Token {
  const token = (type: TokenType, text: string): Token => ({ type, text, position })
  const char = String.fromCodePoint(template.codePointAt(position) ?? 0)
  if (char === '(') return token('leftParen', char)
  if (char === ')') return token('rightParen', char)
  if (char === ':' && template.charAt(position + 1) !== '=') return token('error', 'expected :=')
  for (const [type, pattern] of patterns) {
    pattern.lastIndex = position
    // The space of a trim marker belongs to what closes the action.
    const text = pattern.exec(template)?.[0]
    if (text === undefined) continue
    if (type === 'space') return token(type, spaceBeforeClose(template, position, text))
    if (type === 'number') {
      const [after = ''] = /^[\p{L}\p{N}_]?/u.exec(template.slice(position + text.length)) ?? []
      return after === '' ? token(type, text) : token('error', `bad number syntax: ${JSON.stringify(text + after)}`)
    }
    if (type === 'variable' || type === 'field' || type === 'dot' || type === 'identifier') {
      const after = template.slice(position + text.length, position + text.length + 3)
      if (!wordEnd.test(after)) return token('error', `bad character ${charText(after)}`)
    }
    return type === 'identifier' ? word(token, text) : token(type, text)
  }
  if (char === '"') return token('error', 'unterminated quoted string')
  if (char === '`') return token('error', 'unterminated raw quoted string')
  if (char === "'") return token('error', 'unterminated character constant')
  if (char >= ' ' && char <= '~') return token('char', char)
  return token('error', `unrecognized character in action: ${charText(char)}`)
}

function spaceBeforeClose(template: string, position: number, text: string): string {
  const isMarker = template.startsWith('-}}', position + text.length)
  return isMarker && text.length > 1 ? text.slice(0, -1) : text
}

function word(token: (type: TokenType, text: string) => Token, text: string): Token {
  if (keywords.has(text)) return token('keyword', text)
  if (text === 'true' || text === 'false') return token('bool', text)
  return token(text === 'nil' ? 'nil' : 'identifier', text)
}

/** `U+0021 '!'` */
function charText(text: string): string {
  const char = String.fromCodePoint(text.codePointAt(0) ?? 0)
  const code = (char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')
  return `U+${code} '${char}'`
}
