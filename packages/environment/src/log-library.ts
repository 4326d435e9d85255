import type { LogFields, Logger } from './logger.ts'

/** What pino, bunyan and their kin have in common: fields first, then the message. */
export interface LogLibrary {
  debug(fields: object, message: string): void
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
  child(fields: object): LogLibrary
}

/** A logger that writes through a log library of one's own: `loggerOf(pino())`. Levels and formats are the library's. */
export function loggerOf(library: LogLibrary): Logger {
  return {
    debug: (message, fields = {}) => library.debug(fieldsOf(fields), message),
    info: (message, fields = {}) => library.info(fieldsOf(fields), message),
    warn: (message, fields = {}) => library.warn(fieldsOf(fields), message),
    error: (message, fields = {}) => library.error(fieldsOf(fields), message),
    child: (fields) => loggerOf(library.child(fields)),
  }
}

/** These libraries write errors, with their stack, under `err`. */
function fieldsOf({ error, ...fields }: LogFields): object {
  return error === undefined ? fields : { ...fields, err: error }
}
