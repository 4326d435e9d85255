/** The grammar of label selectors in query strings (apimachinery's labels.Parse). */
import { describeFieldError, fieldErrorsMax, invalidField } from './field-error.ts'
import { FieldPath } from './field-path.ts'
import { int64Of } from './go-text.ts'
import type { LabelOperator, LabelRequirement } from './label-selectors.ts'
import { checkFormat } from './string-formats.ts'

/** Longer selectors are refused: the API server takes no longer request lines either. */
export const selectorLengthMax = 1024 * 1024

/** The requirements that `text` states, in its order; a message where it states none that make sense. */
export function parseRequirements(text: string, path?: FieldPath): readonly LabelRequirement[] | string {
  if (text.length > selectorLengthMax) return `selector is longer than ${selectorLengthMax} characters`
  try {
    return new Parser(text, path).requirements()
  } catch (error) {
    if (error instanceof Unparsable) return error.message
    throw error
  }
}

class Unparsable extends Error {}

type TokenKind = 'identifier' | 'end' | '(' | ')' | ',' | '!' | '=' | '==' | '!=' | '>' | '<'

interface Token {
  readonly kind: TokenKind
  readonly text: string
}

const symbols = new Set<string>(['(', ')', ',', '!', '=', '==', '!=', '>', '<'])
const specials = new Set('=!(),><')
const blanks = new Set(' \t\r\n')

/** The longest operator that starts here. */
function scanSymbol(text: string, at: number): Token {
  const two = text.slice(at, at + 2)
  const found = symbols.has(two) ? two : text.charAt(at)
  return { kind: found as TokenKind, text: found }
}

function scanWord(text: string, from: number): Token {
  let to = from
  while (to < text.length && !specials.has(text.charAt(to)) && !blanks.has(text.charAt(to))) to += 1
  return { kind: 'identifier', text: text.slice(from, to) }
}

const operators: readonly LabelOperator[] = ['in', 'notin', '=', '==', '!=', '>', '<']
const end: Token = { kind: 'end', text: '' }

/** Takes one token after the other: a text of a megabyte has a million of them. */
class Parser {
  readonly #text: string
  readonly #path: FieldPath | undefined
  /** The next token, once it was looked at. */
  #next: Token | undefined
  /** Where what was not yet looked at begins. */
  #position = 0

  constructor(text: string, path: FieldPath | undefined) {
    this.#text = text
    this.#path = path
  }

  requirements(): readonly LabelRequirement[] {
    const found: LabelRequirement[] = []
    for (;;) {
      const { kind, text } = this.#peek()
      if (kind === 'end') return found
      if (kind !== 'identifier' && kind !== '!') {
        throw new Unparsable(`found '${text}', expected: !, identifier, or 'end of string'`)
      }
      found.push(this.#requirement())
      const next = this.#take()
      if (next.kind === 'end') return found
      if (next.kind !== ',') throw new Unparsable(`found '${next.text}', expected: ',' or 'end of string'`)
      const after = this.#peek()
      if (after.kind !== 'identifier' && after.kind !== '!') {
        throw new Unparsable(`found '${after.text}', expected: identifier after ','`)
      }
    }
  }

  #peek(): Token {
    this.#next ??= this.#scan()
    return this.#next
  }

  #take(): Token {
    const token = this.#peek()
    this.#next = undefined
    return token
  }

  #scan(): Token {
    const text = this.#text
    while (blanks.has(text.charAt(this.#position))) this.#position += 1
    if (this.#position >= text.length) return end
    const isSpecial = specials.has(text.charAt(this.#position))
    const token = isSpecial ? scanSymbol(text, this.#position) : scanWord(text, this.#position)
    this.#position += token.text.length
    return token
  }

  #requirement(): LabelRequirement {
    const negated = this.#peek().kind === '!'
    if (negated) this.#take()
    const { kind, text: key } = this.#take()
    if (kind !== 'identifier') throw unparsable(`found '${key}', expected: identifier`)
    this.#checkKey(key)
    const next = this.#peek().kind
    if (negated) return { key, operator: '!', values: [] }
    if (next === 'end' || next === ',') return { key, operator: 'exists', values: [] }
    const operator = this.#operator()
    const values = operator === 'in' || operator === 'notin' ? this.#values() : [this.#value()]
    return this.#checked({ key, operator, values: values.length === 1 ? values : [...new Set(values)].sort() })
  }

  /** Only here `in` and `notin` are more than words like any other. */
  #operator(): LabelOperator {
    const { text } = this.#take()
    const found = operators.find((each) => each === text)
    if (found === undefined) {
      throw unparsable(`found '${text}', expected: in, notin, =, ==, !=, gt, lt`)
    }
    return found
  }

  #value(): string {
    const next = this.#peek()
    if (next.kind === 'end' || next.kind === ',') return ''
    if (next.kind !== 'identifier') throw unparsable(`found '${next.text}', expected: identifier`)
    return this.#take().text
  }

  /** `(a,b)`; gaps stand for the empty value, so that `(a,)` is `a` or empty, and `()` is empty. */
  #values(): readonly string[] {
    const open = this.#take()
    if (open.kind !== '(') throw unparsable(`found '${open.text}' expected: '('`)
    const values: string[] = []
    let afterValue = false
    let expected = "',', ')' or identifier"
    for (;;) {
      const { kind, text } = this.#take()
      if (kind === 'identifier' && !afterValue) {
        values.push(text)
        afterValue = true
        expected = "',' or ')'"
        continue
      }
      if (kind !== ',' && kind !== ')') throw unparsable(`found '${text}', expected: ${expected}`)
      if (!afterValue) values.push('')
      if (kind === ')') return values
      afterValue = false
      expected = "',', or identifier"
    }
  }

  /** Throws all that is wrong with the values at once; of very much the beginning. */
  #checked(requirement: LabelRequirement): LabelRequirement {
    const { key, operator, values } = requirement
    const isNumeric = operator === '>' || operator === '<'
    const errors: string[] = []
    for (const [index, value] of values.entries()) {
      const isNoNumber = isNumeric && int64Of(value) === undefined
      const problems = checkFormat('label-value', value)
      if (!isNoNumber && problems.length === 0) continue
      const path = (this.#path ?? FieldPath.root).field('values').index(index)
      if (isNoNumber) errors.push(problem(path, value, ["for 'Gt', 'Lt' operators, the value must be an integer"]))
      if (problems.length > 0) errors.push(problem(path.key(key), value, problems))
      if (errors.length >= fieldErrorsMax) break
    }
    if (errors.length > 0) throw unparsable(errors.length === 1 ? errors.join('') : `[${errors.join(', ')}]`)
    return requirement
  }

  #checkKey(key: string): void {
    const problems = checkFormat('qualified-name', key)
    if (problems.length > 0) throw unparsable(problem(this.#path ?? FieldPath.of('<nil>'), key, problems))
  }
}

/** What is said of a value that has problems. */
const problem = (path: FieldPath, value: string, problems: readonly string[]): string =>
  describeFieldError(invalidField(path, value, problems.join('; ')))

const unparsable = (why: string): Unparsable => new Unparsable(`unable to parse requirement: ${why}`)
