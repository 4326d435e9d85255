import type { Word } from './shell-script.ts'

/** Variables whose values are known. An image may give a container others. */
export type Variables = ReadonlyMap<string, string>

/** What a shell makes of a word; undefined where that depends on more than these variables, or would be several words or none. */
export function textOfWord(word: Word, variables: Variables): string | undefined {
  let result = ''
  for (const part of word) {
    const text = textOf(part, variables)
    if (text === undefined) return undefined
    result += text
  }
  return result
}

function textOf(part: Word[number], variables: Variables): string | undefined {
  if ('text' in part) return part.text
  if ('other' in part) return undefined
  if ('calculation' in part) return calculated(part.calculation, part.hasNames, variables)
  const value = variables.get(part.variable)
  return value !== undefined && (part.isQuoted || /^[^\s*?[\]]+$/.test(value)) ? value : undefined
}

const calculation = /^\s*(?<left>[$\w{}]+)(?:\s*(?<operator>[-+%/]|\\?\*)\s*(?<right>[$\w{}]+))?\s*$/

/** A number, or two with an operator between them. */
function calculated(text: string, hasNames: boolean, variables: Variables): string | undefined {
  const { left, operator, right } = calculation.exec(text)?.groups ?? {}
  const [a, b] = [left, right].map((operand) => numberOf(operand ?? '0', hasNames, variables))
  if (left === undefined || a === undefined || b === undefined) return undefined
  const result = operator === undefined ? a : operators[operator.slice(-1)]?.(a, b)
  return Number.isSafeInteger(result) ? String(result) : undefined
}

const operators: Readonly<Record<string, (a: number, b: number) => number>> = {
  '+': (a, b) => a + b,
  '-': (a, b) => a - b,
  '*': (a, b) => a * b,
  '/': (a, b) => Math.trunc(a / b),
  '%': (a, b) => a % b,
}

function numberOf(operand: string, hasNames: boolean, variables: Variables): number | undefined {
  const [, braced, plain, name] = /^(?:\$\{(\w+)\}|\$(\w+)|([a-z_]\w*))$/i.exec(operand) ?? []
  const variable = braced ?? plain ?? (hasNames ? name : undefined)
  const text = variable === undefined ? operand : variables.get(variable)
  // A leading zero means octal digits to a shell's arithmetic.
  return text !== undefined && /^(?:0|-?[1-9]\d{0,14})$/.test(text) ? Number(text) : undefined
}
