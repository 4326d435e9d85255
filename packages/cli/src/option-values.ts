import { durationProblem, parseDuration } from '@coracle/environment'
import { InvalidArgumentError, Option } from 'commander'
import { type CliError, UsageError } from './cli-error.ts'
import { noBoolean } from './refusals.ts'

/** A switch that is on unless it is set to false, or neither on nor off where no value is given. */
export function switchOption(flags: string, description: string, value?: boolean): Option {
  return new Option(flags, description)
    .argParser((text) => {
      const isTrue = booleanOf(text)
      if (isTrue === undefined) throw new InvalidArgumentError(noBoolean(text))
      return isTrue
    })
    .default(value)
    .preset('true')
}

const keepingEmpty = new WeakSet<Option>()

/** The same option, of which an empty value is a value that was given, and not as if there were none. */
export function keepEmpty(option: Option): Option {
  keepingEmpty.add(option)
  return option
}

export const keepsEmpty = (option: Option): boolean => keepingEmpty.has(option)

/** A truth value in any of the ways that Go's flags take; undefined for other text. */
export function booleanOf(text: string): boolean | undefined {
  if (['1', 't', 'T', 'TRUE', 'true', 'True'].includes(text)) return true
  return ['0', 'f', 'F', 'FALSE', 'false', 'False'].includes(text) ? false : undefined
}

/** An option whose value is a duration above zero, `1m30s`, in milliseconds. */
export function durationOption(flags: string, description: string, value: string): Option {
  return new Option(flags, description)
    .argParser((text) => {
      const milliseconds = durationMs(text)
      if (milliseconds > 0) return milliseconds
      throw new InvalidArgumentError(`"${text}" is no duration above zero`)
    })
    .default(parseDuration(value), value)
}

/** `--pod-running-timeout`: how long to wait until an object that was named has a pod. `Refusal` is thrown where that is no time. */
export function podRunningTimeoutOption(value: string, Refusal: typeof CliError = UsageError): Option {
  return new Option(
    '--pod-running-timeout <duration>',
    'how long to wait for a pod of the object that is named, where it has none yet',
  )
    .argParser((text) => {
      const milliseconds = parseDuration(durationText(text))
      if (milliseconds > 0) return milliseconds
      throw new Refusal('--pod-running-timeout must be higher than zero')
    })
    .default(parseDuration(value), value)
}

/** `--detach-keys` of commands that attach: kubectl's and Docker's where it is empty. */
export const detachKeysOption = (): Option =>
  new Option('--detach-keys <keys>', 'what to type with -it to leave the container running').default('ctrl-p,ctrl-q')

/** A parser for the durations of kubectl's flags: takes what Go takes, as it is, and refuses other text in Go's words. */
export function durationText(text: string): string {
  try {
    parseDuration(text)
    return text
  } catch {
    throw new InvalidArgumentError(durationProblem(text))
  }
}

/** Milliseconds, from a text such as `1m30s`. */
export function durationMs(text: string): number {
  try {
    return parseDuration(text)
  } catch (error) {
    throw new InvalidArgumentError(error instanceof Error ? error.message : String(error))
  }
}

/** Values of an option that may be repeated. */
export function collect(value: string, previous: readonly string[] = []): readonly string[] {
  return [...previous, value]
}

/** The same, several in one where commas part them. */
export function collectCommas(value: string, previous: readonly string[] = []): readonly string[] {
  return value === '' ? previous : [...previous, ...value.split(',')]
}

/** The same of pairs `KEY=VALUE`, which Go's flags take alone. */
export function collectPairs(value: string, previous: readonly string[] = []): readonly string[] {
  const pairs = value.split(',')
  const wrong = pairs.find((pair) => !pair.includes('='))
  if (wrong !== undefined) throw new InvalidArgumentError(`${wrong} must be formatted as key=value`)
  return [...previous, ...pairs]
}

/** The same of pairs that are labels, the last of each key, as Kubernetes' own flags take them: spaces around do not count. */
export function collectLabels(
  value: string,
  previous: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> {
  const pairs = value.split(',').filter((pair) => pair !== '')
  if (!pairs.every((pair) => pair.includes('='))) {
    throw new InvalidArgumentError('malformed pair, expect string=string')
  }
  const entries = pairs.map((pair) => {
    const at = pair.indexOf('=')
    return [pair.slice(0, at).trim(), pair.slice(at + 1).trim()]
  })
  return { ...previous, ...Object.fromEntries(entries) }
}

export interface NumberBounds {
  /** What messages call it. */
  readonly noun?: string
  readonly min?: number
  readonly max?: number
  /** What is beyond these many bits is out of range; 64 unless given. */
  readonly bits?: 32 | 64
}

/**
 * A parser for whole numbers within bounds, which messages name, written as in Go: `010` is eight, `0x10` and `1_6` sixteen. What is no
 * number at all is refused in Go's words, as kubectl does.
 */
export function wholeNumber(bounds: NumberBounds = {}): (text: string) => number {
  const { noun = 'whole number', min, max, bits = 64 } = bounds
  const range = [...(min === undefined ? [] : [`from ${min}`]), ...(max === undefined ? [] : [`up to ${max}`])].join(
    ' ',
  )
  return (text) => {
    const value = goInteger(text)
    if (value === undefined) {
      throw new InvalidArgumentError(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`)
    }
    if (!Number.isSafeInteger(value) || (bits === 32 && value !== (value | 0))) {
      throw new InvalidArgumentError(`strconv.ParseInt: parsing ${JSON.stringify(text)}: value out of range`)
    }
    if ((min !== undefined && value < min) || (max !== undefined && value > max)) {
      throw new InvalidArgumentError(`"${text}" is no ${noun}${range === '' ? '' : ` ${range}`}`)
    }
    return value
  }
}

/** A whole number as Go reads one of any base: `0x`, `0o` or `0b` names it, and so does `0`; `_` may part digits. Undefined for other text. */
function goInteger(text: string): number | undefined {
  const [, sign, octal, other] =
    /^([+-]?)(?:0((?:_?[0-7])+)|(0[xX](?:_?[\da-fA-F])+|0[oO](?:_?[0-7])+|0[bB](?:_?[01])+|0|[1-9](?:_?\d)*))$/.exec(
      text,
    ) ?? []
  if (sign === undefined) return undefined
  const value = Number((octal === undefined ? (other ?? '') : `0o${octal}`).replaceAll('_', ''))
  return sign === '-' && value !== 0 ? -value : value
}
