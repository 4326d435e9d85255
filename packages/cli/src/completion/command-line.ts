import type { Command, Option } from 'commander'
import { splitOnce } from '../split-once.ts'

/** A command line as far as it is typed. */
export interface CommandLine {
  readonly command: Command
  /** Its words below the program: `rollout status`. */
  readonly path: string
  /** Arguments before the last word. */
  readonly args: readonly string[]
  /** Values of options by their long names, the last of each. */
  readonly options: ReadonlyMap<string, string>
  /** The option whose value the last word is. */
  readonly pending: Option | undefined
  /** The word to complete; of `--output=js` the value alone. */
  readonly word: string
  /** What stands before it in the same word: `--output=`. */
  readonly before: string
  /** Whether options may follow: not after `--`. */
  readonly takesOptions: boolean
}

/** Reads the words of a command line, of which the last is the one to complete. */
export function readCommandLine(program: Command, words: readonly string[]): CommandLine {
  const typed = words.slice(0, -1)
  const last = words.at(-1) ?? ''
  let command = program
  let path = ''
  let pending: Option | undefined
  let takesOptions = true
  const args: string[] = []
  const options = new Map<string, string>()
  // Flags of a command that is not named yet: whether they have a value nobody can tell, and so they have one, as with kubectl.
  const early: [string, string][] = []
  let earlyFlag: string | undefined
  for (const word of typed) {
    if (pending !== undefined) {
      options.set(pending.long ?? '', word)
      pending = undefined
    } else if (earlyFlag !== undefined) {
      early.push([earlyFlag, word])
      earlyFlag = undefined
    } else if (takesOptions && word === '--') takesOptions = false
    else if (takesOptions && word.startsWith('-')) {
      const [flag = '', value] = splitOnce(word, '=')
      const option = findOption(command, program, flag)
      if (value !== undefined) options.set(option?.long ?? flag, value)
      else if (option?.required === true) pending = option
      else if (option === undefined && command.commands.length > 0) earlyFlag = flag
    } else {
      const next = args.length === 0 ? findCommand(command, word) : undefined
      if (next === undefined) args.push(word)
      else {
        command = next
        path = `${path} ${next.name()}`.trim()
      }
    }
  }
  for (const [flag, value] of early) options.set(findOption(command, program, flag)?.long ?? flag, value)
  const shared = { command, path, args, options, takesOptions }
  const [flag = '', value] = splitOnce(last, '=')
  if (pending === undefined && takesOptions && last.startsWith('--') && value !== undefined) {
    return { ...shared, pending: findOption(command, program, flag), word: value, before: `${flag}=` }
  }
  return { ...shared, pending, word: last, before: '' }
}

const findCommand = (command: Command, word: string): Command | undefined =>
  command.commands.find((each) => each.name() === word || each.aliases().includes(word))

const findOption = (command: Command, program: Command, flag: string): Option | undefined =>
  [...command.options, ...program.options].find(({ long, short }) => long === flag || short === flag)
