import { durationText } from '@coracle/api'
import type { Command, Option } from 'commander'

/** What holds where a flag does not say it, or is not all there is to say. Values as Go prints them, by the names of flags. */
export interface ValuesInForce {
  /** What the server goes by, whatever was given: an absolute path, the port of the system, the range that the cluster has kept. */
  readonly chosen?: Readonly<Record<string, string>>
  /** What holds unless a flag is given. */
  readonly defaults?: Readonly<Record<string, string>>
}

/**
 * The flags of a command by their names, with their values as Go's flags are printed: what `/flagz` shows. What holds a password is not told,
 * in upstream's word for it.
 */
export function flagValuesOf(
  command: Command,
  { chosen = {}, defaults = {} }: ValuesInForce = {},
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    command.options.map((option) => {
      const name = (option.long ?? '').replace(/^--(no-)?/, '')
      const given = command.getOptionValue(option.attributeName())
      return [name, chosen[name] ?? (given === undefined ? defaults[name] : undefined) ?? textOf(option, given)]
    }),
  )
}

function textOf(option: Option, value: unknown): string {
  if (value === undefined) return option.isBoolean() ? 'false' : ''
  if (value === Number.POSITIVE_INFINITY) return 'forever'
  if (typeof value === 'number' && option.flags.includes('<duration>')) return durationText(value)
  const text = Array.isArray(value) ? `[${value.join()}]` : String(value)
  return passwordInUrl.test(text) ? 'CLASSIFIED' : text
}

const passwordInUrl = /:\/\/[^/@]*@/
