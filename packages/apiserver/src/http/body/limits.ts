import { type ApiError, badRequest, checkValuesCount } from '@coracle/api'

/** Bodies may nest this deep. Deeper ones are refused before anything recurses into the value. */
export const bodyDepthMax = 200

/** JSON of this size is scanned before it is parsed: parsing millions of brackets would take half a second. */
const scannedBytesMin = 64 * 1024

/**
 * Throws BadRequest where a large JSON text nests too deep or holds too many values; small ones are judged by `checkDepth` once they are
 * parsed. Whether brackets match is left to the parser.
 */
export function checkJsonText(body: Buffer): void {
  if (body.length < scannedBytesMin) return
  let depth = 0
  /** A value begins an array or an object, or follows a comma. */
  let values = 0
  let isEmpty = false
  let inString = false
  for (let position = 0; position < body.length; position++) {
    const byte = body[position]
    if (byte === quote) inString = !inString
    else if (inString) {
      if (byte === backslash) position++
    } else if (byte === openBrace || byte === openBracket) {
      if (++depth > bodyDepthMax) throw tooDeep()
      values++
      isEmpty = true
      continue
    } else if (byte === closeBrace || byte === closeBracket) {
      depth--
      if (isEmpty) values--
    } else if (byte === comma) values++
    else if (byte === space || byte === lineFeed) continue
    isEmpty = false
  }
  checkValuesCount(values)
}

/** Throws BadRequest where a parsed body nests too deep. By its aliases even a short YAML text may hold itself. */
export function checkDepth(value: unknown, format: 'json' | 'yaml', byteLength: number): void {
  if ((format === 'yaml' || mayNestTooDeep(byteLength)) && nestsDeeper(value, bodyDepthMax)) throw tooDeep()
}

/** Whether a value, parsed from JSON of so many bytes or characters, nests too deep. */
export const nestsTooDeep = (value: unknown, length: number): boolean =>
  mayNestTooDeep(length) && nestsDeeper(value, bodyDepthMax)

/**
 * Shorter JSON has no room for so many brackets, and longer JSON was scanned as text. The upper bound also holds for a count of
 * characters, each of which is three bytes at most.
 */
const mayNestTooDeep = (length: number): boolean => length > 2 * bodyDepthMax && length < scannedBytesMin * 3

function nestsDeeper(value: unknown, depthLeft: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (depthLeft === 0) return true
  for (const key in value) if (nestsDeeper((value as Record<string, unknown>)[key], depthLeft - 1)) return true
  return false
}

const tooDeep = (): ApiError => badRequest('exceeded max depth')

const lineFeed = 0x0a
const space = 0x20
const quote = 0x22
const comma = 0x2c
const backslash = 0x5c
const openBracket = 0x5b
const closeBracket = 0x5d
const openBrace = 0x7b
const closeBrace = 0x7d
