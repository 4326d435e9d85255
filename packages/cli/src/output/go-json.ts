import { sortKeys } from '@coracle/api'

/** JSON as Go writes it: on one line, in order of keys, and safe within HTML. */
export const goJson = (value: unknown): string =>
  JSON.stringify(sortKeys(value)).replaceAll(
    /[<>&\u2028\u2029]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
