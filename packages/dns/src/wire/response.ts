import { MalformedMessageError, readName, writePlainName } from './name.ts'
import { flags, headerBytes, internetClass, nameBytesMax, types } from './numbers.ts'
import type { Question } from './question.ts'
import type { DnsRecord } from './records.ts'

/** What another server has answered, looked through as far as it takes to pass it on. */
export interface Response {
  readonly message: Buffer
  readonly rcode: number
  readonly isTruncated: boolean
  /** Where the ages of its records are, and what they were. */
  readonly ages: readonly { readonly at: number; readonly seconds: number }[]
  /** How long it may be kept, in seconds: as its shortest age says, or that of the zone where there is nothing. 0: not at all. */
  readonly keptSeconds: number
}

const sectionNames = ['answers', 'authorities', 'additional'] as const

interface FoundRecord {
  readonly section: (typeof sectionNames)[number]
  readonly name: string
  readonly type: number
  readonly class: number
  readonly ttl: number
  readonly ttlAt: number
  readonly dataStart: number
  readonly end: number
}

/**
 * Reads what came in answer to a question that was asked with this id. Undefined where it is no answer to it, as somebody sends who guesses.
 * Throws a MalformedMessageError where it is one and cannot be read.
 */
export function readResponse(message: Buffer, id: number, { bytes }: Pick<Question, 'bytes'>): Response | undefined {
  if (message.length < headerBytes || message.readUInt16BE(0) !== id) return undefined
  const head = message.readUInt16BE(2)
  if ((head & flags.response) === 0) return undefined
  const rcode = head & 0xf
  const count = message.readUInt16BE(4)
  // Servers that cannot read a question need not repeat it.
  if (count === 0 && rcode !== 0) return { message, rcode, isTruncated: false, ages: [], keptSeconds: 0 }
  if (count !== 1 || !repeats(message, bytes)) return undefined
  const records = [...recordsOf(message, headerBytes + bytes.length)].filter(({ type }) => type !== types.OPT)
  const [shown, authorities] = [
    records.filter(({ section }) => section === 'answers'),
    records.filter(({ section }) => section === 'authorities'),
  ]
  const isTruncated = (head & flags.truncated) !== 0
  return {
    message,
    rcode,
    isTruncated,
    ages: records.map(({ ttlAt, ttl }) => ({ at: ttlAt, seconds: ttl })),
    keptSeconds: isTruncated ? 0 : keptSeconds(message, rcode, shown, authorities),
  }
}

/** Whether the question of a message is this one, whatever the case of its letters. */
function repeats(message: Buffer, question: Buffer): boolean {
  if (message.length < headerBytes + question.length) return false
  const text = (bytes: Buffer): string => bytes.toString('latin1').toLowerCase()
  return text(message.subarray(headerBytes, headerBytes + question.length)) === text(question)
}

const nameError = 3

/** Failures are not kept: the next one who asks may have more luck. What is not there is kept as its zone says (RFC 2308). */
function keptSeconds(
  message: Buffer,
  rcode: number,
  shown: readonly FoundRecord[],
  authorities: readonly FoundRecord[],
): number {
  if (rcode !== 0 && rcode !== nameError) return 0
  const ttls = shown.map(({ ttl }) => ttl)
  if (rcode === 0 && shown.some(({ type }) => type !== types.CNAME)) return Math.min(...ttls)
  const soa = authorities.find(({ type }) => type === types.SOA)
  if (soa === undefined || soa.end - soa.dataStart < 4) return 0
  return Math.min(soa.ttl, message.readUInt32BE(soa.end - 4), ...ttls)
}

function* recordsOf(message: Buffer, start: number): Generator<FoundRecord> {
  let at = start
  for (const [index, section] of sectionNames.entries()) {
    const count = message.readUInt16BE(6 + 2 * index)
    for (let each = 0; each < count; each += 1) {
      const { name, end } = readName(message, at)
      if (end + 10 > message.length) throw new MalformedMessageError('a record goes on beyond the message')
      const dataStart = end + 10
      at = dataStart + message.readUInt16BE(end + 8)
      if (at > message.length) throw new MalformedMessageError('a record goes on beyond the message')
      // One with the highest bit set counts as zero (RFC 2181).
      const seconds = message.readInt32BE(end + 4)
      yield {
        section,
        name,
        type: message.readUInt16BE(end),
        class: message.readUInt16BE(end + 2),
        ttl: Math.max(seconds, 0),
        ttlAt: end + 4,
        dataStart,
        end: at,
      }
    }
  }
}

/** The records that a response answers with, for an answer of ours. Throws a MalformedMessageError. */
export function answersOf({ message }: Response, question: Pick<Question, 'bytes'>): readonly DnsRecord[] {
  return [...recordsOf(message, headerBytes + question.bytes.length)]
    .filter((record) => record.section === 'answers' && record.class === internetClass)
    .map((record) => ({
      name: record.name,
      ttl: record.ttl,
      type: 'other',
      typeNumber: record.type,
      data: dataOf(message, record),
    }))
}

/** How many bytes stand before the names in the data of a record, and how many names. Other types have none with pointers (RFC 3597). */
const namesInData: Readonly<Record<number, { readonly before: number; readonly names: number }>> = {
  [types.NS]: { before: 0, names: 1 },
  [types.CNAME]: { before: 0, names: 1 },
  [types.PTR]: { before: 0, names: 1 },
  [types.MX]: { before: 2, names: 1 },
  [types.SRV]: { before: 6, names: 1 },
  [types.SOA]: { before: 0, names: 2 },
}

function dataOf(message: Buffer, { type, dataStart, end }: FoundRecord): Buffer {
  const shape = namesInData[type]
  if (shape === undefined) return message.subarray(dataStart, end)
  const out = Buffer.alloc(end - dataStart + shape.names * (nameBytesMax + 1))
  let length = message.copy(out, 0, dataStart, dataStart + shape.before)
  let at = dataStart + shape.before
  for (let each = 0; each < shape.names; each += 1) {
    const { name, end: next } = readName(message, at)
    length = writePlainName(out, length, name)
    at = next
  }
  if (at > end) throw new MalformedMessageError('a name goes on beyond its record')
  length += message.copy(out, length, at, end)
  return out.subarray(0, length)
}

/**
 * The same response for another client: with its id, the question to the letter as it came, and ages that are `ageSeconds` less. Both questions
 * are the same but for the case of letters, and speak EDNS or do not.
 */
export function passedOn(
  { message, ages }: Response,
  question: Question,
  ageSeconds: number,
  bytesMax: number,
): Buffer {
  const { id, bytes, recursionDesired, checkingDisabled } = question
  const isWhole = message.length <= bytesMax
  const out = Buffer.from(isWhole ? message : message.subarray(0, headerBytes + bytes.length))
  const kept = flags.response | flags.truncated | 0x2f
  out.writeUInt16BE(id, 0)
  out.writeUInt16BE(
    (message.readUInt16BE(2) & kept) |
      flags.recursionAvailable |
      (recursionDesired ? flags.recursionDesired : 0) |
      (checkingDisabled ? flags.checkingDisabled : 0) |
      (isWhole ? 0 : flags.truncated),
    2,
  )
  if (!isWhole) out.fill(0, 6, headerBytes)
  if (message.readUInt16BE(4) === 1) bytes.copy(out, headerBytes)
  if (isWhole) for (const { at, seconds } of ages) out.writeUInt32BE(Math.max(seconds - ageSeconds, 0), at)
  return out
}

/** A question to another server. */
export function writeQuestion(id: number, question: Question, udpBytes: number): Buffer {
  const { bytes, edns, checkingDisabled } = question
  const out = Buffer.alloc(headerBytes + bytes.length + (edns === undefined ? 0 : 11))
  out.writeUInt16BE(id, 0)
  out.writeUInt16BE(flags.recursionDesired | (checkingDisabled ? flags.checkingDisabled : 0), 2)
  out.writeUInt16BE(1, 4)
  bytes.copy(out, headerBytes)
  if (edns === undefined) return out
  out.writeUInt16BE(1, 10)
  const at = headerBytes + bytes.length + 1
  out.writeUInt16BE(types.OPT, at)
  out.writeUInt16BE(udpBytes, at + 2)
  out.writeUInt16BE(edns.dnssecOk ? 0x8000 : 0, at + 6)
  return out
}
