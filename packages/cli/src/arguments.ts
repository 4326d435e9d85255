import type { Command, Option } from 'commander'
import { CliError } from './cli-error.ts'

/**
 * Arguments in kubectl's forms that the parser does not know, as those it does: `-o=yaml`, `--all=true`, and an option
 * whose value may be left out, which has it after `=` or not at all. Options that every command has come first, wherever
 * they stood, unless the command has one of the same name. Throws a CliError for a switch that is set to neither true nor
 * false.
 */
export function normalizeArguments(args: readonly string[], program: Command): readonly string[] {
  const own = commandOf(args, program)?.options ?? []
  const shared: string[] = []
  const rest: string[] = []
  for (let index = 0; index < args.length; index++) {
    const arg = args[index] ?? ''
    if (arg === '--') {
      rest.push(...args.slice(index))
      break
    }
    const [flag, value] = splitFlag(arg)
    const isCalled = ({ long, short }: Option): boolean => long === flag || short === flag
    const ownOption = own.find(isCalled)
    const option = ownOption ?? program.options.find(isCalled)
    const normalized = ownOption === undefined && option !== undefined ? shared : rest
    if (option === undefined) normalized.push(arg)
    else if (option.required) {
      if (value === undefined) {
        // The next argument is its value, whatever it looks like.
        normalized.push(arg, ...args.slice(++index, index + 1))
      } else normalized.push(flag.startsWith('--') ? arg : flag, ...(flag.startsWith('--') ? [] : [value]))
    } else if (option.optional) normalized.push(`${option.long}=${value ?? option.presetArg}`)
    else if (isSet(option, value)) normalized.push(flag)
  }
  return [...shared, ...rest]
}

/** The command that arguments name, `rollout status`: the first that is no flag nor the value of one, and the next where that has commands of its own. */
function commandOf(args: readonly string[], program: Command): Command | undefined {
  let command: Command | undefined
  for (let index = 0; index < args.length; index++) {
    const arg = args[index] ?? ''
    if (!arg.startsWith('-')) {
      const next = (command ?? program).commands.find((each) => each.name() === arg || each.aliases().includes(arg))
      if (next === undefined) return command
      command = next
      continue
    }
    const options = [...(command?.options ?? []), ...program.options]
    const takesNext = options.some(({ long, short, required }) => required && (long === arg || short === arg))
    if (takesNext) index++
  }
  return command
}

/** `-o=yaml` and `--output=yaml` are a flag and its value; `-oyaml` is left to the parser. */
function splitFlag(arg: string): readonly [string, string | undefined] {
  const [, flag, value] = /^(--[^=]+|-[A-Za-z])=(.*)$/s.exec(arg) ?? []
  return flag === undefined ? [arg, undefined] : [flag, value]
}

function isSet({ flags }: Option, value: string | undefined): boolean {
  if (value === undefined || value === 'true') return true
  if (value === 'false') return false
  throw new CliError(`option '${flags}' is a switch: "${value}" is neither true nor false`)
}
