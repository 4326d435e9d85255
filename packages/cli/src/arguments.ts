import type { Command, Option } from 'commander'
import { booleanOf } from './option-values.ts'
import { invalidValue, lacksValue, noBoolean } from './refusals.ts'

/**
 * Arguments in kubectl's forms that the parser does not know, as those it does: `-o=yaml`, `--all=true`, and an option
 * whose value may be left out, which has it after `=` or not at all. Options that every command has come first, wherever
 * they stood, unless the command has one of the same name. The command refuses a switch that is set to neither true nor
 * false, and a flag at the end that lacks its value.
 */
export function normalizeArguments(args: readonly string[], program: Command): readonly string[] {
  const command = commandOf(args, program) ?? program
  const own = command === program ? [] : command.options
  const shared: string[] = []
  const rest: string[] = []
  for (let index = 0; index < args.length; index++) {
    const arg = args[index] ?? ''
    if (arg === '--') {
      behindDash.set(command, args.length - index - 1)
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
        const next = args[++index]
        if (next === undefined) return command.error(lacksValue(command, arg))
        normalized.push(arg, next)
      } else normalized.push(flag.startsWith('--') ? arg : flag, ...(flag.startsWith('--') ? [] : [value]))
    } else if (option.optional) normalized.push(`${option.long}=${value ?? option.presetArg}`)
    else if (isSet(command, option, value)) normalized.push(flag)
  }
  return [...shared, ...rest]
}

const behindDash = new WeakMap<Command, number>()

/** How many arguments of a command stand before `--`; undefined without one. To be asked once the command has its arguments. */
export function argumentsBeforeDash(command: Command): number | undefined {
  const behind = behindDash.get(command)
  return behind === undefined ? undefined : command.args.length - behind
}

/** The command that arguments name, `rollout status`: the first that is no flag nor the value of one, and the next where that has commands of its own. */
export function commandOf(args: readonly string[], program: Command): Command | undefined {
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

function isSet(command: Command, { flags }: Option, value: string | undefined): boolean {
  if (value === undefined) return true
  const isTrue = booleanOf(value)
  return isTrue ?? command.error(invalidValue(command, flags, value, noBoolean(value)))
}
