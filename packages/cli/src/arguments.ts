import type { Command, Option } from 'commander'
import { booleanOf } from './option-values.ts'
import { blames, invalidValue, lacksValue, noBoolean, unknownFlag } from './refusals.ts'

/**
 * Arguments in kubectl's forms that the parser does not know, as those it does: `-o=yaml`, `--all=true`, and an option
 * whose value may be left out, which has it after `=` or not at all. Options that every command has come first, wherever
 * they stood, unless the command has one of the same name; then the words that name the command, and its own options, also those
 * that stood before it. The command refuses a switch that is set to neither true nor false, and a flag at the end that lacks its value.
 */
export function normalizeArguments(args: readonly string[], program: Command): readonly string[] {
  const { command, places } = findCommand(args, program)
  blames(program, command)
  const own = command === program ? [] : command.options
  let unknown: string | undefined
  let isHelp = false
  const shared: string[] = []
  const rest: string[] = []
  for (let index = 0; index < args.length; index++) {
    const arg = args[index] ?? ''
    if (places.has(index)) continue
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
    if (option === undefined && (flag === '--help' || flag === '-h')) {
      isHelp = value === undefined || isSet(command, helpFlags, value)
      if (isHelp) rest.push('--help')
    } else if (option === undefined) {
      if (isUnknownFlag(arg, [...own, ...program.options])) unknown ??= arg
      // The parser would take a number below zero for an argument.
      if (/^-\d/.test(arg)) return command.error(unknownFlag(command, arg))
      normalized.push(arg)
    } else if (option.required) {
      if (value === undefined) {
        // The next argument is its value, whatever it looks like.
        const next = args[++index]
        if (next === undefined) return command.error(lacksValue(command, arg))
        normalized.push(arg, next)
      } else normalized.push(flag.startsWith('--') ? arg : flag, ...(flag.startsWith('--') ? [] : [value]))
    } else if (option.optional) normalized.push(`${option.long}=${value ?? option.presetArg}`)
    else {
      // The last one counts.
      const isOn = value === undefined || isSet(command, option.flags, value)
      for (let at = normalized.length - 1; at >= 0; at--) {
        if (normalized[at] === option.long || normalized[at] === option.short) normalized.splice(at, 1)
      }
      if (isOn) normalized.push(flag)
    }
  }
  // The parser would show help and not look at the flags beside it.
  if (isHelp && unknown !== undefined) command.error(unknownFlag(command, unknown))
  return [...shared, ...args.filter((_, index) => places.has(index)), ...rest]
}

const helpFlags = '-h, --help'

/** Whether an argument is a flag, or several letters behind one dash, of which the first is none of these. */
function isUnknownFlag(arg: string, options: readonly Option[]): boolean {
  if (!arg.startsWith('-') || arg === '-') return false
  return arg.startsWith('--') || !options.some(({ short }) => short === arg.slice(0, 2))
}

const behindDash = new WeakMap<Command, number>()

/** How many arguments of a command stand before `--`; undefined without one. To be asked once the command has its arguments. */
export function argumentsBeforeDash(command: Command): number | undefined {
  const behind = behindDash.get(command)
  return behind === undefined ? undefined : command.args.length - behind
}

/** The command that arguments name, `rollout status`; undefined where they name none. */
export function commandOf(args: readonly string[], program: Command): Command | undefined {
  const { command } = findCommand(args, program)
  return command === program ? undefined : command
}

/** The command that arguments name, and where the last of its words stands; undefined where they name none. */
export function commandPlace(
  args: readonly string[],
  program: Command,
): { readonly command: Command; readonly index: number } | undefined {
  const { command, places } = findCommand(args, program)
  return command === program ? undefined : { command, index: Math.max(...places) }
}

/** The words that name a command, those of its parents first: `rollout`, `status`. */
export function commandWords(command: Command): readonly string[] {
  return command.parent === null ? [] : [...commandWords(command.parent), command.name()]
}

/** The first word, where it should name a command and does not: `help` names none behind flags, as with kubectl. Later ones are for the command to judge. */
export function strayWord(args: readonly string[], program: Command): string | undefined {
  const { command, places, stray } = findCommand(args, program)
  if (command === program) return stray
  return command.name() === 'help' && !places.has(0) ? command.name() : undefined
}

/** Whether there are no arguments but options that every command has. */
export function namesNothing(args: readonly string[], program: Command): boolean {
  for (let index = 0; index < args.length; index++) {
    const [flag, value] = splitFlag(args[index] ?? '')
    const option = program.options.find(({ long, short }) => long === flag || short === flag)
    // The version is asked for in place of a command.
    if (option === undefined || option.long === '--version') return false
    if (option.required && value === undefined && ++index === args.length) return false
  }
  return true
}

/**
 * The command that arguments name, and where its words stand: the first argument that is no flag nor the value of one, and the next
 * where that has commands of its own. Of a flag that only a later command may know nobody can tell here whether it has a value: as with
 * kubectl the next argument is taken for that, unless the flag has its value after `=` or is several letters behind one dash.
 */
function findCommand(
  args: readonly string[],
  program: Command,
): { readonly command: Command; readonly places: ReadonlySet<number>; readonly stray?: string } {
  let command = program
  const places = new Set<number>()
  for (let index = 0; index < args.length && args[index] !== '--'; index++) {
    const arg = args[index] ?? ''
    if (arg.startsWith('-')) {
      const option = [...command.options, ...program.options].find(({ long, short }) => long === arg || short === arg)
      const takesNext = option?.required ?? (arg.startsWith('--') ? !arg.includes('=') : arg.length === 2)
      if (takesNext && command.commands.length > 0) index++
      continue
    }
    const next = command.commands.find((each) => each.name() === arg || each.aliases().includes(arg))
    if (next === undefined) return command.commands.length > 0 ? { command, places, stray: arg } : { command, places }
    command = next
    places.add(index)
  }
  return { command, places }
}

/** `-o=yaml` and `--output=yaml` are a flag and its value; `-oyaml` is left to the parser. */
export function splitFlag(arg: string): readonly [string, string | undefined] {
  const [, flag, value] = /^(--[^=]+|-[A-Za-z])=(.*)$/s.exec(arg) ?? []
  return flag === undefined ? [arg, undefined] : [flag, value]
}

function isSet(command: Command, flags: string, value: string): boolean {
  const isTrue = booleanOf(value)
  return isTrue ?? command.error(invalidValue(command, flags, value, noBoolean(value)))
}
