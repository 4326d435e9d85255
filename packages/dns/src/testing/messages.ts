import { readName, writePlainName } from '../wire/name.ts'
import { headerBytes, types } from '../wire/numbers.ts'

export interface QueryOptions {
  readonly id?: number
  /** The second word of the header: recursion is desired unless said otherwise. */
  readonly head?: number
  readonly class?: number
  /** Absent: no EDNS. */
  readonly udpBytes?: number
  readonly version?: number
}

/** A question as resolvers send it. */
export function query(name: string, type: keyof typeof types | number = 'A', options: QueryOptions = {}): Buffer {
  const { id = 4711, head = 0x0100, class: questionClass = 1, udpBytes, version = 0 } = options
  const out = Buffer.alloc(600)
  out.writeUInt16BE(id, 0)
  out.writeUInt16BE(head, 2)
  out.writeUInt16BE(1, 4)
  let at = writePlainName(out, headerBytes, name)
  out.writeUInt16BE(typeof type === 'number' ? type : types[type], at)
  out.writeUInt16BE(questionClass, at + 2)
  at += 4
  if (udpBytes === undefined) return out.subarray(0, at)
  out.writeUInt16BE(1, 10)
  out.writeUInt16BE(types.OPT, at + 1)
  out.writeUInt16BE(udpBytes, at + 3)
  out[at + 6] = version
  return out.subarray(0, at + 11)
}

/** What an answer says, for tests to look at. Throws where it cannot be read. */
export function read(message: Buffer) {
  const head = message.readUInt16BE(2)
  const [questions = 0, answers = 0, authorities = 0, additional = 0] = [4, 6, 8, 10].map((at) =>
    message.readUInt16BE(at),
  )
  let at = headerBytes
  for (let each = 0; each < questions; each += 1) at = readName(message, at).end + 4
  const record = () => {
    const { name, end } = readName(message, at)
    const [type, recordClass, ttl] = [
      message.readUInt16BE(end),
      message.readUInt16BE(end + 2),
      message.readUInt32BE(end + 4),
    ]
    const start = end + 10
    at = start + message.readUInt16BE(end + 8)
    if (at > message.length) throw new RangeError('a record goes on beyond the message')
    const data = message.subarray(start, at)
    return {
      name,
      type,
      class: recordClass,
      ttl,
      data,
      target: type === types.CNAME ? readName(message, start).name : '',
    }
  }
  const many = (count: number) => Array.from({ length: count }, record)
  const [shown, authority, others] = [many(answers), many(authorities), many(additional)]
  if (at !== message.length) throw new RangeError(`${message.length - at} bytes are left over`)
  return {
    id: message.readUInt16BE(0),
    rcode: head & 0xf,
    isResponse: (head & 0x8000) !== 0,
    isAuthoritative: (head & 0x0400) !== 0,
    isTruncated: (head & 0x0200) !== 0,
    recursionAvailable: (head & 0x0080) !== 0,
    questions,
    answers: shown,
    addresses: shown.filter(({ type }) => type === types.A).map(({ data }) => data.join('.')),
    authorities: authority.map(({ type }) => type),
    additional: others.filter(({ type }) => type !== types.OPT),
    opt: others.find(({ type }) => type === types.OPT),
  }
}

/** Answers a question with addresses, as another server does. */
export function answerTo(
  question: Buffer,
  { addresses = [], ttl = 60, rcode = 0, head = 0, alias }: AnswerOptions = {},
): Buffer {
  const questionEnd = readName(question, headerBytes).end + 4
  const out = Buffer.alloc(65_535)
  question.copy(out, 0, 0, questionEnd)
  out.writeUInt16BE(0x8180 | head | rcode, 2)
  out.writeUInt16BE(addresses.length + (alias === undefined ? 0 : 1), 6)
  out.writeUInt16BE(0, 10)
  let at = questionEnd
  const begin = (type: number): void => {
    // A pointer to the question.
    out.writeUInt16BE(0xc000 | headerBytes, at)
    out.writeUInt16BE(type, at + 2)
    out.writeUInt16BE(1, at + 4)
    out.writeUInt32BE(ttl, at + 6)
  }
  if (alias !== undefined) {
    begin(types.CNAME)
    const end = writePlainName(out, at + 12, alias)
    out.writeUInt16BE(end - at - 12, at + 10)
    at = end
  }
  for (const address of addresses) {
    begin(types.A)
    out.writeUInt16BE(4, at + 10)
    Buffer.from(address.split('.').map(Number)).copy(out, at + 12)
    at += 16
  }
  return out.subarray(0, at)
}

export interface AnswerOptions {
  readonly addresses?: readonly string[]
  readonly ttl?: number
  readonly rcode?: number
  /** Further bits of the header. */
  readonly head?: number
  readonly alias?: string
}
