/** The statements of a script, one after the other. */
export type Script = readonly Statement[]

/** A statement, and what joins it to the one before. */
export type Statement = { readonly joinedBy: Joint } & (
  | { readonly words: readonly Word[] }
  | { readonly branches: readonly Branch[]; readonly otherwise: Script }
  | { readonly loop: Loop }
)

type Joint = ';' | '&&' | '||'

/** What is done where a condition holds, of those with `if` and `elif`. */
export interface Branch {
  readonly condition: Script
  readonly body: Script
}

/** What is done as long as its condition holds, for `while`, or fails, for `until`. */
export interface Loop extends Branch {
  readonly whileHolds: boolean
}

/** A word of a command. What the shell would put in its place is not known before it runs. */
export type Word = readonly WordPart[]

export type WordPart =
  | { readonly text: string }
  /** The value of a variable. Without quotes it is split at its spaces. */
  | { readonly variable: string; readonly isQuoted: boolean }
  /** What is between the parentheses of `$(( ))`, or behind `expr` in `$(expr )`, where a name alone is no variable. */
  | { readonly calculation: string; readonly hasNames: boolean }
  /** Something that depends on more than variables, such as names of files. */
  | { readonly other: string }

/** Scripts longer than this are not read. */
export const scriptLengthMax = 10_000

/** So many conditions and loops may stand in each other. */
export const conditionDepthMax = 20

/**
 * What a shell script does that is a list of commands, conditions with `if`, and loops with `while` and `until`. Undefined for a script
 * that is more than that: with other loops, pipes, jobs in the background, redirections, subshells, comments, or substitutions of other commands than `expr`.
 */
export function parseScript(script: string): Script | undefined {
  if (script.length > scriptLengthMax) return undefined
  const tokens = tokensOf(script)
  if (tokens === undefined) return undefined
  const parser = new Parser(tokens)
  const statements = parser.script([])
  return parser.isAtEnd ? statements : undefined
}

type Token = Joint | '\n' | Word

function tokensOf(script: string): readonly Token[] | undefined {
  const tokens: Token[] = []
  let rest = script
  for (;;) {
    rest = rest.replace(/^[ \t]+/, '')
    if (rest === '') return tokens
    const operator = /^(?:&&|\|\||;|\n)/.exec(rest)?.[0] as Joint | '\n' | undefined
    const word = operator === undefined ? readWord(rest) : undefined
    const token = operator ?? word?.word
    if (token === undefined) return undefined
    tokens.push(token)
    rest = rest.slice(operator?.length ?? word?.length)
  }
}

const keywords: ReadonlySet<string> = new Set(['if', 'then', 'elif', 'else', 'fi', 'while', 'until', 'do', 'done'])

class Parser {
  readonly #tokens: readonly Token[]
  #next = 0
  #depth = 0

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens
  }

  get isAtEnd(): boolean {
    return this.#next === this.#tokens.length
  }

  /** Up to one of these words, or to the end where there are none. Undefined where it is no script. */
  script(ends: readonly string[]): Script | undefined {
    const statements: Statement[] = []
    let joinedBy: Joint | undefined = ';'
    for (;;) {
      while (this.#tokens[this.#next] === '\n') {
        this.#next++
        joinedBy ??= ';'
      }
      const isEnd = this.isAtEnd ? ends.length === 0 : ends.includes(this.#keyword ?? '')
      if (isEnd) return joinedBy === undefined || joinedBy === ';' ? statements : undefined
      if (joinedBy === undefined) return undefined
      const statement = this.#statement(joinedBy)
      if (statement === undefined) return undefined
      statements.push(statement)
      joinedBy = this.#joint()
    }
  }

  /** The word of conditions and loops that comes next. */
  get #keyword(): string | undefined {
    const text = textOfPlain(this.#tokens[this.#next])
    return text !== undefined && keywords.has(text) ? text : undefined
  }

  #joint(): Joint | undefined {
    const token = this.#tokens[this.#next]
    if (token !== ';' && token !== '&&' && token !== '||') return undefined
    this.#next++
    return token
  }

  #statement(joinedBy: Joint): Statement | undefined {
    const keyword = this.#keyword
    if (keyword === 'if') return this.#condition(joinedBy)
    if (keyword === 'while' || keyword === 'until') return this.#loop(joinedBy, keyword === 'while')
    if (keyword !== undefined) return undefined
    const words: Word[] = []
    for (let token = this.#tokens[this.#next]; typeof token === 'object'; token = this.#tokens[++this.#next])
      words.push(token)
    return words.length === 0 ? undefined : { joinedBy, words }
  }

  #loop(joinedBy: Joint, whileHolds: boolean): Statement | undefined {
    if (++this.#depth > conditionDepthMax) return undefined
    this.#next++
    const condition = this.script(['do'])
    this.#next++
    const body = this.script(['done'])
    this.#next++
    this.#depth--
    if (condition === undefined || body === undefined) return undefined
    return { joinedBy, loop: { condition, body, whileHolds } }
  }

  #condition(joinedBy: Joint): Statement | undefined {
    if (++this.#depth > conditionDepthMax) return undefined
    const branches: Branch[] = []
    while (this.#keyword === 'if' || this.#keyword === 'elif') {
      this.#next++
      const condition = this.script(['then'])
      this.#next++
      const body = this.script(['elif', 'else', 'fi'])
      if (condition === undefined || body === undefined) return undefined
      branches.push({ condition, body })
      if (this.#keyword === 'elif') continue
      break
    }
    const hasElse = this.#keyword === 'else'
    if (hasElse) this.#next++
    const otherwise = hasElse ? this.script(['fi']) : []
    this.#next++
    this.#depth--
    return otherwise === undefined ? undefined : { joinedBy, branches, otherwise }
  }
}

/** The text of a word without quotes that the shell puts nothing else in place of. */
function textOfPlain(token: Token | undefined): string | undefined {
  if (typeof token !== 'object' || token.length !== 1) return undefined
  const [part] = token
  return part !== undefined && 'text' in part ? part.text : undefined
}

/** Parts of a word: in single quotes, in double quotes, what is put in its place, and what stands for itself or for names of files. */
const wordPart =
  /^(?:'(?<single>[^']*)'|"(?<double>(?:[^"\\$`]|\$\(\([^()"`]*\)\)|\$\( *expr [^()"`]*\)|\$\{\w+\}|\$\w+)*)"|(?<expansion>\$\(\([^()`]*\)\)|\$\(\s*expr\s[^()`]*\)|\$\{\w+\}|\$\w+)|(?<plain>[^\s;&|<>()$`"'\\#]+))/

/** The word that a text begins with; undefined where it is not one of those. */
function readWord(text: string): { readonly word: Word; readonly length: number } | undefined {
  const word: WordPart[] = []
  let length = 0
  for (;;) {
    const match = wordPart.exec(text.slice(length))
    if (match === null) break
    const { single, double, expansion, plain } = match.groups ?? {}
    if (single !== undefined) word.push({ text: '' }, { text: single })
    if (double !== undefined) word.push({ text: '' }, ...quotedParts(double))
    if (expansion !== undefined) word.push(expansionPart(expansion, false))
    if (plain !== undefined) word.push(isPattern(plain) ? { other: plain } : { text: plain })
    length += match[0].length
  }
  const isWhole = length > 0 && /^(?:$|[\s;&|])/.test(text.slice(length))
  return isWhole ? { word, length } : undefined
}

/** Whether names of files may come in its place, or a home. Brackets alone are the command that tests. */
const isPattern = (plain: string): boolean => /[*?[\]{}~]/.test(plain) && !/^(?:\[\[?|\]\]?)$/.test(plain)

const quotedParts = (text: string): readonly WordPart[] =>
  text
    .split(/(\$\(\([^()]*\)\)|\$\([^()]*\)|\$\{\w+\}|\$\w+)/)
    .map((part, index) => (index % 2 === 0 ? { text: part } : expansionPart(part, true)))

function expansionPart(expansion: string, isQuoted: boolean): WordPart {
  if (expansion.startsWith('$((')) return { calculation: expansion.slice(3, -2), hasNames: true }
  if (expansion.startsWith('$('))
    return { calculation: expansion.slice(2, -1).replace(/^\s*expr\s/, ''), hasNames: false }
  return { variable: expansion.replace(/[${}]/g, ''), isQuoted }
}
