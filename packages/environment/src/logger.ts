export type LogLevel = 'debug' | 'info' | 'warn' | 'error'

export type LogFields = Readonly<Record<string, unknown>>

/** Structured log: a short constant message, and fields that say what it is about. */
export interface Logger {
  debug(message: string, fields?: LogFields): void
  info(message: string, fields?: LogFields): void
  warn(message: string, fields?: LogFields): void
  error(message: string, fields?: LogFields): void
  /** A logger that adds `fields` to every line. */
  child(fields: LogFields): Logger
}

/** One line as a sink receives it. `fields` holds the logger's own and the line's. */
export interface LogLine {
  readonly level: LogLevel
  readonly message: string
  readonly fields: LogFields
}

const rank: Readonly<Record<LogLevel, number>> = { debug: 0, info: 1, warn: 2, error: 3 }

/** A logger that hands every line at or above `level` to `sink`. */
export function createLogger(sink: (line: LogLine) => void, level: LogLevel = 'info', fields: LogFields = {}): Logger {
  const write = (lineLevel: LogLevel) => (message: string, lineFields?: LogFields) => {
    if (rank[lineLevel] < rank[level]) return
    sink({ level: lineLevel, message, fields: lineFields === undefined ? fields : { ...fields, ...lineFields } })
  }
  return {
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
    child: (more) => createLogger(sink, level, { ...fields, ...more }),
  }
}

/** Swallows everything. */
export const silentLogger: Logger = createLogger(() => {}, 'error')
