import { createLogger, type LogFields, type Logger, type LogLevel, type LogLine } from './logger.ts'

export interface ConsoleLoggerOptions {
  /** What is said at least; `info` by default. */
  readonly level?: LogLevel
  /** Lines for people, rather than JSON for programs: by default where standard error is a terminal. */
  readonly pretty?: boolean
  /** Where lines go; standard error by default. */
  readonly write?: (line: string) => void
  /** Wall-clock time; the host's by default. */
  readonly now?: () => number
}

/** A logger to standard error: a line each, for people on a terminal, otherwise one JSON object (time, level, message, fields). */
export function consoleLogger(options: ConsoleLoggerOptions = {}): Logger {
  const { level = 'info', now = Date.now } = options
  const write = options.write ?? ((line: string) => void process.stderr.write(line))
  const isPretty = options.pretty ?? process.stderr.isTTY === true
  const render = isPretty ? prettyLine : jsonLine
  return createLogger((line) => write(`${render(line, new Date(now()))}\n`), level)
}

function jsonLine({ level, message, fields }: LogLine, time: Date): string {
  return JSON.stringify({ time: time.toISOString(), level, message, ...readable(fields) })
}

function prettyLine({ level, message, fields }: LogLine, time: Date): string {
  const clock = [time.getHours(), time.getMinutes(), time.getSeconds()].map((part) => String(part).padStart(2, '0'))
  const details = Object.entries(readable(fields))
    .filter(([, value]) => value !== undefined && value !== '')
    .map(([name, value]) => `${name}=${typeof value === 'string' ? quoted(value) : JSON.stringify(value)}`)
  return [clock.join(':'), level.padEnd(5), message, ...details].join('  ')
}

/** Errors say nothing in JSON: their message does. */
function readable(fields: LogFields): LogFields {
  const entries = Object.entries(fields)
  return Object.fromEntries(entries.map(([name, value]) => [name, value instanceof Error ? value.message : value]))
}

/** Values come from programs and servers: none may break the line or drive the terminal. */
function quoted(text: string): string {
  return /^[^\s"\p{Cc}]+$/u.test(text) ? text : JSON.stringify(text)
}
