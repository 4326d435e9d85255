const unitsMs: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
}

/**
 * Reads a duration as Go writes it (`300ms`, `1m30s`, `1.5h`, `-2s`) and returns milliseconds.
 * Throws a `RangeError` that quotes the text when it is none. `0` needs no unit.
 */
export function parseDuration(text: string): number {
  const match = /^([+-]?)((?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|\u00b5s|\u03bcs|ms|s|m|h))+$/.exec(text)
  if (match === null) {
    if (/^[+-]?0$/.test(text)) return 0
    throw new RangeError(
      `invalid duration "${text}": write a number and a unit (ns, us, ms, s, m, h), such as 30s or 1m30s`,
    )
  }
  let totalMs = 0
  for (const [, amount, unit] of text.matchAll(/(\d+(?:\.\d*)?|\.\d+)(ns|us|\u00b5s|\u03bcs|ms|s|m|h)/g)) {
    totalMs += Number(amount) * (unitsMs[unit as string] as number)
  }
  return match[1] === '-' ? -totalMs : totalMs
}

const durationParts =
  /^[+-]?(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|\u00b5s|\u03bcs|ms|s|m|h))*(?:\d+(?:\.\d*)?|\.\d+)([^\d.]*)/

/** What Go says of a text that is no duration: `time: missing unit in duration "5"`. */
export function durationProblem(text: string): string {
  const unit = durationParts.exec(text)?.[1]
  const fault =
    unit === undefined || Object.hasOwn(unitsMs, unit)
      ? 'invalid'
      : unit === ''
        ? 'missing unit in'
        : `unknown unit ${JSON.stringify(unit)} in`
  return `time: ${fault} duration ${JSON.stringify(text)}`
}
