import { parseDuration } from '@coracle/environment'
import { InvalidArgumentError, Option } from 'commander'
import { CliError } from './cli-error.ts'

/** A switch that is on unless it is set to false, or neither on nor off where no value is given. */
export function switchOption(flags: string, description: string, value?: boolean): Option {
  return new Option(flags, description)
    .argParser((text) => {
      if (text !== 'true' && text !== 'false') throw new InvalidArgumentError(`"${text}" is neither true nor false`)
      return text === 'true'
    })
    .default(value)
    .preset('true')
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

/** `--pod-running-timeout`: how long to wait until an object that was named has a pod. */
export function podRunningTimeoutOption(value: string): Option {
  return new Option(
    '--pod-running-timeout <duration>',
    'how long to wait for a pod of the object that is named, where it has none yet',
  )
    .argParser((text) => {
      const milliseconds = durationMs(text)
      if (milliseconds > 0) return milliseconds
      throw new CliError('--pod-running-timeout must be higher than zero')
    })
    .default(parseDuration(value), value)
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
  return [...previous, ...value.split(',')]
}

export interface NumberBounds {
  /** What messages call it. */
  readonly noun?: string
  readonly min?: number
  readonly max?: number
}

/** A parser for whole numbers within bounds, which messages name. */
export function wholeNumber(bounds: NumberBounds = {}): (text: string) => number {
  const { noun = 'whole number', min, max } = bounds
  const range = [...(min === undefined ? [] : [`from ${min}`]), ...(max === undefined ? [] : [`up to ${max}`])].join(
    ' ',
  )
  return (text) => {
    const value = Number(text)
    const isWhole = /^-?\d+$/.test(text) && Number.isSafeInteger(value)
    if (!isWhole || (min !== undefined && value < min) || (max !== undefined && value > max)) {
      throw new InvalidArgumentError(`"${text}" is no ${noun}${range === '' ? '' : ` ${range}`}`)
    }
    return value
  }
}
