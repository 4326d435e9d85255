import { headerBytes, nameBytesMax } from './numbers.ts'

/** A name that is not written as one, or a message that ends in the middle of something. */
export class MalformedMessageError extends Error {}

/** A name in a message, and where what follows it begins. */
export interface FoundName {
  /**
   * In lower case, labels joined by dots, none at the end: the root is empty. Bytes that no name of a host has are written as in zone files:
   * `\046` is a dot within a label, so that different names are different texts.
   */
  readonly name: string
  readonly end: number
}

/** Follows pointers to what stands before them, so it ends. Throws a MalformedMessageError. */
export function readName(message: Buffer, start: number): FoundName {
  let name = ''
  let end: number | undefined
  let at = start
  // A pointer leads to before the piece of the name that it ends.
  let piece = start
  let bytes = 1
  for (;;) {
    const length = message[at]
    if (length === undefined) throw new MalformedMessageError('a name goes on beyond the message')
    if (length === 0) return { name, end: end ?? at + 1 }
    if (length >= 0xc0) {
      const low = message[at + 1]
      if (low === undefined) throw new MalformedMessageError('a pointer goes on beyond the message')
      const target = (length & 0x3f) * 256 + low
      if (target >= piece || target < headerBytes) throw new MalformedMessageError('a pointer does not lead back')
      end ??= at + 2
      at = target
      piece = target
      continue
    }
    if (length > 0x3f) throw new MalformedMessageError('a label is of no known kind')
    bytes += length + 1
    if (bytes > nameBytesMax) throw new MalformedMessageError('a name is too long')
    const next = at + 1 + length
    if (next >= message.length) throw new MalformedMessageError('a label goes on beyond the message')
    const label = textOf(message, at + 1, next)
    name = name === '' ? label : `${name}.${label}`
    at = next
  }
}

function textOf(message: Buffer, start: number, end: number): string {
  for (let at = start; at < end; at += 1) {
    if (!isPlain(message[at] as number)) return escaped(message.subarray(start, end))
  }
  return message.toString('latin1', start, end).toLowerCase()
}

const escaped = (label: Buffer): string =>
  Array.from(label, (byte) =>
    isPlain(byte) ? String.fromCharCode(byte).toLowerCase() : `\\${String(byte).padStart(3, '0')}`,
  ).join('')

/** Letters, digits, hyphens and underscores. */
const isPlain = (byte: number): boolean =>
  (byte >= 0x61 && byte <= 0x7a) ||
  (byte >= 0x30 && byte <= 0x39) ||
  byte === 0x2d ||
  byte === 0x5f ||
  (byte >= 0x41 && byte <= 0x5a)

/** Writes a name as `readName` gives it. Returns where it ends. */
export function writePlainName(out: Buffer, start: number, name: string): number {
  let at = start
  for (const label of name === '' ? [] : name.split('.')) at = writeLabel(out, at, label)
  out[at] = 0
  return at + 1
}

/** Returns where the label ends. */
export function writeLabel(out: Buffer, at: number, label: string): number {
  if (!label.includes('\\')) {
    const length = out.write(label, at + 1, 'latin1')
    out[at] = length
    return at + 1 + length
  }
  const bytes = Buffer.from(
    label.replaceAll(/\\(\d{3})/g, (_, digits: string) => String.fromCharCode(Number(digits))),
    'latin1',
  )
  out[at] = bytes.length
  bytes.copy(out, at + 1)
  return at + 1 + bytes.length
}
