import { MalformedMessageError, readName } from './name.ts'
import { flags, headerBytes, rcodes, types } from './numbers.ts'

/** What somebody asks. */
export interface Question {
  readonly id: number
  /** As `readName` gives it. */
  readonly name: string
  readonly type: number
  readonly class: number
  readonly recursionDesired: boolean
  readonly checkingDisabled: boolean
  /** Name, type and class as they came. An answer repeats them to the letter: resolvers hide a secret in the case of letters. */
  readonly bytes: Buffer
  /** Absent: whoever asks does not speak EDNS (RFC 6891). */
  readonly edns: Edns | undefined
}

export interface Edns {
  /** The largest message that is taken over UDP. */
  readonly udpBytes: number
  readonly dnssecOk: boolean
}

/** What is said of a message that is no question: as much as can be said without it. */
export interface Refusal {
  readonly id: number
  /** Of the header that is answered with. */
  readonly flags: number
  readonly rcode: number
}

const opcodeMask = 0x7800
/** A record that is asked with, beside EDNS: a signature of the message, at most. */
const additionalMax = 2

/** Reads a message of a client. Undefined: it is to be answered with nothing, being an answer itself or no message at all. */
export function parseQuestion(message: Buffer): Question | Refusal | undefined {
  if (message.length < headerBytes) return undefined
  const id = message.readUInt16BE(0)
  const head = message.readUInt16BE(2)
  if ((head & flags.response) !== 0) return undefined
  const refuse = (rcode: number): Refusal => ({
    id,
    flags: flags.response | (head & (opcodeMask | flags.recursionDesired)),
    rcode,
  })
  if ((head & opcodeMask) !== 0) return refuse(rcodes.notImplemented)
  const [questions, answers, authorities] = [4, 6, 8].map((at) => message.readUInt16BE(at))
  const additional = message.readUInt16BE(10)
  if (questions !== 1 || answers !== 0 || authorities !== 0 || additional > additionalMax)
    return refuse(rcodes.formatError)
  try {
    const { name, end } = readName(message, headerBytes)
    if (end + 4 > message.length) return refuse(rcodes.formatError)
    const { edns, version } = readEdns(message, end + 4, additional)
    if (version > 0) return refuse(rcodes.badVersion)
    return {
      id,
      name,
      type: message.readUInt16BE(end),
      class: message.readUInt16BE(end + 2),
      recursionDesired: (head & flags.recursionDesired) !== 0,
      checkingDisabled: (head & flags.checkingDisabled) !== 0,
      bytes: message.subarray(headerBytes, end + 4),
      edns,
    }
  } catch (error) {
    if (error instanceof MalformedMessageError) return refuse(rcodes.formatError)
    throw error
  }
}

function readEdns(
  message: Buffer,
  start: number,
  count: number,
): { readonly edns: Edns | undefined; readonly version: number } {
  let edns: Edns | undefined
  let version = 0
  let at = start
  for (let index = 0; index < count; index += 1) {
    const { name, end } = readName(message, at)
    if (end + 10 > message.length) throw new MalformedMessageError('a record goes on beyond the message')
    const next = end + 10 + message.readUInt16BE(end + 8)
    if (next > message.length) throw new MalformedMessageError('a record goes on beyond the message')
    if (message.readUInt16BE(end) === types.OPT) {
      if (edns !== undefined || name !== '') throw new MalformedMessageError('there is one OPT record, of the root')
      version = message[end + 5] as number
      edns = {
        udpBytes: message.readUInt16BE(end + 2),
        dnssecOk: ((message[end + 6] as number) & 0x80) !== 0,
      }
    }
    at = next
  }
  return { edns, version }
}
