import type { Command, Option } from 'commander'
import { commandPlace, strayWord } from '../arguments.ts'
import { CliError, SummaryError } from '../cli-error.ts'
import type { Host } from '../host.ts'
import { logTime } from '../log-exchanges.ts'
import { booleanOf } from '../option-values.ts'
import { invalidArgument, noBoolean } from '../refusals.ts'
import { pluginPolicyOf } from './plugin-policy.ts'
import type { Alias, OptionDefault, Preference } from './preference.ts'
import { loadPreference, type Note, preferencesFile } from './preferences-file.ts'

/** A command line, and what it runs in, as preferences would have them. */
export interface Preferred {
  readonly args: readonly string[]
  readonly host: Host
}

/**
 * Arguments with what somebody's preferences add to them (kubectl's kuberc): an alias becomes the command it stands for, and flags that
 * are not given get the values that were chosen for them. `program` has all commands. Throws a SummaryError, in kubectl's words, where
 * preferences cannot be applied.
 */
export async function applyPreferences(
  host: Host,
  args: readonly string[],
  program: () => Promise<Command>,
): Promise<Preferred> {
  try {
    const note = noteAt(host, args)
    const preference = await preferenceFor(host, namedFile(args), (text) => note(5, text))
    if (preference === undefined) return { args, host }
    check(preference)
    const pluginPolicy = pluginPolicyOf(preference)
    const preferred = withPreferences(host, args, preference, await program())
    if (preferred !== args) note(1, `original command: ${JSON.stringify(['coracle', ...preferred].join(' '))}`)
    return { args: preferred, host: pluginPolicy === undefined ? host : { ...host, pluginPolicy } }
  } catch (error) {
    if (!(error instanceof CliError)) throw error
    throw new SummaryError(`error occurred while applying preferences ${error.message}`)
  }
}

async function preferenceFor(host: Host, named: string | undefined, note: Note): Promise<Preference | undefined> {
  try {
    const file = preferencesFile(host, named)
    return file === undefined ? undefined : await loadPreference(host, file, note)
  } catch (error) {
    throw error instanceof CliError ? new CliError(`kuberc error ${error.message}`) : error
  }
}

function withPreferences(
  host: Host,
  args: readonly string[],
  preference: Preference,
  program: Command,
): readonly string[] {
  // What completes a command line does that of an alias, too.
  const start = args[0] === '__complete' ? 1 : 0
  const line = args.slice(start)
  const isComplete = start === 0
  const isKnown = strayWord(line, program) === undefined
  const expanded = isKnown ? undefined : withAlias(line, preference, program, isComplete)
  // The defaults of a command are not those of its aliases, and are looked at with them, too.
  const command = isKnown ? commandPlace(line, program) : undefined
  const flags =
    isComplete && (isKnown || expanded !== undefined)
      ? chosenFlags(host, line, preference, program, command?.command)
      : []
  if (expanded !== undefined) return [...args.slice(0, start), ...expanded]
  return command === undefined || flags.length === 0 ? args : line.toSpliced(command.index + 1, 0, ...flags)
}

/** The file that `--kuberc` names. It is looked for as kubectl does: before anything is known of the command. */
function namedFile(args: readonly string[]): string | undefined {
  for (const [index, arg] of args.entries()) {
    if (arg === '--') return undefined
    const value = arg === '--kuberc' ? args[index + 1] : arg.includes('--kuberc=') ? arg.split('=')[1] : undefined
    if (value) return value
    if (value === '' || arg === '--kuberc') throw new CliError('kuberc file is not found')
  }
  return undefined
}

/** Writes what `-v` asks for to standard error. */
function noteAt({ stderr, environment }: Host, args: readonly string[]): (level: number, text: string) => void {
  const at = args.findIndex((arg) => /^(-v|--v)(=|$)|^-v\d/.test(arg))
  const [, joined] = /^(?:--v=|-v=?)(\d+)$/.exec(args[at] ?? '') ?? []
  const verbosity = Number(joined ?? args[at + 1] ?? 0)
  return (level, text) => {
    if (at >= 0 && verbosity >= level) stderr.write(`I${logTime(environment.clock.now())} ${text}\n`)
  }
}

function check({ aliases, defaults }: Preference): void {
  const names = new Set<string>()
  for (const { name, options } of aliases) {
    if (!/^[a-zA-Z]+$/.test(name)) throw new CliError('invalid alias name, can only include alphabetical characters')
    checkOptions(options)
    if (names.has(name)) throw new CliError(`duplicate alias name ${name}`)
    names.add(name)
  }
  for (const { options } of defaults) checkOptions(options)
}

function checkOptions(options: readonly OptionDefault[]): void {
  const dashed = options.find(({ name }) => name.startsWith('-'))
  if (dashed !== undefined) throw new CliError(`flag name ${dashed.name} should be in long form without dashes`)
}

/** The command line of an alias; undefined where none is named. What completes a line does so before what an alias puts at its end. */
function withAlias(
  args: readonly string[],
  { aliases }: Preference,
  program: Command,
  isComplete: boolean,
): readonly string[] | undefined {
  const index = args.findIndex((arg) => !arg.startsWith('-'))
  const alias = aliases.find(({ name }) => name === args[index])
  if (alias === undefined) return undefined
  const { command, words } = commandOfAlias(alias, program)
  const flags = flagsFor(command, program, alias.options, args, {
    unknown: (name) => `invalid alias flag ${name} in alias ${alias.name}`,
    refused: (value, name, why) => `could not apply value ${value} to flag ${name} in alias ${alias.name} err: ${why}`,
  })
  const rest = args.slice(index + 1)
  return [
    ...args.slice(0, index),
    ...words,
    ...flags,
    ...alias.prependArgs,
    ...rest,
    ...(isComplete ? alias.appendArgs : []),
  ]
}

function commandOfAlias(
  { name, command: text }: Alias,
  program: Command,
): { command: Command; words: readonly string[] } {
  const given = wordsOf(text)
  const found = commandPlace(given, program)
  if (found === undefined) {
    throw new CliError(
      `command ${JSON.stringify(text)} not found to set alias ${JSON.stringify(name)}: [${given.join(' ')}]`,
    )
  }
  return { command: found.command, words: given.slice(0, found.index + 1) }
}

/** The flags of a command that have been chosen, and are not given. Commands that there are not are told of. */
function chosenFlags(
  { stderr }: Host,
  args: readonly string[],
  { defaults }: Preference,
  program: Command,
  command: Command | undefined,
): readonly string[] {
  return defaults.flatMap(({ command: text, options }) => {
    const chosen = commandPlace(wordsOf(text), program)
    if (chosen === undefined) {
      stderr.write(`Warning: command ${JSON.stringify(text)} not found to set kuberc override\n`)
      return []
    }
    if (chosen.command !== command) return []
    return flagsFor(command, program, options, args, {
      unknown: (name) => `invalid flag ${name} for command ${text}`,
      refused: (value, name, why) =>
        `could not apply override value ${value} to flag ${name} in command ${text} err: ${why}`,
    })
  })
}

const wordsOf = (text: string): readonly string[] => text.split(/\s+/).filter((word) => word !== '')

interface FlagWords {
  unknown(name: string): string
  refused(value: string, name: string, why: string): string
}

/** The flags that are chosen, and not given. */
function flagsFor(
  command: Command,
  program: Command,
  options: readonly OptionDefault[],
  args: readonly string[],
  words: FlagWords,
): readonly string[] {
  const known = [...command.options, ...program.options]
  return options.flatMap(({ name, default: value }) => {
    const option = known.find(({ long }) => long === `--${name}`)
    if (option === undefined) throw new CliError(words.unknown(name))
    if (isGiven(option, args)) return []
    const refusal = refusalOf(option, value)
    if (refusal !== undefined) throw new CliError(words.refused(value, name, refusal))
    return [`--${name}=${value}`]
  })
}

/** Whether arguments have a flag, as kubectl sees it: also among several letters behind one dash. */
function isGiven({ long, short }: Option, args: readonly string[]): boolean {
  return args.some(
    (arg) =>
      arg === long ||
      arg.startsWith(`${long}=`) ||
      (short !== undefined && (arg.startsWith(short) || (/^-[a-zA-Z]+$/.test(arg) && arg.includes(short.slice(1))))),
  )
}

/** Why a flag cannot have a value, where its parser says so. */
function refusalOf(option: Option, value: string): string | undefined {
  const refused = (why: string) => invalidArgument(option.flags, value, why)
  if (!option.required && !option.optional)
    return booleanOf(value) === undefined ? refused(noBoolean(value)) : undefined
  try {
    option.parseArg?.(value, undefined)
    return undefined
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'commander.invalidArgument')
      return refused(error.message)
    // What the command itself refuses, it will tell.
    return undefined
  }
}
