import { templateFunctions } from './functions.ts'
import { Float } from './go-values.ts'
import { type Token, type TokenType, tokenize } from './lexer.ts'
import type { BranchNode, CommandNode, ListNode, OperandNode, PipeNode, StatementNode } from './nodes.ts'
import { unquote, unquoteChar } from './unquote.ts'

/** A template that is ready to be executed, with those that it defines. */
export interface GoTemplate {
  readonly text: string
  /** By name; the template itself has the name of the whole. */
  readonly templates: ReadonlyMap<string, ListNode>
}

/** The name that kubectl gives to templates of its users; errors show it. */
export const templateName = 'output'

/** Reads a template in the language of Go's text/template. Throws an Error in Go's words where it is malformed. */
export function parseGoTemplate(text: string): GoTemplate {
  const parser = new Parser(text)
  parser.parse()
  return { text, templates: parser.templates }
}

/** What a list of statements ended at. */
interface Ending {
  readonly keyword: 'else' | 'end'
}

class Parser {
  readonly templates = new Map<string, ListNode>()
  readonly #text: string
  readonly #tokens: readonly Token[]
  #next = 0
  #variables: string[] = ['$']
  #rangeDepth = 0
  /** The line at which the present action began. */
  #actionLine = 0

  constructor(text: string) {
    this.#text = text
    this.#tokens = tokenize(text)
  }

  parse(): void {
    const statements: StatementNode[] = []
    while (this.#peek().type !== 'eof') {
      if (this.#isKeyword('define', 1)) {
        this.#define()
        continue
      }
      const node = this.#textOrAction()
      if (node === undefined) continue
      if ('keyword' in node) this.#fail(`unexpected {{${node.keyword}}}`)
      else statements.push(node)
    }
    this.templates.set(templateName, statements)
  }

  #define(): void {
    this.#take()
    this.#takeSolid()
    const name = this.#takeSolid()
    if (name.type !== 'string') this.#unexpected(name, 'define clause')
    this.#expect('rightDelimiter', 'define clause')
    const outer = this.#variables
    this.#variables = ['$']
    const { list, ending } = this.#list()
    if (ending.keyword !== 'end') this.#fail(`unexpected {{${ending.keyword}}} in define clause`)
    this.#variables = outer
    this.#add(this.#unquote(name), list)
  }

  /** A template that has only space in it gives way to another of its name. */
  #add(name: string, list: ListNode): void {
    const isEmpty = (each: ListNode) => each.every((node) => node.type === 'text' && node.text.trim() === '')
    const known = this.templates.get(name)
    if (known === undefined || isEmpty(known)) this.templates.set(name, list)
    else if (!isEmpty(list)) this.#fail(`template: multiple definition of template ${JSON.stringify(name)}`)
  }

  /** Statements up to an `else` or `end`. */
  #list(): { readonly list: ListNode; readonly ending: Ending } {
    const list: StatementNode[] = []
    while (this.#peek().type !== 'eof') {
      const node = this.#textOrAction()
      if (node === undefined) continue
      if ('keyword' in node) return { list, ending: node }
      list.push(node)
    }
    return this.#fail('unexpected EOF')
  }

  #textOrAction(): StatementNode | Ending | undefined {
    const token = this.#takeSolid()
    if (token.type === 'text') return { type: 'text', text: token.text }
    if (token.type !== 'leftDelimiter') return this.#unexpected(token, 'input')
    this.#actionLine = this.#lineOf(token.position)
    const node = this.#action()
    this.#actionLine = 0
    return node
  }

  #action(): StatementNode | Ending | undefined {
    const token = this.#peekSolid()
    if (token.type !== 'keyword') {
      const pipe = this.#pipeline('command', 'rightDelimiter')
      return { type: 'action', pipe }
    }
    this.#takeSolid()
    switch (token.text) {
      case 'block':
        return this.#block()
      case 'break':
      case 'continue':
        this.#endOfJump(token)
        return { type: token.text }
      case 'else':
        return this.#else()
      case 'end':
        this.#expect('rightDelimiter', 'end')
        return { keyword: 'end' }
      case 'if':
      case 'range':
      case 'with':
        return this.#branch(token.text)
      case 'template':
        return this.#template()
      default:
        return this.#unexpected(token, 'command')
    }
  }

  #endOfJump(token: Token): void {
    const next = this.#takeSolid()
    if (next.type !== 'rightDelimiter') this.#unexpected(next, `{{${token.text}}}`)
    if (this.#rangeDepth === 0) this.#fail(`{{${token.text}}} outside {{range}}`)
  }

  /** What follows `else` is left to the branch that it belongs to. */
  #else(): Ending {
    const next = this.#peekSolid()
    if (next.type === 'keyword' && (next.text === 'if' || next.text === 'with')) return { keyword: 'else' }
    this.#expect('rightDelimiter', 'else')
    return { keyword: 'else' }
  }

  #branch(type: BranchNode['type']): BranchNode {
    const known = this.#variables.length
    const pipe = this.#pipeline(type, 'rightDelimiter')
    if (type === 'range') this.#rangeDepth++
    const { list: body, ending } = this.#list()
    if (type === 'range') this.#rangeDepth--
    let otherwise: ListNode | undefined
    if (ending.keyword === 'else') {
      const next = this.#peekSolid()
      if (type !== 'range' && next.type === 'keyword' && next.text === type) {
        // `else if` ends with the same `end` as what it belongs to.
        this.#takeSolid()
        otherwise = [this.#branch(type)]
      } else {
        const rest = this.#list()
        if (rest.ending.keyword !== 'end') this.#fail(`expected end; found {{${rest.ending.keyword}}}`)
        otherwise = rest.list
      }
    }
    this.#variables.length = known
    return { type, pipe, body, otherwise }
  }

  #block(): StatementNode {
    const name = this.#takeSolid()
    if (name.type !== 'string') this.#unexpected(name, 'block clause')
    const pipe = this.#pipeline('block clause', 'rightDelimiter')
    const outer = this.#variables
    this.#variables = ['$']
    const { list, ending } = this.#list()
    if (ending.keyword !== 'end') this.#fail(`unexpected {{${ending.keyword}}} in block clause`)
    this.#variables = outer
    this.#add(this.#unquote(name), list)
    return { type: 'template', position: name.position, name: this.#unquote(name), pipe }
  }

  #template(): StatementNode {
    const name = this.#takeSolid()
    if (name.type !== 'string') this.#unexpected(name, 'template clause')
    const isBare = this.#peekSolid().type === 'rightDelimiter'
    if (isBare) this.#takeSolid()
    const pipe = isBare ? undefined : this.#pipeline('template clause', 'rightDelimiter')
    return { type: 'template', position: name.position, name: this.#unquote(name), pipe }
  }

  #pipeline(context: string, end: TokenType): PipeNode {
    const { position } = this.#peekSolid()
    const { variables, isAssignment } = this.#declaration(context)
    const commands: CommandNode[] = []
    for (;;) {
      const token = this.#takeSolid()
      if (token.type === end) break
      if (!operandStarts.has(token.type)) this.#unexpected(token, context)
      this.#next--
      commands.push(this.#command())
    }
    this.#checkPipeline(commands, context)
    return { type: 'pipe', position, variables, isAssignment, commands }
  }

  #checkPipeline(commands: readonly CommandNode[], context: string): void {
    if (commands.length === 0) this.#fail(`missing value for ${context}`)
    for (const [index, { operands }] of commands.slice(1).entries()) {
      const first = operands[0]?.type ?? ''
      if (['bool', 'dot', 'nil', 'number', 'string'].includes(first)) {
        this.#fail(`non executable command in pipeline stage ${index + 2}`)
      }
    }
  }

  /** `$a :=`, `$a, $b :=` in a range, or `$a =`. */
  #declaration(context: string): Pick<PipeNode, 'variables' | 'isAssignment'> {
    const variables: string[] = []
    const start = this.#next
    while (this.#peekSolid().type === 'variable') {
      const variable = this.#takeSolid()
      const after = this.#takeSolid()
      variables.push(variable.text)
      if (after.type === 'declare' || after.type === 'assign') {
        // Whether there is a variable to assign to shows when it is done.
        this.#variables.push(...variables)
        return { variables, isAssignment: after.type === 'assign' }
      }
      if (after.type !== 'char' || after.text !== ',') break
      if (variables.length > 1 || context !== 'range') this.#fail(`too many declarations in ${context}`)
    }
    this.#next = start
    return { variables: [], isAssignment: false }
  }

  #command(): CommandNode {
    const { position } = this.#peekSolid()
    const operands: OperandNode[] = []
    for (;;) {
      this.#peekSolid()
      this.#skipSpace()
      const operand = this.#operand()
      if (operand !== undefined) operands.push(operand)
      const token = this.#take()
      if (token.type === 'space') continue
      if (token.type === 'rightDelimiter' || token.type === 'rightParen') this.#next--
      else if (token.type !== 'pipe') this.#unexpected(token, 'operand')
      break
    }
    if (operands.length === 0) this.#fail('empty command')
    return { type: 'command', position, operands }
  }

  #operand(): OperandNode | undefined {
    const node = this.#term()
    if (node === undefined || this.#peek().type !== 'field') return node
    const { position } = this.#peek()
    const fields: string[] = []
    while (this.#peek().type === 'field') fields.push(this.#take().text.slice(1))
    switch (node.type) {
      case 'field':
      case 'variable':
        return { ...node, position, fields: [...node.fields, ...fields] }
      case 'bool':
      case 'string':
      case 'number':
      case 'nil':
      case 'dot':
        return this.#fail(`unexpected . after term ${JSON.stringify(termText(node))}`)
      default:
        return { type: 'chain', position, of: node, fields }
    }
  }

  #term(): OperandNode | undefined {
    const token = this.#takeSolid()
    const { position, text } = token
    switch (token.type) {
      case 'identifier':
        if (!templateFunctions.has(text)) this.#fail(`function ${JSON.stringify(text)} not defined`)
        return { type: 'identifier', position, name: text }
      case 'dot':
        return { type: 'dot', position }
      case 'nil':
        return { type: 'nil', position }
      case 'variable':
        this.#checkVariable(text)
        return { type: 'variable', position, name: text, fields: [] }
      case 'field':
        return { type: 'field', position, fields: [text.slice(1)] }
      case 'bool':
        return { type: 'bool', position, value: text === 'true' }
      case 'charConstant':
        return {
          type: 'number',
          position,
          value: this.#character(text),
          text,
        }
      case 'number':
        return { type: 'number', position, value: this.#number(text), text }
      case 'string':
        return { type: 'string', position, value: this.#unquote(token), text }
      case 'leftParen':
        return this.#pipeline('parenthesized pipeline', 'rightParen')
      default:
        this.#next--
        return undefined
    }
  }

  #checkVariable(name: string): void {
    if (!this.#variables.includes(name)) this.#fail(`undefined variable ${JSON.stringify(name)}`)
  }

  #character(text: string): bigint {
    const value = unquoteChar(text)
    if (value !== undefined) return value
    return this.#fail(unquote(text) ? `malformed character constant: ${text}` : 'invalid syntax')
  }

  #number(text: string): bigint | Float {
    return numberOf(text) ?? this.#fail(`illegal number syntax: ${JSON.stringify(text)}`)
  }

  #unquote({ text }: Token): string {
    return unquote(text) ?? this.#fail('invalid syntax')
  }

  #peek(): Token {
    return this.#tokens[this.#next] ?? this.#end()
  }

  #take(): Token {
    const token = this.#peek()
    this.#next++
    return token
  }

  #skipSpace(): void {
    while (this.#peek().type === 'space') this.#next++
  }

  #peekSolid(): Token {
    let index = this.#next
    while (this.#tokens[index]?.type === 'space') index++
    return this.#tokens[index] ?? this.#end()
  }

  #takeSolid(): Token {
    this.#skipSpace()
    return this.#take()
  }

  #end(): Token {
    return this.#tokens.at(-1) ?? { type: 'eof', text: '', position: 0 }
  }

  #isKeyword(keyword: string, ahead: number): boolean {
    const solid = this.#tokens.slice(this.#next, this.#next + ahead + 2).filter(({ type }) => type !== 'space')
    const token = solid[ahead]
    return solid[0]?.type === 'leftDelimiter' && token?.type === 'keyword' && token.text === keyword
  }

  #expect(type: TokenType, context: string): void {
    const token = this.#takeSolid()
    if (token.type !== type) this.#unexpected(token, context)
  }

  #unexpected(token: Token, context: string): never {
    if (token.type !== 'error') return this.#fail(`unexpected ${tokenText(token)} in ${context}`)
    const line = this.#lineOf(token.position)
    if (this.#actionLine === 0 || this.#actionLine === line) return this.#fail(token.text)
    const started = `${templateName}:${this.#actionLine}`
    const extra = token.text.endsWith(' action') ? ` started at ${started}` : ` in action started at ${started}`
    return this.#fail(`${token.text}${extra}`)
  }

  #fail(message: string): never {
    const last = this.#tokens[Math.max(0, Math.min(this.#next, this.#tokens.length) - 1)]
    throw new Error(`template: ${templateName}:${this.#lineOf(last?.position ?? 0)}: ${message}`)
  }

  #lineOf(position: number): number {
    return this.#text.slice(0, position).split('\n').length
  }
}

const operandStarts: ReadonlySet<TokenType> = new Set([
  'bool',
  'charConstant',
  'dot',
  'field',
  'identifier',
  'number',
  'nil',
  'string',
  'variable',
  'leftParen',
])

function termText(node: OperandNode): string {
  return node.type === 'number' || node.type === 'string'
    ? node.text
    : node.type === 'bool'
      ? String(node.value)
      : node.type === 'nil'
        ? 'nil'
        : '.'
}

/** Longest text of a token that an error shows whole. */
const tokenShownMax = 10

/** A token as errors show it. */
function tokenText({ type, text }: Token): string {
  if (type === 'eof') return 'EOF'
  // Go counts these among the keywords.
  if (type === 'keyword' || type === 'dot' || type === 'nil') return `<${text}>`
  return text.length > tokenShownMax ? `${JSON.stringify(text.slice(0, tokenShownMax))}...` : JSON.stringify(text)
}

/** Go's ideal constants: an int where it is written as one, or else a float64. Undefined for what is no number. */
function numberOf(text: string): bigint | Float | undefined {
  if (!isNumber(text)) return undefined
  const plain = text.replaceAll('_', '')
  const [, sign = '', digits = ''] = /^([+-]?)(.*)$/.exec(plain) ?? []
  // 010 is eight, as in C.
  const octal = /^0\d+$/.test(digits) ? `0o${digits.slice(1)}` : digits
  if (!/^(?:\d+|0[xXoObB][0-9a-fA-F]+)$/.test(octal)) return new Float(Number(plain))
  const value = BigInt(octal)
  return sign === '-' ? -value : value
}

/** Numbers of Go: decimal, hexadecimal, octal, binary, with underscores, and decimal fractions. */
const isNumber = (text: string): boolean =>
  /^[+-]?(?:0[xX][0-9a-fA-F_]+|0[oO][0-7_]+|0[bB][01_]+|[\d_]*\.?[\d_]+(?:[eE][+-]?\d+)?|[\d_]+\.)$/.test(text)
