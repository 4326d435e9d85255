import type { Command } from 'commander'
import { kubectlCommands } from './kubectl-commands.ts'

/** What a command says of arguments that are too many, or too few. */
export type ArgumentsRefusal = (args: readonly string[]) => string

const argumentsRefusals = new WeakMap<Command, ArgumentsRefusal>()

/** Has a command say this where it is given too many arguments, or too few. */
export function refusesArguments(command: Command, refusal: ArgumentsRefusal): Command {
  argumentsRefusals.set(command, refusal)
  return command
}

/** `unexpected arguments: [a b]`, and where to read on. */
export const unexpectedArguments =
  (command: Command, words = 'unexpected arguments'): ArgumentsRefusal =>
  (args) =>
    withExamples(command, `${words}: [${args.join(' ')}]`)

/** A message about how a command is called, and below it where that can be read. */
export const withExamples = (command: Command, message: string): string =>
  `${message}\nSee '${nameOf(command)} -h' for help and examples`

/** The words that call a command, with those of the commands above it. */
export function nameOf(command: Command): string {
  return command.parent === null ? command.name() : `${nameOf(command.parent)} ${command.name()}`
}

const named = new WeakMap<Command, Command>()

/** Has what is wrong with flags of the program told of the command that arguments name. */
export function blames(program: Command, command: Command): void {
  named.set(program, command)
}

/** What a flag lacks that has to have a value: `--output`, or `-o`. */
export function lacksValue(command: Command, flag: string): string {
  return withUsage(command, `flag needs an argument: ${flag.startsWith('--') ? flag : `'${flag.slice(1)}' in ${flag}`}`)
}

/** Why the value of a flag cannot be taken. */
export const invalidValue = (command: Command, flags: string, value: string, reason: string): string =>
  withUsage(command, invalidArgument(flags, value, reason))

/** The same, without where to read on. */
export function invalidArgument(flags: string, value: string, reason: string): string {
  // Help shows what stands for a value; kubectl's message has only the names.
  const names = flags.replaceAll(/ [<[].*/g, '')
  return `invalid argument ${JSON.stringify(value)} for ${JSON.stringify(names)} flag: ${reason}`
}

/** Why text is no truth value. */
export const noBoolean = (text: string): string => `strconv.ParseBool: parsing ${JSON.stringify(text)}: invalid syntax`

/**
 * What the parser refuses, in kubectl's words. The parser gives its reasons as text; `code` says which it is. Throws nothing: what has
 * no counterpart there stays as it is.
 */
export function refusalOf(parsing: Command, message: string, code = ''): string {
  const command = named.get(parsing) ?? parsing
  const text = message.replace(/^error: /, '')
  const [, quoted = '', suggestion = ''] = /'(.*?)'(\n\(Did you mean .*\))?/s.exec(text) ?? []
  switch (code) {
    case 'commander.unknownOption':
      return unknownFlag(command, quoted, isOfKubectl(command) ? '' : suggestion)
    case 'commander.unknownCommand':
      return withExamples(command, `unknown command "${command.args.join(' ')}"`)
    case 'commander.invalidArgument': {
      const [, flags, value, reason] = /^option '(.*?)' argument '(.*)' is invalid\. (.*)$/s.exec(text) ?? []
      return flags === undefined ? text : invalidValue(command, flags, value ?? '', reason ?? '')
    }
    case 'commander.missingArgument':
    case 'commander.excessArguments':
      return argumentsRefusals.get(command)?.(command.args) ?? text
    default:
      return text
  }
}

/** Whether kubectl has a command, which suggests no flags. */
function isOfKubectl(command: Command): boolean {
  const { parent } = command
  if (parent === null) return true
  return parent.parent === null ? kubectlCommands.includes(command.name()) : isOfKubectl(parent)
}

/** What is said of a flag that a command does not have, and of the `suggestion` which might have been meant. */
export function unknownFlag(command: Command, given: string, suggestion = ''): string {
  const letter = JSON.stringify(given[1] ?? '').replaceAll('"', "'")
  const isLong = given.startsWith('--')
  const problem = isLong
    ? `unknown flag: ${given.replace(/=.*$/s, '')}`
    : `unknown shorthand flag: ${letter} in ${given}`
  return withUsage(command, problem + suggestion)
}

/** A message about flags, and below it where to read on: of two commands kubectl says that in other ways. */
function withUsage(command: Command, message: string): string {
  if (command.name() === 'diff') return withExamples(command, message)
  if (command.name() === 'options') return `${message}\nRun '${nameOf(command)}' without flags.`
  return `${message}\nSee '${nameOf(command)} --help' for usage.`
}
