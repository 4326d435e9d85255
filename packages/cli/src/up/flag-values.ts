import { durationText } from '@coracle/api'
import type { Command, Option } from 'commander'

/**
 * The flags of a command by their names, with their values as Go's flags are printed: what `/flagz` shows. `inForce` is the value of those that
 * are not given, and of a port that is left to the system. What holds a password is not told, in upstream's word for it.
 */
export function flagValuesOf(
  command: Command,
  inForce: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    command.options.map((option) => {
      const name = (option.long ?? '').replace(/^--(no-)?/, '')
      const given = command.getOptionValue(option.attributeName())
      const isLeftOpen = given === undefined || (name === 'port' && given === 0)
      return [name, (isLeftOpen ? inForce[name] : undefined) ?? textOf(option, given)]
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
