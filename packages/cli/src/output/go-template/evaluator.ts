import { isJsonObject } from '@coracle/api'
import { goQuoted } from '@coracle/api/go-text'
import { type TemplateFunction, templateFunctions } from './functions.ts'
import { floatOf, type GoValue, goType, goValueText, integerOf, isTrue, mapKeys } from './go-values.ts'
import type { BranchNode, CommandNode, ListNode, OperandNode, PipeNode, StatementNode, TemplateNode } from './nodes.ts'
import { nodeText } from './nodes.ts'
import { type GoTemplate, templateName } from './parser.ts'

export interface EvaluationOptions {
  /** A field that a map does not have is an error, and not `<no value>`. */
  readonly requireKeys: boolean
}

/** What was written before the error, and the error. */
export class TemplateError extends Error {
  readonly written: string

  constructor(message: string, written: string) {
    super(message)
    this.written = written
  }
}

/** What a template makes of some data, JSON as it was decoded. Throws a TemplateError in Go's words. */
export function executeGoTemplate(template: GoTemplate, data: unknown, options: EvaluationOptions): string {
  return new Evaluation(template, options).run(data)
}

/** Templates within templates. */
const depthMax = 1000

/** A value, and whether Go knows no more of its type than that it is an `interface {}`: errors say so. */
interface Typed {
  readonly value: GoValue
  readonly isInterface: boolean
}

const concrete = (value: GoValue): Typed => ({ value, isInterface: false })
const element = (value: GoValue): Typed => ({ value, isInterface: true })
/** What Go calls an invalid value: there is none. */
const nothing: Typed = { value: undefined, isInterface: false }

interface Variable {
  readonly name: string
  value: Typed
}

class Evaluation {
  readonly #template: GoTemplate
  readonly #options: EvaluationOptions
  #written = ''
  #depth = 0
  #name = templateName
  /** Where errors are said to be. */
  #at: { readonly position: number; readonly text: string } = { position: 0, text: '' }
  #variables: Variable[] = []

  constructor(template: GoTemplate, options: EvaluationOptions) {
    this.#template = template
    this.#options = options
  }

  run(data: unknown): string {
    const root = concrete(data)
    this.#variables = [{ name: '$', value: root }]
    this.#list(this.#template.templates.get(templateName) ?? [], root)
    return this.#written
  }

  /** Statements in order; `break` and `continue` where one of them ended the rest. */
  #list(list: ListNode, dot: Typed): 'break' | 'continue' | undefined {
    for (const node of list) {
      const jump = this.#statement(node, dot)
      if (jump !== undefined) return jump
    }
    return undefined
  }

  #statement(node: StatementNode, dot: Typed): 'break' | 'continue' | undefined {
    switch (node.type) {
      case 'text':
        this.#written += node.text
        return undefined
      case 'action': {
        const { value } = this.#pipeline(node.pipe, dot)
        // A declaration prints nothing.
        if (node.pipe.variables.length === 0) this.#written += printedText(value)
        return undefined
      }
      case 'break':
      case 'continue':
        return node.type
      case 'template':
        this.#call(node, dot)
        return undefined
      case 'range':
        return this.#scoped(() => this.#range(node, dot))
      default:
        return this.#scoped(() => {
          const found = this.#pipeline(node.pipe, dot)
          if (isTrue(found.value)) return this.#list(node.body, node.type === 'with' ? found : dot)
          return node.otherwise === undefined ? undefined : this.#list(node.otherwise, dot)
        })
    }
  }

  /** Variables that are declared meanwhile are gone afterwards. */
  #scoped<R>(action: () => R): R {
    const known = this.#variables.length
    const result = action()
    this.#variables.length = known
    return result
  }

  #range(node: BranchNode, dot: Typed): 'break' | 'continue' | undefined {
    const { pipe, body, otherwise } = node
    const found = this.#pipeline(pipe, dot, { declares: false })
    const items = this.#itemsOf(found.value, pipe)
    const jump = items.length === 0 && otherwise !== undefined ? this.#list(otherwise, dot) : undefined
    for (const [index, item] of items) {
      const outcome = this.#scoped(() => {
        const [first, second] = pipe.variables
        const ofOne = second === undefined ? item : index
        if (first !== undefined) this.#setVariable(first, ofOne, pipe.isAssignment)
        if (second !== undefined) this.#setVariable(second, item, pipe.isAssignment)
        return this.#list(body, item)
      })
      if (outcome === 'break') break
    }
    return jump
  }

  /** What a range goes through, each with its index. */
  #itemsOf(value: GoValue, pipe: PipeNode): readonly (readonly [Typed, Typed])[] {
    if (value === undefined || value === null) return []
    if (Array.isArray(value)) return value.map((item, index) => [concrete(BigInt(index)), element(item)])
    if (isJsonObject(value) && floatOf(value) === undefined)
      return mapKeys(value).map((key) => [concrete(key), element(value[key])])
    const whole = integerOf(value)
    if (whole !== undefined) {
      if (pipe.variables.length > 1) {
        return this.#fail(`can't use ${whole} to iterate over more than one variable`)
      }
      return Array.from({ length: Math.max(0, Number(whole)) }, (_, index) => {
        const count = concrete(BigInt(index))
        return [count, count] as const
      })
    }
    return this.#fail(`range can't iterate over ${goValueText(value)}`)
  }

  #call(node: TemplateNode, dot: Typed): void {
    this.#at = {
      position: node.position,
      text: `{{template ${goQuoted(node.name)}${node.pipe === undefined ? '' : ` ${nodeText(node.pipe)}`}}}`,
    }
    const list = this.#template.templates.get(node.name)
    if (list === undefined) throw this.#error(`template ${goQuoted(node.name)} not defined`)
    if (this.#depth >= depthMax) throw this.#error(`exceeded maximum template depth (${depthMax})`)
    const data = node.pipe === undefined ? nothing : this.#pipeline(node.pipe, dot)
    const [variables, name] = [this.#variables, this.#name]
    this.#variables = [{ name: '$', value: data }]
    this.#name = node.name
    this.#depth++
    this.#list(list, data)
    this.#depth--
    this.#variables = variables
    this.#name = name
  }

  #pipeline(pipe: PipeNode, dot: Typed, { declares = true } = {}): Typed {
    this.#at = { position: pipe.position, text: nodeText(pipe) }
    let found: Typed | undefined
    for (const command of pipe.commands) {
      const { value } = this.#command(command, dot, found)
      // An interface that comes out of a command is what it holds.
      found = concrete(value === null ? undefined : value)
    }
    const result = found ?? nothing
    if (declares) for (const name of pipe.variables) this.#setVariable(name, result, pipe.isAssignment)
    return result
  }

  #setVariable(name: string, value: Typed, isAssignment: boolean): void {
    const known = isAssignment ? this.#variables.findLast((each) => each.name === name) : undefined
    if (known !== undefined) known.value = value
    else if (isAssignment) this.#fail(`undefined variable: ${name}`)
    else this.#variables.push({ name, value })
  }

  /** A command, with what the command before it came to as its last argument. */
  #command(command: CommandNode, dot: Typed, last: Typed | undefined): Typed {
    const [first, ...others] = command.operands
    if (first === undefined) return nothing
    if (first.type === 'identifier') return this.#function(first.name, command, others, dot, last)
    if (others.length > 0 || last !== undefined) this.#refuseArguments(first)
    this.#at = { position: first.position, text: nodeText(first) }
    if (first.type === 'nil') return this.#fail('nil is not a command')
    return this.#operand(first, dot)
  }

  /** Only functions take arguments: data of JSON has no methods. */
  #refuseArguments(first: OperandNode): never {
    this.#at = { position: first.position, text: nodeText(first) }
    const name = 'fields' in first ? first.fields.at(-1) : undefined
    if (name !== undefined) return this.#fail(`${name} is not a method but has arguments`)
    return this.#fail(`can't give argument to non-function ${nodeText(first)}`)
  }

  #function(
    name: string,
    command: CommandNode,
    operands: readonly OperandNode[],
    dot: Typed,
    last: Typed | undefined,
  ): Typed {
    const found = templateFunctions.get(name)
    if (found === undefined) return this.#fail(`${goQuoted(name)} is not a defined function`)
    this.#at = { position: command.operands[0]?.position ?? 0, text: name }
    this.#checkCount(name, found, operands.length + (last === undefined ? 0 : 1))
    if (name === 'call') return this.#callOperand(command, operands[0], dot)
    if (name === 'and' || name === 'or') return this.#shortCircuit(name, operands, dot, last)
    const values = operands.map((operand, index) => {
      const isString = found.startsWithString === true && index === 0
      return isString ? this.#stringOperand(operand, dot) : this.#operand(operand, dot).value
    })
    if (last !== undefined) {
      values.push(operands.length === 0 && found.startsWithString === true ? this.#checkString(last.value) : last.value)
    }
    this.#at = { position: command.position, text: nodeText(command) }
    try {
      return concrete(found.call(...values))
    } catch (error) {
      return this.#fail(`error calling ${name}: ${error instanceof Error ? error.message : error}`)
    }
  }

  /** An operand that has to be a string. */
  #stringOperand(node: OperandNode, dot: Typed): string {
    this.#at = { position: node.position, text: nodeText(node) }
    if (node.type === 'nil') return this.#fail('cannot assign nil to string')
    if (node.type === 'bool' || node.type === 'number') return this.#fail(`expected string; found ${nodeText(node)}`)
    return this.#checkString(this.#operand(node, dot).value)
  }

  #checkString(value: GoValue): string {
    if (typeof value === 'string') return value
    if (value === null || value === undefined) return this.#fail('invalid value; expected string')
    return this.#fail(`wrong type for value; expected string; got ${goType(value)}`)
  }

  /** Data of JSON has no functions to call. */
  #callOperand(command: CommandNode, operand: OperandNode | undefined, dot: Typed): never {
    const value = operand === undefined ? undefined : this.#operand(operand, dot).value
    const text = operand === undefined ? '' : nodeText(operand)
    this.#at = { position: command.position, text: nodeText(command) }
    if (value === null || value === undefined) return this.#fail(`error calling call: call of nil`)
    return this.#fail(`error calling call: non-function ${text} of type ${goType(value)}`)
  }

  #checkCount(name: string, { parametersMin, parametersMax }: TemplateFunction, count: number): void {
    if (parametersMax === undefined) {
      if (count < parametersMin)
        this.#fail(`wrong number of args for ${name}: want at least ${parametersMin} got ${count}`)
    } else if (count !== parametersMax) {
      this.#fail(`wrong number of args for ${name}: want ${parametersMax} got ${count}`)
    }
  }

  /** Operands up to the first that decides. */
  #shortCircuit(name: 'and' | 'or', operands: readonly OperandNode[], dot: Typed, last: Typed | undefined): Typed {
    let value: GoValue
    for (const operand of operands) {
      value = this.#operand(operand, dot).value
      if (isTrue(value) === (name === 'or')) return concrete(value)
    }
    return last ?? concrete(value)
  }

  #operand(node: OperandNode, dot: Typed): Typed {
    this.#at = { position: node.position, text: nodeText(node) }
    switch (node.type) {
      case 'bool':
      case 'number':
      case 'string':
        return concrete(node.value)
      case 'nil':
        return concrete(null)
      case 'dot':
        return dot
      case 'field':
        return this.#fields(dot, node.fields)
      case 'variable':
        return this.#fields(this.#variable(node.name), node.fields)
      case 'identifier':
        return this.#function(
          node.name,
          { type: 'command', position: node.position, operands: [node] },
          [],
          dot,
          undefined,
        )
      case 'pipe':
        return this.#pipeline(node, dot)
      case 'chain': {
        if (node.of.type === 'nil') return this.#fail('indirection through explicit nil in')
        const of = this.#operand(node.of, dot)
        this.#at = { position: node.position, text: nodeText(node) }
        return this.#fields(of, node.fields)
      }
    }
  }

  #variable(name: string): Typed {
    return this.#variables.findLast((each) => each.name === name)?.value ?? nothing
  }

  #fields(of: Typed, fields: readonly string[]): Typed {
    return fields.reduce((within, field) => this.#field(within, field), of)
  }

  #field({ value, isInterface }: Typed, field: string): Typed {
    if (value === undefined) {
      if (this.#options.requireKeys) return this.#fail(`nil data; no entry for key ${goQuoted(field)}`)
      return nothing
    }
    if (value === null) return this.#fail(`nil pointer evaluating interface {}.${field}`)
    if (!isJsonObject(value) || floatOf(value) !== undefined) {
      return this.#fail(`can't evaluate field ${field} in type ${isInterface ? 'interface {}' : goType(value)}`)
    }
    if (Object.hasOwn(value, field)) return element(value[field])
    return this.#options.requireKeys ? this.#fail(`map has no entry for key ${goQuoted(field)}`) : nothing
  }

  #fail(reason: string): never {
    throw this.#error(reason)
  }

  #error(reason: string): TemplateError {
    const { position, text } = this.#at
    const before = this.#template.text.slice(0, position)
    const line = before.split('\n').length
    const column = Buffer.byteLength(before.slice(before.lastIndexOf('\n') + 1))
    return new TemplateError(
      `template: ${templateName}:${line}:${column}: executing ${goQuoted(this.#name)} at <${text}>: ${reason}`,
      this.#written,
    )
  }
}

/** What an action prints of a value. */
const printedText = (value: GoValue): string =>
  value === undefined || value === null ? '<no value>' : goValueText(value)
