/** Text into expressions, by the grammar of the Common Expression Language. */
import { type ConstructedField, type Element, type Entry, type Expression, qualifiedName } from './ast.ts'
import { CelCheckError, type CelProblem, CelSyntaxError } from './errors.ts'
import { expandMacro, type MacroOptions } from './macros.ts'
import { reservedWords, type Token, tokensOf } from './tokens.ts'

/** Deeper nesting is refused: whatever walks an expression would run out of stack. */
export const expressionDepthMax = 250

/** Longer texts are refused. */
export const expressionLengthMax = 100_000

export interface ParseOptions {
  /** Whether `cel.bind` is a macro. */
  readonly bindings?: boolean
}

/**
 * Reads an expression. Throws a CelSyntaxError, or a CelCheckError with all that is wrong: as cel-go does it tells of everything
 * that is no token, of names and literals that cannot be used, and of calls of macros; but only of the first place that does not parse.
 */
export function parseCel(source: string, options: ParseOptions = {}): Expression {
  if (source.length > expressionLengthMax) throw new CelSyntaxError(0, 'expression code point size exceeds limit')
  const { tokens, problems } = tokensOf(source)
  return new Parser(tokens, source, options, problems).whole()
}

/** Binary operators by how tightly they bind, loosest first; `?:` binds loosest of all. */
const binary: readonly (readonly string[])[] = [
  ['||'],
  ['&&'],
  ['<', '<=', '>=', '>', '==', '!=', 'in'],
  ['+', '-'],
  ['*', '/', '%'],
]

class Parser {
  readonly #tokens: readonly Token[]
  readonly #source: string
  readonly #macros: MacroOptions
  readonly #problems: CelProblem[]
  #next = 0
  #depth = 0
  /** How many brackets and conditions are open. */
  #open = 0
  /** What else may stand at the place where a bracket has just been opened. */
  #atStart: { readonly at: number; readonly also: readonly string[] } = { at: -1, also: [] }

  constructor(
    tokens: readonly Token[],
    source: string,
    { bindings = false }: ParseOptions,
    problems: readonly CelProblem[],
  ) {
    this.#problems = [...problems]
    this.#macros = { bindings }
    this.#tokens = tokens
    this.#source = source
  }

  whole(): Expression {
    const expression = this.#read()
    const [first, ...more] = this.#problems
    if (first === undefined && expression !== undefined) return expression
    if (first !== undefined && more.length === 0) throw new CelSyntaxError(first.offset, first.message)
    throw new CelCheckError(this.#problems)
  }

  /** Undefined where it does not parse. */
  #read(): Expression | undefined {
    try {
      const expression = this.#expression()
      if (this.#peek().kind !== 'end') throw this.#unexpected('<EOF>', this.#peek(1).kind === 'end')
      return expression
    } catch (error) {
      if (error instanceof CelSyntaxError) this.#problems.push({ offset: error.offset, message: error.message })
      else if (error instanceof CelCheckError) this.#problems.push(...error.problems)
      else throw error
      return undefined
    }
  }

  /** Tells a problem and goes on. */
  #report(offset: number, message: string): void {
    this.#problems.push({ offset, message })
  }

  /** What stands where nothing usable does. */
  #nothing(offset: number): Expression {
    return { kind: 'literal', value: null, offset }
  }

  #expanded(
    name: string,
    target: Expression | undefined,
    args: readonly Expression[],
    offset: number,
  ): Expression | undefined {
    try {
      return expandMacro(name, target, args, offset, this.#macros)
    } catch (error) {
      if (!(error instanceof CelSyntaxError)) throw error
      this.#report(error.offset, error.message)
      return this.#nothing(offset)
    }
  }

  #peek(ahead = 0): Token {
    const token = this.#tokens[Math.min(this.#next + ahead, this.#tokens.length - 1)]
    return token ?? { kind: 'end', offset: 0, end: 0 }
  }

  #isNext(text: string, ahead = 0): boolean {
    const token = this.#peek(ahead)
    return token.kind === 'symbol' ? token.text === text : token.kind === 'name' && text === 'in' && token.text === 'in'
  }

  #take(text: string): boolean {
    const found = this.#isNext(text)
    if (found) this.#next += 1
    return found
  }

  /** Opens what `#close` ends. `also` may stand there instead of an operand. */
  #enter(also: readonly string[] = []): void {
    this.#open += 1
    this.#atStart = { at: this.#next, also }
  }

  /** Takes what ends a bracket, or stands between the parts of a condition; `orComma`: more might have followed. */
  #close(text: string, orComma = false): void {
    if (!this.#take(text)) throw this.#missing(text, orComma)
    this.#open -= 1
  }

  #expect(text: string): void {
    if (!this.#take(text)) throw this.#missing(text, false)
  }

  /** What ANTLR's way to go on after an error makes of it: a token too many is passed over, and one too few put in, where that helps. */
  #missing(text: string, orComma: boolean): CelSyntaxError {
    const isSurplus = this.#isNext(text, 1) || (orComma && this.#isNext(',', 1))
    const mayFollow = text === ':' ? this.#beginsOperand() : this.#peek().kind === 'end' && this.#open === 1
    if (!isSurplus && !orComma && mayFollow) return this.#error(`missing '${text}' at`, '')
    return this.#unexpected(orComma ? `{'${text}', ','}` : `'${text}'`, isSurplus)
  }

  #unexpected(wanted: string, isSurplus: boolean): CelSyntaxError {
    return this.#error(isSurplus ? 'extraneous input' : 'mismatched input', ` expecting ${wanted}`)
  }

  #noOperand(): CelSyntaxError {
    const { at, also } = this.#atStart
    const wanted = operandStarts(at === this.#next ? also : [])
    return this.#unexpected(wanted, this.#peek().kind !== 'end' && this.#beginsOperand(1))
  }

  #error(problem: string, rest: string): CelSyntaxError {
    const { kind, offset } = this.#peek()
    const found = kind === 'end' ? '<EOF>' : this.#text()
    return new CelSyntaxError(offset, `Syntax error: ${problem} '${found}'${rest}`)
  }

  /** The next token as it is written. */
  #text(): string {
    const { offset, end } = this.#peek()
    return this.#source.slice(offset, end)
  }

  #beginsOperand(ahead = 0): boolean {
    const token = this.#peek(ahead)
    if (token.kind === 'symbol') return ['[', '{', '(', '.', '-', '!'].includes(token.text)
    return token.kind === 'literal' || (token.kind === 'name' && !token.quoted && token.text !== 'in')
  }

  #expression(): Expression {
    this.#depth += 1
    if (this.#depth > expressionDepthMax) {
      throw new CelSyntaxError(this.#peek().offset, `expression recursion limit exceeded: ${expressionDepthMax}`)
    }
    const condition = this.#binary(0)
    const { offset } = this.#peek()
    let expression = condition
    if (this.#take('?')) {
      this.#enter()
      const yes = this.#binary(0)
      this.#close(':')
      expression = { kind: 'call', name: '_?_:_', args: [condition, yes, this.#expression()], offset }
    }
    this.#depth -= 1
    return expression
  }

  #binary(level: number): Expression {
    const operators = binary[level]
    if (operators === undefined) return this.#unary()
    let left = this.#binary(level + 1)
    for (;;) {
      const operator = operators.find((each) => this.#isNext(each))
      if (operator === undefined) return left
      const { offset } = this.#peek()
      this.#next += 1
      const right = this.#binary(level + 1)
      left = { kind: 'call', name: operator === 'in' ? '@in' : `_${operator}_`, args: [left, right], offset }
    }
  }

  #unary(): Expression {
    const { offset } = this.#peek()
    if (this.#take('!')) {
      let count = 1
      while (this.#take('!')) count += 1
      const operand = this.#member()
      return count % 2 === 0 ? operand : { kind: 'call', name: '!_', args: [operand], offset }
    }
    if (!this.#isNext('-') || this.#isSigned()) return this.#member()
    this.#next += 1
    let count = 1
    while (this.#take('-')) count += 1
    const operand = this.#member()
    return count % 2 === 0 ? operand : { kind: 'call', name: '-_', args: [operand], offset }
  }

  /** Whether a number with its sign comes next. */
  #isSigned(): boolean {
    const token = this.#peek(1)
    if (!this.#isNext('-') || token.kind !== 'literal' || typeof token.value !== 'object' || token.value === null)
      return false
    return 'int' in token.value || 'double' in token.value
  }

  #member(): Expression {
    let operand = this.#primary()
    for (let links = 0; ; links += 1) {
      const { offset } = this.#peek()
      if (links > expressionDepthMax)
        throw new CelSyntaxError(offset, `expression recursion limit exceeded: ${expressionDepthMax}`)
      if (this.#take('.')) operand = this.#dotted(operand, offset)
      else if (this.#take('[')) {
        this.#enter(['?'])
        const optional = this.#take('?')
        const index = this.#expression()
        this.#close(']')
        operand = { kind: 'call', name: optional ? '_[?_]' : '_[_]', args: [operand, index], offset }
      } else {
        const typeName = this.#isNext('{') ? qualifiedName(operand) : undefined
        if (typeName === undefined) return operand
        this.#next += 1
        operand = { kind: 'construct', typeName, fields: this.#fields(), offset }
      }
    }
  }

  #dotted(operand: Expression, offset: number): Expression {
    const optional = this.#take('?')
    const token = this.#peek()
    if (!isFieldName(token)) throw this.#noField(optional)
    if (token.quoted) this.#report(token.offset, unsupportedQuotes)
    this.#next += 1
    if (optional || !this.#isNext('(')) {
      return { kind: 'select', operand, field: token.text, test: false, optional, offset }
    }
    const { offset: at } = this.#peek()
    this.#next += 1
    const args = this.#arguments(')')
    return (
      this.#expanded(token.text, operand, args, at) ?? {
        kind: 'call',
        name: token.text,
        target: operand,
        args,
        offset: at,
      }
    )
  }

  #noField(optional: boolean): CelSyntaxError | CelCheckError {
    const token = this.#peek()
    if (optional) {
      const { message } = this.#unexpected('{IDENTIFIER, ESC_IDENTIFIER}', false)
      return new CelCheckError(
        [message, 'unsupported ident kind'].map((each) => ({ offset: token.offset, message: each })),
      )
    }
    if (token.kind === 'literal' && wordsOfValues.has(token.value)) return this.#unexpected('IDENTIFIER', false)
    const found = token.kind === 'end' ? '' : this.#text()
    return new CelSyntaxError(token.offset, `Syntax error: no viable alternative at input '.${found}'`)
  }

  #arguments(end: string): readonly Expression[] {
    const args: Expression[] = []
    this.#enter([end])
    while (!this.#isNext(end)) {
      args.push(this.#expression())
      if (!this.#take(',')) break
    }
    this.#close(end)
    return args
  }

  #primary(): Expression {
    const minus = this.#isSigned() ? this.#peek().offset : undefined
    if (minus !== undefined) this.#next += 1
    const token = this.#peek()
    const { offset } = token
    if (token.kind === 'literal') {
      this.#next += 1
      const { value, problem } = signed(token, minus)
      if (problem !== undefined) this.#report(minus ?? offset, problem)
      return { kind: 'literal', value, offset: minus ?? offset }
    }
    if (this.#take('(')) {
      this.#enter()
      const inner = this.#expression()
      this.#close(')')
      return inner
    }
    if (this.#take('[')) return { kind: 'list', elements: this.#elements(), offset }
    if (this.#take('{')) return { kind: 'map', entries: this.#entries(), offset }
    return this.#name()
  }

  /** A name may begin with a dot: it is then not looked up in the loops around it. */
  #name(): Expression {
    const dot = this.#take('.') ? '.' : ''
    const token = this.#peek()
    const { offset } = token
    if (token.kind !== 'name' || token.quoted || token.text === 'in') throw this.#noOperand()
    const isReserved = reservedWords.has(token.text)
    if (isReserved) this.#report(token.offset, `reserved identifier: ${token.text}`)
    this.#next += 1
    if (!this.#isNext('('))
      return isReserved ? this.#nothing(offset) : { kind: 'identifier', name: dot + token.text, offset }
    const { offset: at } = this.#peek()
    this.#next += 1
    const args = this.#arguments(')')
    if (isReserved) return this.#nothing(offset)
    const expanded = dot === '' ? this.#expanded(token.text, undefined, args, at) : undefined
    return expanded ?? { kind: 'call', name: token.text, args, offset: at }
  }

  #elements(): readonly Element[] {
    const elements: Element[] = []
    this.#enter([']', ',', '?'])
    while (!this.#endsWith(']', elements.length)) {
      const optional = this.#take('?')
      elements.push({ value: this.#expression(), optional })
      if (!this.#take(',')) break
    }
    this.#close(']', !this.#followsComma())
    return elements
  }

  #fields(): readonly ConstructedField[] {
    const fields: ConstructedField[] = []
    this.#enter()
    while (!this.#endsWith('}', fields.length)) {
      const optional = this.#take('?')
      const token = this.#peek()
      if (!isFieldName(token)) throw this.#unexpected("{'}', ',', '?', IDENTIFIER, ESC_IDENTIFIER}", false)
      if (token.quoted) this.#report(token.offset, unsupportedQuotes)
      this.#next += 1
      const { offset } = this.#peek()
      this.#expect(':')
      fields.push({ name: token.text, value: this.#expression(), optional, offset })
      if (!this.#take(',')) break
    }
    this.#close('}', !this.#followsComma())
    return fields
  }

  #entries(): readonly Entry[] {
    const entries: Entry[] = []
    this.#enter(['}', ',', '?'])
    while (!this.#endsWith('}', entries.length)) {
      const optional = this.#take('?')
      const key = this.#expression()
      this.#expect(':')
      entries.push({ key, value: this.#expression(), optional })
      if (!this.#take(',')) break
    }
    this.#close('}', !this.#followsComma())
    return entries
  }

  /** Whether a list or map ends here: after its last comma it may, and at the end of the text nothing else can be. */
  #endsWith(text: string, count: number): boolean {
    return this.#isNext(text) || (count > 0 && this.#peek().kind === 'end')
  }

  #followsComma(): boolean {
    return this.#isNext(',', -1)
  }
}

const wordsOfValues: ReadonlySet<unknown> = new Set([true, false, null])

/** Fields may be called as variables may not be; but for the operator. */
const isFieldName = (token: Token): token is Extract<Token, { kind: 'name' }> =>
  token.kind === 'name' && (token.quoted || token.text !== 'in')

/** Kubernetes does not let names be quoted. */
const unsupportedQuotes = "unsupported syntax: '`'"

const tokenOrder = "'[' ']' '{' '}' '(' ')' '.' ',' '-' '!' '?'".split(' ')
const operandSymbols = "'[' '{' '(' '.' '-' '!'".split(' ')
const operandWords = "'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER"

/** The tokens with which an operand begins, and others, in the order of the grammar. */
function operandStarts(also: readonly string[]): string {
  const symbols = tokenOrder.filter((each) => operandSymbols.includes(each) || also.includes(each.slice(1, -1)))
  return `{${symbols.join(', ')}, ${operandWords}}`
}

type LiteralToken = Extract<Token, { kind: 'literal' }>

function signed(token: LiteralToken, minus: number | undefined): Pick<LiteralToken, 'value' | 'problem'> {
  const { value, problem } = token
  if (problem !== undefined) return { value, problem }
  const negative = minus !== undefined
  if (typeof value !== 'object' || value === null) return { value }
  if ('int' in value) {
    if (!negative && value.int === 2n ** 63n) return { value, problem: 'invalid int literal' }
    return { value: { int: negative ? -value.int : value.int } }
  }
  return { value: 'double' in value && negative ? { double: -value.double } : value }
}
