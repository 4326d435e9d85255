import { sortKeys } from '@coracle/api'

/** JSON as Go writes it: on one line, in order of keys, and safe within HTML. */
export const goJson = (value: unknown): string => safeInHtml(JSON.stringify(sortKeys(value)))

/** JSON with what HTML could take for its own spelled out, as Go does. */
export const safeInHtml = (json: string): string =>
  json.replaceAll(/[<>&\u2028\u2029]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)
