import { YamlFault } from './fault.ts'

export type TokenType =
  | 'stream-end'
  | 'directive'
  | 'document-start'
  | 'document-end'
  | 'block-sequence-start'
  | 'block-mapping-start'
  | 'block-end'
  | 'flow-sequence-start'
  | 'flow-sequence-end'
  | 'flow-mapping-start'
  | 'flow-mapping-end'
  | 'block-entry'
  | 'flow-entry'
  | 'key'
  | 'value'
  | 'alias'
  | 'anchor'
  | 'tag'
  | 'scalar'

export interface Token {
  readonly type: TokenType
  /** From 0. */
  readonly line: number
  /** Where it begins. */
  readonly position: number
  /** Of an anchor or an alias: its name. */
  readonly name?: string
}

/** Something that is the key of a mapping if a colon follows. */
interface SimpleKey {
  readonly line: number
  readonly column: number
  readonly position: number
  /** Counted from the first token of the text. */
  readonly tokenNumber: number
  /** Whether nothing else can stand there. */
  readonly isRequired: boolean
}

/** The longest a key of one line may be. */
const simpleKeyLengthMax = 1024

/**
 * The tokens of a text, as the scanner of libyaml, and so that of Go's YAML, finds them: one after another, as they are asked for, since
 * the first thing wrong is what is told. https://yaml.org/spec/1.1/
 */
export class Scanner {
  readonly #text: string
  #position = 0
  /** Where the token begins that is being made. */
  #start = 0
  #line = 0
  #column = 0
  #flowLevel = 0
  #indent = -1
  readonly #indents: number[] = []
  readonly #tokens: Token[] = []
  #taken = 0
  #allowsSimpleKey = true
  /** One for each level of flow, and for the block around. */
  readonly #simpleKeys: (SimpleKey | undefined)[] = [undefined]

  constructor(text: string) {
    this.#text = text
  }

  peek(): Token {
    while (this.#needsMore()) this.#fetch()
    const [token] = this.#tokens
    return token ?? { type: 'stream-end', line: this.#line, position: this.#position }
  }

  take(): Token {
    const token = this.peek()
    this.#tokens.shift()
    this.#taken++
    return token
  }

  /** Whether the first token, if there is one, may turn out to be a key, before which another stands then. */
  #needsMore(): boolean {
    if (this.#tokens.length === 0) return true
    return this.#simpleKeys.some((key, level) => key?.tokenNumber === this.#taken && this.#isValid(level))
  }

  #fail(problem: string): never {
    throw new YamlFault(problem, this.#line === 0 ? 0 : this.#line + 1)
  }

  #at(offset = 0): string {
    return this.#text[this.#position + offset] ?? ''
  }

  #skip(count = 1): void {
    this.#position += count
    this.#column += count
  }

  #skipLine(): void {
    this.#position += this.#at() === '\r' && this.#at(1) === '\n' ? 2 : 1
    this.#line++
    this.#column = 0
  }

  #add(type: TokenType, at?: number, name?: string): void {
    const index = at === undefined ? this.#tokens.length : at - this.#taken
    // What stands before another token begins where that does.
    const position = this.#tokens[index]?.position ?? this.#start
    this.#tokens.splice(index, 0, { type, line: this.#line, position, ...(name === undefined ? {} : { name }) })
  }

  #fetch(): void {
    this.#skipToNextToken()
    this.#start = this.#position
    this.#unroll(this.#column)
    const first = this.#at()
    const next = this.#at(1)
    const isIndicator = isBlankOrEnd(next)
    const isFlow = this.#flowLevel > 0
    if (first === '') this.#fetchStreamEnd()
    else if (this.#column === 0 && first === '%') this.#fetchDirective()
    else if (this.#isDocumentIndicator()) this.#fetchDocumentIndicator()
    else if (first === '[') this.#fetchFlowStart('flow-sequence-start')
    else if (first === '{') this.#fetchFlowStart('flow-mapping-start')
    else if (first === ']') this.#fetchFlowEnd('flow-sequence-end')
    else if (first === '}') this.#fetchFlowEnd('flow-mapping-end')
    else if (first === ',') this.#fetchFlowEntry()
    else if (first === '-' && isIndicator) this.#fetchBlockEntry()
    else if (first === '?' && (isFlow || isIndicator)) this.#fetchKey()
    else if (first === ':' && (isFlow || isIndicator)) this.#fetchValue()
    else if (first === '*') this.#fetchAnchor('alias')
    else if (first === '&') this.#fetchAnchor('anchor')
    else if (first === '!') this.#fetchTag()
    else if ((first === '|' || first === '>') && !isFlow) this.#fetchBlockScalar()
    else if (first === "'" || first === '"') this.#fetchQuoted(first)
    else if (this.#mayBeginPlain(first, next)) this.#fetchPlain()
    else this.#fail('found character that cannot start any token')
  }

  #mayBeginPlain(first: string, next: string): boolean {
    if (first === '-') return !isBlank(next)
    if (first === '?' || first === ':') return this.#flowLevel === 0 && !isBlankOrEnd(next)
    return !isBlankOrEnd(first) && !'-?:,[]{}#&*!|>\'"%@`'.includes(first)
  }

  #skipToNextToken(): void {
    for (;;) {
      while (this.#at() === ' ' || (this.#at() === '\t' && (this.#flowLevel > 0 || !this.#allowsSimpleKey)))
        this.#skip()
      if (this.#at() === '#') while (!isBreakOrEnd(this.#at())) this.#skip()
      if (!isBreak(this.#at())) return
      this.#skipLine()
      if (this.#flowLevel === 0) this.#allowsSimpleKey = true
    }
  }

  #isDocumentIndicator(): boolean {
    if (this.#column !== 0) return false
    const text = this.#text.slice(this.#position, this.#position + 3)
    return (text === '---' || text === '...') && isBlankOrEnd(this.#at(3))
  }

  #roll(column: number, type: TokenType, at?: number): void {
    if (this.#flowLevel > 0 || this.#indent >= column) return
    this.#indents.push(this.#indent)
    this.#indent = column
    this.#add(type, at)
  }

  #unroll(column: number): void {
    if (this.#flowLevel > 0) return
    while (this.#indent > column) {
      this.#add('block-end')
      this.#indent = this.#indents.pop() ?? -1
    }
  }

  #isValid(level: number): boolean {
    const key = this.#simpleKeys[level]
    if (key === undefined) return false
    if (key.line === this.#line && key.position + simpleKeyLengthMax >= this.#position) return true
    if (key.isRequired) this.#fail("could not find expected ':'")
    this.#simpleKeys[level] = undefined
    return false
  }

  #saveSimpleKey(): void {
    if (!this.#allowsSimpleKey) return
    this.#removeSimpleKey()
    this.#simpleKeys[this.#simpleKeys.length - 1] = {
      line: this.#line,
      column: this.#column,
      position: this.#position,
      tokenNumber: this.#taken + this.#tokens.length,
      isRequired: this.#flowLevel === 0 && this.#indent === this.#column,
    }
  }

  #removeSimpleKey(): void {
    const last = this.#simpleKeys.length - 1
    if (this.#simpleKeys[last]?.isRequired === true) this.#fail("could not find expected ':'")
    this.#simpleKeys[last] = undefined
  }

  #fetchStreamEnd(): void {
    if (this.#column !== 0) {
      this.#column = 0
      this.#line++
    }
    this.#unroll(-1)
    this.#removeSimpleKey()
    this.#allowsSimpleKey = false
    this.#add('stream-end')
  }

  #fetchDirective(): void {
    this.#unroll(-1)
    this.#removeSimpleKey()
    this.#allowsSimpleKey = false
    this.#add('directive')
    while (!isBreakOrEnd(this.#at())) this.#skip()
  }

  #fetchDocumentIndicator(): void {
    this.#unroll(-1)
    this.#removeSimpleKey()
    this.#allowsSimpleKey = false
    this.#add(this.#at() === '-' ? 'document-start' : 'document-end')
    this.#skip(3)
  }

  #fetchFlowStart(type: TokenType): void {
    this.#saveSimpleKey()
    this.#flowLevel++
    this.#simpleKeys.push(undefined)
    this.#allowsSimpleKey = true
    this.#add(type)
    this.#skip()
  }

  #fetchFlowEnd(type: TokenType): void {
    this.#removeSimpleKey()
    if (this.#flowLevel > 0) {
      this.#flowLevel--
      this.#simpleKeys.pop()
    }
    this.#allowsSimpleKey = false
    this.#add(type)
    this.#skip()
  }

  #fetchFlowEntry(): void {
    this.#removeSimpleKey()
    this.#allowsSimpleKey = true
    this.#add('flow-entry')
    this.#skip()
  }

  #fetchBlockEntry(): void {
    if (this.#flowLevel === 0) {
      if (!this.#allowsSimpleKey) this.#fail('block sequence entries are not allowed in this context')
      this.#roll(this.#column, 'block-sequence-start')
    }
    this.#removeSimpleKey()
    this.#allowsSimpleKey = true
    this.#add('block-entry')
    this.#skip()
  }

  #fetchKey(): void {
    if (this.#flowLevel === 0) {
      if (!this.#allowsSimpleKey) this.#fail('mapping keys are not allowed in this context')
      this.#roll(this.#column, 'block-mapping-start')
    }
    this.#removeSimpleKey()
    this.#allowsSimpleKey = this.#flowLevel === 0
    this.#add('key')
    this.#skip()
  }

  #fetchValue(): void {
    const last = this.#simpleKeys.length - 1
    const key = this.#simpleKeys[last]
    if (key !== undefined && this.#isValid(last)) {
      this.#add('key', key.tokenNumber)
      this.#roll(key.column, 'block-mapping-start', key.tokenNumber)
      this.#simpleKeys[last] = undefined
      this.#allowsSimpleKey = false
    } else {
      if (this.#flowLevel === 0) {
        if (!this.#allowsSimpleKey) this.#fail('mapping values are not allowed in this context')
        this.#roll(this.#column, 'block-mapping-start')
      }
      this.#allowsSimpleKey = this.#flowLevel === 0
    }
    this.#add('value')
    this.#skip()
  }

  #fetchAnchor(type: 'alias' | 'anchor'): void {
    this.#saveSimpleKey()
    this.#allowsSimpleKey = false
    this.#skip()
    const start = this.#position
    while (/^[\w-]$/.test(this.#at())) this.#skip()
    const name = this.#text.slice(start, this.#position)
    if (name === '' || !(isBlankOrEnd(this.#at()) || '?:,]}%@`'.includes(this.#at()))) {
      this.#fail('did not find expected alphabetic or numeric character')
    }
    this.#add(type, undefined, name)
  }

  #fetchTag(): void {
    this.#saveSimpleKey()
    this.#allowsSimpleKey = false
    while (/^[\w!<>;/?:@&=+$.~*'()%#-]$/.test(this.#at())) this.#skip()
    if (!isBlankOrEnd(this.#at())) this.#fail('did not find expected whitespace or line break')
    this.#add('tag')
  }

  #fetchBlockScalar(): void {
    this.#removeSimpleKey()
    this.#allowsSimpleKey = true
    this.#add('scalar')
    this.#skip()
    let increment = 0
    for (let count = 0; count < 2 && /^[-+\d]$/.test(this.#at()); count++) {
      if (this.#at() === '0') this.#fail('found an indentation indicator equal to 0')
      if (/\d/.test(this.#at())) increment = Number(this.#at())
      this.#skip()
    }
    while (isBlank(this.#at())) this.#skip()
    if (this.#at() === '#') while (!isBreakOrEnd(this.#at())) this.#skip()
    if (!isBreakOrEnd(this.#at())) this.#fail('did not find expected comment or line break')
    if (isBreak(this.#at())) this.#skipLine()
    let indent = increment === 0 ? 0 : Math.max(this.#indent, 0) + increment
    indent = this.#skipBlockBreaks(indent)
    while (this.#column === indent && this.#at() !== '') {
      while (!isBreakOrEnd(this.#at())) this.#skip()
      if (isBreak(this.#at())) this.#skipLine()
      indent = this.#skipBlockBreaks(indent)
    }
  }

  /** Skips indentation and empty lines; gives the indent of the text, which its first line decides where it is not known. */
  #skipBlockBreaks(indent: number): number {
    let deepest = 0
    for (;;) {
      while ((indent === 0 || this.#column < indent) && this.#at() === ' ') this.#skip()
      deepest = Math.max(deepest, this.#column)
      if ((indent === 0 || this.#column < indent) && this.#at() === '\t') {
        this.#fail('found a tab character where an indentation space is expected')
      }
      if (!isBreak(this.#at())) break
      this.#skipLine()
    }
    return indent === 0 ? Math.max(deepest, this.#indent + 1, 1) : indent
  }

  #fetchQuoted(quote: string): void {
    this.#saveSimpleKey()
    this.#allowsSimpleKey = false
    this.#add('scalar')
    this.#skip()
    for (;;) {
      if (this.#isDocumentIndicator()) this.#fail('found unexpected document indicator')
      if (this.#at() === '') this.#fail('found unexpected end of stream')
      this.#skipQuotedText(quote)
      if (this.#at() === quote) break
      while (isBlank(this.#at()) || isBreak(this.#at())) {
        if (isBreak(this.#at())) this.#skipLine()
        else this.#skip()
      }
    }
    this.#skip()
  }

  #skipQuotedText(quote: string): void {
    while (!isBlankOrEnd(this.#at())) {
      if (quote === "'" && this.#at() === "'" && this.#at(1) === "'") this.#skip(2)
      else if (this.#at() === quote) return
      else if (quote === '"' && this.#at() === '\\') {
        if (isBreak(this.#at(1))) {
          this.#skip()
          this.#skipLine()
          return
        }
        this.#skipEscape()
      } else this.#skip()
    }
  }

  #skipEscape(): void {
    const code = this.#at(1)
    if (code === '' || !'0abt\tnvfre "/\\N_LPxuU\''.includes(code)) this.#fail('found unknown escape character')
    this.#skip(2)
    const digits = { x: 2, u: 4, U: 8 }[code] ?? 0
    const hexadecimal = this.#text.slice(this.#position, this.#position + digits)
    if (digits > 0 && !/^[\da-fA-F]+$/.test(hexadecimal)) this.#fail('did not find expected hexdecimal number')
    this.#skip(digits)
  }

  #fetchPlain(): void {
    this.#saveSimpleKey()
    this.#allowsSimpleKey = false
    this.#add('scalar')
    const indent = this.#indent + 1
    let hasBreak = false
    for (;;) {
      if (this.#isDocumentIndicator() || this.#at() === '#') break
      while (!isBlankOrEnd(this.#at()) && !this.#endsPlain()) {
        hasBreak = false
        this.#skip()
      }
      if (!isBlank(this.#at()) && !isBreak(this.#at())) break
      while (isBlank(this.#at()) || isBreak(this.#at())) {
        if (isBreak(this.#at())) {
          this.#skipLine()
          hasBreak = true
        } else {
          if (hasBreak && this.#column < indent && this.#at() === '\t') {
            this.#fail('found a tab character that violates indentation')
          }
          this.#skip()
        }
      }
      if (this.#flowLevel === 0 && this.#column < indent) break
    }
    if (hasBreak) this.#allowsSimpleKey = true
  }

  #endsPlain(): boolean {
    if (this.#at() === ':' && isBlankOrEnd(this.#at(1))) return true
    return this.#flowLevel > 0 && ',?[]{}'.includes(this.#at())
  }
}

const isBlank = (char: string): boolean => char === ' ' || char === '\t'
const isBreak = (char: string): boolean => char !== '' && '\r\n\u0085\u2028\u2029'.includes(char)
const isBreakOrEnd = (char: string): boolean => char === '' || isBreak(char)
const isBlankOrEnd = (char: string): boolean => isBlank(char) || isBreakOrEnd(char)
