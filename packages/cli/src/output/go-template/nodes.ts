import type { Float } from './go-values.ts'

/** What a template is made of. Positions are where Go says that an error is. */

export interface TextNode {
  readonly type: 'text'
  readonly text: string
}

export interface ActionNode {
  readonly type: 'action'
  readonly pipe: PipeNode
}

export interface BranchNode {
  readonly type: 'if' | 'range' | 'with'
  readonly pipe: PipeNode
  readonly body: ListNode
  readonly otherwise: ListNode | undefined
}

export interface JumpNode {
  readonly type: 'break' | 'continue'
}

export interface TemplateNode {
  readonly type: 'template'
  readonly position: number
  readonly name: string
  readonly pipe: PipeNode | undefined
}

export type StatementNode = TextNode | ActionNode | BranchNode | JumpNode | TemplateNode
export type ListNode = readonly StatementNode[]

export interface PipeNode {
  readonly type: 'pipe'
  readonly position: number
  /** `$a, $b := …`, or `=` where they are there already. */
  readonly variables: readonly string[]
  readonly isAssignment: boolean
  readonly commands: readonly CommandNode[]
}

export interface CommandNode {
  readonly type: 'command'
  readonly position: number
  readonly operands: readonly OperandNode[]
}

export type OperandNode =
  | { readonly type: 'bool'; readonly position: number; readonly value: boolean }
  | { readonly type: 'chain'; readonly position: number; readonly of: OperandNode; readonly fields: readonly string[] }
  | { readonly type: 'dot'; readonly position: number }
  | { readonly type: 'field'; readonly position: number; readonly fields: readonly string[] }
  | { readonly type: 'identifier'; readonly position: number; readonly name: string }
  | { readonly type: 'nil'; readonly position: number }
  | { readonly type: 'number'; readonly position: number; readonly value: bigint | Float; readonly text: string }
  | { readonly type: 'string'; readonly position: number; readonly value: string; readonly text: string }
  | {
      readonly type: 'variable'
      readonly position: number
      readonly name: string
      readonly fields: readonly string[]
    }
  | PipeNode

/** A node as errors show it. */
export function nodeText(node: OperandNode | CommandNode): string {
  switch (node.type) {
    case 'bool':
      return String(node.value)
    case 'chain':
      return `${node.of.type === 'pipe' ? `(${nodeText(node.of)})` : nodeText(node.of)}${fieldsText(node.fields)}`
    case 'command':
      return node.operands.map((each) => (each.type === 'pipe' ? `(${nodeText(each)})` : nodeText(each))).join(' ')
    case 'dot':
      return '.'
    case 'field':
      return fieldsText(node.fields)
    case 'identifier':
      return node.name
    case 'nil':
      return 'nil'
    case 'number':
    case 'string':
      return node.text
    case 'pipe': {
      const { variables, isAssignment, commands } = node
      const head = variables.length === 0 ? '' : `${variables.join(', ')} ${isAssignment ? '=' : ':='} `
      return head + commands.map(nodeText).join(' | ')
    }
    case 'variable':
      return node.name + fieldsText(node.fields)
  }
}

const fieldsText = (fields: readonly string[]): string => fields.map((field) => `.${field}`).join('')
