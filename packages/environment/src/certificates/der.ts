/**
 * The few ASN.1 types a certificate is made of, in their DER encoding (ITU-T X.690). Written out here because loading
 * a general ASN.1 library would take longer than making the certificates does, and start-up is a budget.
 */

const tag = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  objectIdentifier: 0x06,
  utf8String: 0x0c,
  utcTime: 0x17,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
} as const

export const sequence = (...parts: readonly Buffer[]): Buffer => encode(tag.sequence, Buffer.concat(parts))

export const set = (...parts: readonly Buffer[]): Buffer => encode(tag.set, Buffer.concat(parts))

export const utf8String = (text: string): Buffer => encode(tag.utf8String, Buffer.from(text))

export const octetString = (bytes: Buffer): Buffer => encode(tag.octetString, bytes)

export const boolean = (value: boolean): Buffer => encode(tag.boolean, Buffer.from([value ? 0xff : 0]))

/** A non-negative integer from its big-endian bytes. */
export function integer(bytes: Buffer): Buffer {
  let start = 0
  while (start < bytes.length - 1 && bytes[start] === 0) start++
  const significant = bytes.subarray(start)
  // A first bit that is set would make it negative.
  const needsZero = ((significant[0] ?? 0) & 0x80) !== 0
  return encode(tag.integer, needsZero ? Buffer.concat([Buffer.of(0), significant]) : significant)
}

/** `unusedBits` at the end of the last byte do not count. */
export const bitString = (bytes: Buffer, unusedBits = 0): Buffer =>
  encode(tag.bitString, Buffer.concat([Buffer.of(unusedBits), bytes]))

/** An object identifier in dotted form. */
export function objectIdentifier(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number)
  const bytes = [first * 40 + second]
  for (const arc of rest) {
    const groups = [arc & 0x7f]
    for (let left = Math.floor(arc / 128); left > 0; left = Math.floor(left / 128)) groups.unshift((left & 0x7f) | 0x80)
    bytes.push(...groups)
  }
  return encode(tag.objectIdentifier, Buffer.from(bytes))
}

/** A time from its RFC 3339 form in UTC and whole seconds: two digits of the year until 2049, as RFC 5280 wants it. */
export function time(rfc3339: string): Buffer {
  const digits = rfc3339.replace(/[-:T]/g, '')
  return digits < '2050'
    ? encode(tag.utcTime, Buffer.from(digits.slice(2)))
    : encode(tag.generalizedTime, Buffer.from(digits))
}

/** `[number]` around a whole value. */
export const explicit = (number: number, content: Buffer): Buffer => encode(0xa0 | number, content)

/** `[number]` in place of a primitive value's own tag. */
export const implicit = (number: number, content: Buffer): Buffer => encode(0x80 | number, content)

function encode(tagByte: number, content: Buffer): Buffer {
  return Buffer.concat([Buffer.of(tagByte), encodeLength(content.length), content])
}

function encodeLength(length: number): Buffer {
  if (length < 0x80) return Buffer.of(length)
  const bytes: number[] = []
  for (let left = length; left > 0; left = Math.floor(left / 256)) bytes.unshift(left & 0xff)
  return Buffer.of(0x80 | bytes.length, ...bytes)
}
