import { JsonPathError, type Operator, type Path, type Step, type Template, type TemplatePart } from './template.ts'

/**
 * Reads a template in kubectl's dialect of JSONPath: text, and in braces paths, quoted text, `range` and `end`.
 * Throws a JsonPathError in kubectl's words (client-go's util/jsonpath) where it is malformed.
 */
export function parseJsonPath(text: string): Template {
  const open: { readonly path: Path; readonly parts: TemplatePart[] }[] = []
  const root: TemplatePart[] = []
  const parts = (): TemplatePart[] => open.at(-1)?.parts ?? root
  const close = (): void => {
    const range = open.pop()
    if (range === undefined) throw new JsonPathError('not in range, nothing to end')
    parts().push({ type: 'range', path: range.path, body: range.parts })
  }
  for (let at = 0; at < text.length; ) {
    const brace = text.indexOf('{', at)
    const end = brace < 0 ? text.length : brace
    if (end > at) parts().push(constantPart(text.slice(at, end)))
    if (brace < 0) break
    const action = new ActionParser(text, brace + 1)
    const { keyword, path } = action.parse()
    at = action.end
    if (keyword === 'range') open.push({ path, parts: [] })
    else if (keyword === 'end') close()
    else parts().push({ type: 'action', path })
  }
  // A range that is not ended goes on to the end of the template.
  while (open.length > 0) close()
  return root
}

const constantPart = (value: string): TemplatePart => ({ type: 'action', path: [{ type: 'constant', value }] })

interface Action {
  readonly keyword?: 'range' | 'end'
  readonly path: Path
}

/** The path of a whole expression without braces, as it stands in filters and brackets. */
function parsePath(text: string): Path {
  const { keyword, path } = new ActionParser(`${text}}`, 0).parse()
  if (keyword !== undefined) throw new JsonPathError(`unrecognized identifier ${keyword}`)
  return path
}

/** Reads what stands between braces, up to the closing one. */
class ActionParser {
  readonly #text: string
  #at: number

  constructor(text: string, start: number) {
    this.#text = text
    this.#at = start
  }

  /** Where the text goes on after the action. */
  get end(): number {
    return this.#at
  }

  parse(): Action {
    const path: Step[] = []
    let keyword: 'range' | 'end' | undefined
    for (;;) {
      const first = this.#text[this.#at]
      if (first === undefined || first === '\n' || first === '\r') throw new JsonPathError('unclosed action')
      if (first === '}') {
        this.#at++
        return { ...(keyword === undefined ? {} : { keyword }), path }
      }
      // `@` and `$` are the value at hand, which every path starts from anyway.
      if (first === ' ' || first === '@' || first === '$') this.#at++
      else if (/[A-Za-z_]/.test(first)) {
        const word = this.#word()
        if (word === 'range' || word === 'end') keyword = word
        else if (word === 'true' || word === 'false') path.push({ type: 'constant', value: word === 'true' })
        else throw new JsonPathError(`unrecognized identifier ${word}`)
      } else path.push(...this.#steps(first, path.at(-1)))
    }
  }

  #steps(first: string, previous: Step | undefined): readonly Step[] {
    if (this.#text.startsWith('[?(', this.#at)) return [this.#filter()]
    if (this.#text.startsWith('..', this.#at)) {
      if (previous?.type === 'descendants') throw new JsonPathError('invalid multiple recursive descent')
      this.#at += 2
      const next = this.#text[this.#at] ?? ''
      return [{ type: 'descendants' }, ...(/[\p{L}\p{N}_]/u.test(next) ? [this.#field()] : [])]
    }
    if (first === '[') return this.#brackets()
    if (first === '"' || first === "'") return [{ type: 'constant', value: this.#quoted(first) }]
    if (first === '.') {
      this.#at++
      return [this.#field()]
    }
    if (/[-+\d]/.test(first)) return [{ type: 'constant', value: this.#number() }]
    const code = (first.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')
    throw new JsonPathError(`unrecognized character in action: U+${code} '${first}'`)
  }

  /** A name ends at a character that has a meaning of its own, unless a backslash stands before it. */
  #word(): string {
    const start = this.#at
    for (; this.#at < this.#text.length && !/[\s.,[\]$@{}]/.test(this.#text[this.#at] ?? ''); this.#at++) {
      if (this.#text[this.#at] === '\\') this.#at++
    }
    return this.#text.slice(start, this.#at)
  }

  #field(): Step {
    const name = this.#word()
    return name === '*' ? { type: 'wildcard' } : { type: 'field', name: name.replaceAll('\\', '') }
  }

  #number(): number {
    const [text = ''] = /^[-+]?[\d.]*/.exec(this.#text.slice(this.#at)) ?? []
    this.#at += text.length
    const value = Number(text)
    if (!/\d/.test(text) || Number.isNaN(value)) throw new JsonPathError(`cannot parse number ${text}`)
    return value
  }

  #quoted(quote: string): string {
    const start = ++this.#at
    for (; this.#text[this.#at] !== quote; this.#at++) {
      const next = this.#text[this.#at]
      if (next === undefined || next === '\n') throw new JsonPathError('unterminated quoted string')
      if (next === '\\') this.#at++
    }
    return withoutEscapes(this.#text.slice(start, this.#at++))
  }

  #brackets(): readonly Step[] {
    const end = this.#text.slice(this.#at).search(/[\]\n]|$/) + this.#at
    if (this.#text[end] !== ']') throw new JsonPathError('unterminated array')
    const text = this.#text.slice(this.#at + 1, end)
    this.#at = end + 1
    const members = text.split(',')
    if (members.length > 1) return [{ type: 'union', paths: members.map((member) => parsePath(`[${member.trim()}]`)) }]
    // A key in quotes is a path of its own (kubectl's rule): its dots take a backslash each.
    const [, key] = /^'([^']*)'$/.exec(text) ?? []
    return key === undefined ? [parseIndex(text)] : parsePath(`.${key}`)
  }

  #filter(): Step {
    const start = this.#at + '[?('.length
    let quote: string | undefined
    for (this.#at = start; quote !== undefined || this.#text[this.#at] !== ')'; this.#at++) {
      const next = this.#text[this.#at]
      if (next === undefined || next === '\n') throw new JsonPathError('unterminated filter')
      if (next === '\\') this.#at++
      else if (quote === next) quote = undefined
      else if (quote === undefined && (next === '"' || next === "'")) quote = next
    }
    const text = this.#text.slice(start, this.#at)
    if (this.#text[this.#at + 1] !== ']') throw new JsonPathError('unclosed array expect ]')
    this.#at += 2
    return parseFilter(text)
  }
}

function parseIndex(text: string): Step {
  if (text === '*') return { type: 'slice' }
  const match = /^(-?\d*)(:-?\d*)?(:-?\d*)?$/.exec(text)
  if (match === null) throw new JsonPathError(`invalid array index ${text}`)
  const [start, end, step] = match.slice(1).map((part = '') => {
    const digits = part.replace(':', '')
    if (digits === '-') throw new JsonPathError(`array index ${digits} is not a number`)
    return digits === '' ? undefined : Number(digits)
  })
  if (!text.includes(':')) return { type: 'index', index: start ?? 0 }
  return {
    type: 'slice',
    ...(start === undefined ? {} : { start }),
    ...(end === undefined ? {} : { end }),
    ...(step === undefined ? {} : { step }),
  }
}

const operators: readonly string[] = ['==', '!=', '<', '<=', '>', '>='] satisfies readonly Operator[]

function parseFilter(text: string): Step {
  const [, left, operator, right] = /^([^!<>=]+)([!<>=]+)(.+?)$/.exec(text) ?? []
  if (left === undefined || operator === undefined || right === undefined) {
    return { type: 'exists', path: parsePath(text) }
  }
  if (!operators.includes(operator)) throw new JsonPathError(`unrecognized filter operator ${operator}`)
  return { type: 'compare', left: parsePath(left), operator: operator as Operator, right: parsePath(right) }
}

const escapes: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  r: '\r',
  a: '\u0007',
  b: '\b',
  f: '\f',
  v: '\v',
}

/** Escapes as Go has them. */
function withoutEscapes(text: string): string {
  return text.replaceAll(/\\(?:x([\da-f]{2})|u([\da-f]{4})|U([\da-f]{8})|(.))/gis, (_, x, u, long, character) => {
    const code: string | undefined = x ?? u ?? long
    if (code !== undefined) return String.fromCodePoint(Number.parseInt(code, 16))
    return escapes[character] ?? character
  })
}
