/** A command of a script, and what joins it to the one before. */
export interface ScriptCommand {
  readonly joinedBy: ';' | '&&' | '||'
  readonly words: readonly Word[]
}

export interface Word {
  readonly text: string
  /** Whether the shell would put something else in its place: a variable, names of files, a home. */
  readonly isExpanded: boolean
}

/** Scripts longer than this are not read. */
export const scriptLengthMax = 10_000

/**
 * The commands of a shell script that is a plain list of them. Undefined for a script that is more than that: with pipes, jobs in
 * the background, redirections, substitutions, subshells or comments. Words such as `if` are commands like others here.
 */
export function parseScript(script: string): readonly ScriptCommand[] | undefined {
  if (script.length > scriptLengthMax) return undefined
  const commands: ScriptCommand[] = []
  let joinedBy: ScriptCommand['joinedBy'] = ';'
  let words: Word[] = []
  let rest = script
  while (rest !== '') {
    const operator = /^(&&|\|\||;|\n)/.exec(rest)?.[0]
    const [skipped = ''] = /^[ \t]*/.exec(rest) ?? []
    if (skipped !== '') rest = rest.slice(skipped.length)
    else if (operator !== undefined) {
      if (words.length > 0) {
        commands.push({ joinedBy, words })
        joinedBy = operator === '&&' || operator === '||' ? operator : ';'
        words = []
      } else if (operator !== '\n') return undefined
      rest = rest.slice(operator.length)
    } else {
      const read = readWord(rest)
      if (read === undefined) return undefined
      words.push(read.word)
      rest = rest.slice(read.length)
    }
  }
  if (words.length > 0) return [...commands, { joinedBy, words }]
  return joinedBy === ';' ? commands : undefined
}

/** Parts of a word: in single quotes, in double quotes, a variable, and what stands for itself or for names of files. */
const wordPart =
  /^(?:'(?<single>[^']*)'|"(?<double>(?:[^"\\$`]|\$\{?\w+\}?)*)"|(?<variable>\$\{\w+\}|\$\w+)|(?<plain>[^\s;&|<>()$`"'\\#]+))/

/** The word that a text begins with; undefined where it is not a plain one. */
function readWord(text: string): { readonly word: Word; readonly length: number } | undefined {
  let [length, value, isExpanded] = [0, '', false]
  for (;;) {
    const match = wordPart.exec(text.slice(length))
    if (match === null) break
    const { single, double, variable, plain } = match.groups ?? {}
    value += single ?? double ?? variable ?? plain ?? ''
    isExpanded ||= variable !== undefined || double?.includes('$') === true || /[*?[\]{}~]/.test(plain ?? '')
    length += match[0].length
  }
  const isWhole = length > 0 && /^(?:$|[\s;&|])/.test(text.slice(length))
  return isWhole ? { word: { text: value, isExpanded }, length } : undefined
}
