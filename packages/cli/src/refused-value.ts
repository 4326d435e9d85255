import type { Command } from 'commander'
import { CliError } from './cli-error.ts'

/**
 * The value of a flag that is none of those it may have. kubectl takes any text for such a flag, and looks at it once all flags are read:
 * of two the last counts, and what is wrong with other flags is told first.
 */
export class RefusedValue {
  readonly refusal: CliError

  constructor(message: string) {
    this.refusal = new CliError(message)
  }
}

/** Flags of commands that look at such values after their arguments. */
export interface LateFlags {
  /** Why values are refused, by the names of their flags: to be thrown where kubectl reads them. */
  readonly lateRefusals?: Partial<Record<LateFlag, CliError>>
}

/** Flags whose values are looked at late, in the order in which commands do that which have both. */
const lateFlags = ['dryRun', 'validate'] as const
type LateFlag = (typeof lateFlags)[number]

const late = new WeakSet<Command>()

/** Has a command be given why a value is refused, as one of its flags. */
export function readsValuesLate<T extends Command>(command: T): T {
  late.add(command)
  return command
}

/** Throws why the value of a flag is refused, or leaves that to a command which reads it late. */
export function refuseValues(command: Command): void {
  const refusals: Partial<Record<LateFlag, CliError>> = {}
  for (const name of lateFlags) {
    const value: unknown = command.getOptionValue(name)
    if (!(value instanceof RefusedValue)) continue
    if (!late.has(command)) throw value.refusal
    refusals[name] = value.refusal
    command.setOptionValue(name, command.options.find((option) => option.attributeName() === name)?.defaultValue)
  }
  command.setOptionValue('lateRefusals', refusals)
}

/** Throws why the value of a flag is refused, if it is. */
export function throwLate({ lateRefusals }: LateFlags, name: LateFlag): void {
  const refusal = lateRefusals?.[name]
  if (refusal !== undefined) throw refusal
}
