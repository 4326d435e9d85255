import { YamlFault } from './fault.ts'
import { Scanner, type TokenType } from './scanner.ts'

/**
 * What Go's YAML, which kubectl reads with, says of a document that it does not take: `line 3: mapping values are not allowed in this
 * context`. Undefined where it takes it.
 */
export function findFault(text: string): string | undefined {
  return readDocument(text).fault
}

/** Where the first document of a text ends, what follows it being read by nobody; or else what is wrong with it, as of `findFault`. */
export function readDocument(text: string): { readonly end: number; readonly fault?: string } {
  try {
    if (/[^\t\n\r -~\u0085\u00a0-\ud7ff\ud800-\udfff\ue000-\ufffd]/.test(text)) {
      throw new YamlFault('control characters are not allowed', 0)
    }
    return { end: new Checker(text).document() }
  } catch (error) {
    if (!(error instanceof YamlFault)) throw error
    return { end: 0, fault: error.line === 0 ? error.message : `line ${error.line}: ${error.message}` }
  }
}

/** How deep collections may be nested. */
const depthMax = 1000

/** Follows the grammar as libyaml's parser does, and fails where it would. */
class Checker {
  readonly #scanner: Scanner
  readonly #anchors = new Set<string>()
  #depth = 0

  constructor(text: string) {
    this.#scanner = new Scanner(text)
  }

  /** The first document; Go's YAML reads no other. Returns where it ends. */
  document(): number {
    if (this.#is('stream-end')) return this.#scanner.peek().position
    if (this.#is('directive')) {
      while (this.#is('directive')) this.#scanner.take()
      if (!this.#is('document-start')) this.#fail('did not find expected <document start>')
    }
    const isExplicit = this.#is('document-start')
    if (isExplicit) this.#scanner.take()
    // Only what begins with `---` may be empty.
    const isEmpty = isExplicit && this.#is('directive', 'document-start', 'document-end', 'stream-end')
    if (!isEmpty) this.#node({ isBlock: true })
    return this.#scanner.peek().position
  }

  #is(...types: readonly TokenType[]): boolean {
    return types.includes(this.#scanner.peek().type)
  }

  #fail(problem: string): never {
    throw new YamlFault(problem, this.#scanner.peek().line)
  }

  #node({ isBlock, mayBeIndentless = false }: { readonly isBlock: boolean; readonly mayBeIndentless?: boolean }): void {
    if (++this.#depth > depthMax) throw new YamlFault('exceeded max depth of 10000', 0)
    this.#content(isBlock, mayBeIndentless)
    this.#depth--
  }

  #content(isBlock: boolean, mayBeIndentless: boolean): void {
    const token = this.#scanner.peek()
    if (token.type === 'alias') {
      this.#scanner.take()
      const { name = '' } = token
      if (!this.#anchors.has(name)) throw new YamlFault(`unknown anchor '${name}' referenced`, 0)
      return
    }
    const hasProperties = this.#is('anchor', 'tag')
    while (this.#is('anchor', 'tag')) {
      const { name } = this.#scanner.take()
      if (name !== undefined) this.#anchors.add(name)
    }
    const { type } = this.#scanner.peek()
    if (mayBeIndentless && type === 'block-entry') this.#indentlessSequence()
    else if (type === 'scalar') this.#scanner.take()
    else if (type === 'flow-sequence-start') this.#flowSequence()
    else if (type === 'flow-mapping-start') this.#flowMapping()
    else if (isBlock && type === 'block-sequence-start') this.#blockSequence()
    else if (isBlock && type === 'block-mapping-start') this.#blockMapping()
    else if (!hasProperties) this.#fail('did not find expected node content')
  }

  #blockSequence(): void {
    this.#scanner.take()
    while (this.#is('block-entry')) {
      this.#scanner.take()
      if (!this.#is('block-entry', 'block-end')) this.#node({ isBlock: true })
    }
    if (!this.#is('block-end')) this.#fail("did not find expected '-' indicator")
    this.#scanner.take()
  }

  /** The value of a field, at the indent of the field. */
  #indentlessSequence(): void {
    while (this.#is('block-entry')) {
      this.#scanner.take()
      if (!this.#is('block-entry', 'key', 'value', 'block-end')) this.#node({ isBlock: true })
    }
  }

  #blockMapping(): void {
    this.#scanner.take()
    while (this.#is('key')) {
      this.#member()
      if (this.#is('value')) this.#member()
    }
    if (!this.#is('block-end')) this.#fail('did not find expected key')
    this.#scanner.take()
  }

  /** What follows the mark of a key or of a value, if anything does. */
  #member(): void {
    this.#scanner.take()
    if (!this.#is('key', 'value', 'block-end')) this.#node({ isBlock: true, mayBeIndentless: true })
  }

  #flowSequence(): void {
    this.#scanner.take()
    for (let isFirst = true; !this.#is('flow-sequence-end'); isFirst = false) {
      if (!isFirst) {
        if (!this.#is('flow-entry')) this.#fail("did not find expected ',' or ']'")
        this.#scanner.take()
      }
      if (this.#is('key')) {
        this.#flowMember('flow-sequence-end', ['value'])
        if (this.#is('value')) this.#flowMember('flow-sequence-end')
      } else if (!this.#is('flow-sequence-end')) this.#node({ isBlock: false })
    }
    this.#scanner.take()
  }

  #flowMapping(): void {
    this.#scanner.take()
    for (let isFirst = true; !this.#is('flow-mapping-end'); isFirst = false) {
      if (!isFirst) {
        if (!this.#is('flow-entry')) this.#fail("did not find expected ',' or '}'")
        this.#scanner.take()
      }
      if (this.#is('key')) {
        this.#flowMember('flow-mapping-end', ['value'])
        if (this.#is('value')) this.#flowMember('flow-mapping-end')
      } else if (!this.#is('flow-mapping-end')) this.#node({ isBlock: false })
    }
    this.#scanner.take()
  }

  #flowMember(end: TokenType, others: readonly TokenType[] = []): void {
    this.#scanner.take()
    if (!this.#is('flow-entry', end, ...others)) this.#node({ isBlock: false })
  }
}
