/** Text into expressions, by the grammar of the Common Expression Language. */
import { type ConstructedField, type Element, type Entry, type Expression, qualifiedName } from './ast.ts'
import { CelSyntaxError } from './errors.ts'
import { expandMacro } from './macros.ts'
import { reservedWords, type Token, tokensOf } from './tokens.ts'

/** Deeper nesting is refused: whatever walks an expression would run out of stack. */
export const expressionDepthMax = 250

/** Longer texts are refused. */
export const expressionLengthMax = 100_000

/** Reads an expression. Throws CelSyntaxError. */
export function parseCel(source: string): Expression {
  if (source.length > expressionLengthMax) throw new CelSyntaxError(0, 'expression code point size exceeds limit')
  return new Parser(tokensOf(source)).whole()
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
  #next = 0
  #depth = 0

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens
  }

  whole(): Expression {
    const expression = this.#expression()
    if (this.#peek().kind !== 'end') throw this.#unexpected()
    return expression
  }

  #peek(ahead = 0): Token {
    const token = this.#tokens[Math.min(this.#next + ahead, this.#tokens.length - 1)]
    return token ?? { kind: 'end', offset: 0 }
  }

  #isNext(text: string): boolean {
    const token = this.#peek()
    return token.kind === 'symbol' ? token.text === text : token.kind === 'name' && text === 'in' && token.text === 'in'
  }

  #take(text: string): boolean {
    const found = this.#isNext(text)
    if (found) this.#next += 1
    return found
  }

  #expect(text: string): void {
    if (!this.#take(text)) throw this.#unexpected(text)
  }

  #unexpected(wanted?: string): CelSyntaxError {
    const token = this.#peek()
    const found = token.kind === 'end' ? '<EOF>' : token.kind === 'literal' ? 'literal' : token.text
    const expecting = wanted === undefined ? '' : ` expecting '${wanted}'`
    return new CelSyntaxError(token.offset, `Syntax error: mismatched input '${found}'${expecting}`)
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
      const yes = this.#binary(0)
      this.#expect(':')
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
    if (!this.#isNext('-')) return this.#member()
    this.#next += 1
    const token = this.#peek()
    if (token.kind === 'literal' && typeof token.value === 'object' && token.value !== null) {
      if ('int' in token.value || 'double' in token.value) return this.#member(true)
    }
    let count = 1
    while (this.#take('-')) count += 1
    const operand = this.#member()
    return count % 2 === 0 ? operand : { kind: 'call', name: '-_', args: [operand], offset }
  }

  #member(negative = false): Expression {
    let operand = this.#primary(negative)
    for (let links = 0; ; links += 1) {
      const { offset } = this.#peek()
      if (links > expressionDepthMax)
        throw new CelSyntaxError(offset, `expression recursion limit exceeded: ${expressionDepthMax}`)
      if (this.#take('.')) operand = this.#dotted(operand, offset)
      else if (this.#take('[')) {
        const optional = this.#take('?')
        const index = this.#expression()
        this.#expect(']')
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
    if (token.kind !== 'name') throw this.#unexpected()
    this.#next += 1
    if (optional || token.quoted || !this.#isNext('(')) {
      return { kind: 'select', operand, field: token.text, test: false, optional, offset }
    }
    const { offset: at } = this.#peek()
    this.#next += 1
    const args = this.#arguments(')')
    return (
      expandMacro(token.text, operand, args, at) ?? {
        kind: 'call',
        name: token.text,
        target: operand,
        args,
        offset: at,
      }
    )
  }

  #arguments(end: string): readonly Expression[] {
    const args: Expression[] = []
    while (!this.#isNext(end)) {
      args.push(this.#expression())
      if (!this.#take(',')) break
    }
    this.#expect(end)
    return args
  }

  #primary(negative: boolean): Expression {
    const token = this.#peek()
    const { offset } = token
    if (token.kind === 'literal') {
      this.#next += 1
      return { kind: 'literal', value: signed(token, negative), offset }
    }
    if (this.#take('(')) {
      const inner = this.#expression()
      this.#expect(')')
      return inner
    }
    if (this.#take('[')) return { kind: 'list', elements: this.#elements(), offset }
    if (this.#take('{')) return { kind: 'map', entries: this.#entries(), offset }
    return this.#name()
  }

  /** A name may begin with a dot: it is then not looked up in the loops around it. */
  #name(): Expression {
    const { offset } = this.#peek()
    const dot = this.#take('.') ? '.' : ''
    const token = this.#peek()
    if (token.kind !== 'name' || token.quoted || token.text === 'in') throw this.#unexpected()
    if (reservedWords.has(token.text)) throw new CelSyntaxError(token.offset, `reserved identifier: ${token.text}`)
    this.#next += 1
    if (!this.#isNext('(')) return { kind: 'identifier', name: dot + token.text, offset }
    const { offset: at } = this.#peek()
    this.#next += 1
    const args = this.#arguments(')')
    const expanded = dot === '' ? expandMacro(token.text, undefined, args, at) : undefined
    return expanded ?? { kind: 'call', name: token.text, args, offset: at }
  }

  #elements(): readonly Element[] {
    const elements: Element[] = []
    while (!this.#isNext(']')) {
      const optional = this.#take('?')
      elements.push({ value: this.#expression(), optional })
      if (!this.#take(',')) break
    }
    this.#expect(']')
    return elements
  }

  #fields(): readonly ConstructedField[] {
    const fields: ConstructedField[] = []
    while (!this.#isNext('}')) {
      const optional = this.#take('?')
      const token = this.#peek()
      if (token.kind !== 'name') throw this.#unexpected()
      this.#next += 1
      const { offset } = this.#peek()
      this.#expect(':')
      fields.push({ name: token.text, value: this.#expression(), optional, offset })
      if (!this.#take(',')) break
    }
    this.#expect('}')
    return fields
  }

  #entries(): readonly Entry[] {
    const entries: Entry[] = []
    while (!this.#isNext('}')) {
      const optional = this.#take('?')
      const key = this.#expression()
      this.#expect(':')
      entries.push({ key, value: this.#expression(), optional })
      if (!this.#take(',')) break
    }
    this.#expect('}')
    return entries
  }
}

function signed(token: Extract<Token, { kind: 'literal' }>, negative: boolean): typeof token.value {
  const { value, offset } = token
  if (typeof value !== 'object' || value === null) return value
  if ('int' in value) {
    if (!negative && value.int === 2n ** 63n) throw new CelSyntaxError(offset, 'invalid int literal')
    return { int: negative ? -value.int : value.int }
  }
  return 'double' in value && negative ? { double: -value.double } : value
}
