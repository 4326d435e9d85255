import { parseIp } from '@coracle/api'
import { writeLabel } from './name.ts'
import { flags, headerBytes, internetClass, rcodes, types, udpBytesMax } from './numbers.ts'
import type { Question, Refusal } from './question.ts'
import type { DnsRecord } from './records.ts'

/** What is answered to a question. */
export interface Answer {
  readonly rcode: number
  /** Whether it is said by who must know: the cluster's names are answered so, those of others are not. */
  readonly isAuthoritative: boolean
  readonly answers: readonly DnsRecord[]
  readonly authorities?: readonly DnsRecord[]
  /** What is left out first where there is no room. */
  readonly additional?: readonly DnsRecord[]
}

/** Times of a zone, in seconds, as CoreDNS says them: nobody copies it. */
const soaTimes = { refresh: 7200, retry: 1800, expire: 86_400 }

/** Longest record that is written: a name to itself, and one or two with what belongs to them. */
const recordBytesMax = 2048

/** Where answers are written; each is copied out whole. Nothing awaits while one is written. */
const scratch = Buffer.allocUnsafe(65_535 + recordBytesMax)

/**
 * The message that answers a question, in at most `bytesMax` bytes: what has no room is left out, and where that is of the answer itself the
 * message says so (TC), for the resolver to ask over TCP.
 */
export function writeAnswer(question: Question, answer: Answer, bytesMax: number): Buffer {
  const { edns, bytes } = question
  const writer = new Writer(question.name, bytesMax - (edns === undefined ? 0 : optBytes))
  bytes.copy(scratch, headerBytes)
  writer.at = headerBytes + bytes.length
  const answers = writer.writeAll(answer.answers)
  const isWhole = answers === answer.answers.length
  const authorities = isWhole ? writer.writeAll(answer.authorities ?? []) : 0
  const additional = isWhole ? writer.writeAll(answer.additional ?? []) : 0
  let at = writer.at
  if (edns !== undefined) at = writeOpt(at, edns.dnssecOk, answer.rcode)
  writeHeader(
    question.id,
    flags.response |
      flags.recursionAvailable |
      (answer.isAuthoritative ? flags.authoritative : 0) |
      (isWhole ? 0 : flags.truncated) |
      (question.recursionDesired ? flags.recursionDesired : 0) |
      (question.checkingDisabled ? flags.checkingDisabled : 0) |
      (answer.rcode & 0xf),
    [1, answers, authorities, additional + (edns === undefined ? 0 : 1)],
  )
  return Buffer.from(scratch.subarray(0, at))
}

/** What answers a message that is no question. */
export function writeRefusal({ id, flags: head, rcode }: Refusal): Buffer {
  const isExtended = rcode > 0xf
  writeHeader(id, head | (rcode & 0xf), [0, 0, 0, isExtended ? 1 : 0])
  const end = isExtended ? writeOpt(headerBytes, false, rcode) : headerBytes
  return Buffer.from(scratch.subarray(0, end))
}

/** An answer that says nothing but how it went. */
export const failure = (rcode: number = rcodes.serverFailure): Answer => ({
  rcode,
  isAuthoritative: false,
  answers: [],
})

function writeHeader(id: number, head: number, counts: readonly number[]): void {
  scratch.writeUInt16BE(id, 0)
  scratch.writeUInt16BE(head, 2)
  for (const [index, count] of counts.entries()) scratch.writeUInt16BE(count, 4 + 2 * index)
}

const optBytes = 11

function writeOpt(start: number, dnssecOk: boolean, rcode: number): number {
  scratch[start] = 0
  scratch.writeUInt16BE(types.OPT, start + 1)
  scratch.writeUInt16BE(udpBytesMax, start + 3)
  scratch[start + 5] = rcode >> 4
  scratch[start + 6] = 0
  scratch.writeUInt16BE(dnssecOk ? 0x8000 : 0, start + 7)
  scratch.writeUInt16BE(0, start + 9)
  return start + optBytes
}

class Writer {
  at = headerBytes
  readonly #bytesMax: number
  /** Where names are, and the ends of names, to be pointed at. */
  readonly #known = new Map<string, number>()

  constructor(question: string, bytesMax: number) {
    this.#bytesMax = bytesMax
    this.#notice(question)
  }

  /** The name that was asked for, which stands behind the header. */
  #notice(question: string): void {
    // A byte that is escaped takes one place there and four in the text.
    if (question === '' || question.includes('\\')) return
    for (let dot = -1; ; ) {
      this.#known.set(question.slice(dot + 1), headerBytes + dot + 1)
      dot = question.indexOf('.', dot + 1)
      if (dot < 0) return
    }
  }

  /** Writes records as long as there is room; returns how many. */
  writeAll(records: readonly DnsRecord[]): number {
    let count = 0
    for (const record of records) {
      const start = this.at
      this.#write(record)
      if (this.at > this.#bytesMax) {
        this.at = start
        for (const [name, at] of this.#known) if (at >= start) this.#known.delete(name)
        return count
      }
      count += 1
    }
    return count
  }

  #write(record: DnsRecord): void {
    this.#name(record.name)
    const { type, ttl } = record
    this.#uint16(type === 'other' ? record.typeNumber : types[type])
    this.#uint16(internetClass)
    this.#uint32(ttl)
    const start = this.at
    this.at += 2
    this.#data(record)
    scratch.writeUInt16BE(this.at - start - 2, start)
  }

  #data(record: DnsRecord): void {
    switch (record.type) {
      case 'A':
        for (const part of record.address.split('.')) scratch[this.at++] = Number(part)
        return
      case 'AAAA':
        this.#ipv6(record.address)
        return
      case 'CNAME':
      case 'PTR':
      case 'NS':
        this.#name(record.target)
        return
      case 'SRV':
        for (const number of [record.priority, record.weight, record.port]) this.#uint16(number)
        // RFC 2782 has no pointers here.
        this.#name(record.target, false)
        return
      case 'TXT':
        this.at = writeLabel(scratch, this.at, record.text)
        return
      case 'SOA':
        this.#name(record.primary)
        this.#name(record.mailbox)
        for (const number of [record.serial, soaTimes.refresh, soaTimes.retry, soaTimes.expire, record.ttl])
          this.#uint32(number)
        return
      case 'other':
        this.at += record.data.copy(scratch, this.at)
    }
  }

  #ipv6(address: string): void {
    const { value } = parseIp(address) ?? { value: 0n }
    scratch.writeBigUInt64BE(value >> 64n, this.at)
    scratch.writeBigUInt64BE(value & 0xffff_ffff_ffff_ffffn, this.at + 8)
    this.at += 16
  }

  #uint16(value: number): void {
    this.at = scratch.writeUInt16BE(value, this.at)
  }

  #uint32(value: number): void {
    this.at = scratch.writeUInt32BE(value, this.at)
  }

  #name(name: string, mayPoint = true): void {
    let rest = name
    while (rest !== '') {
      const known = this.#known.get(rest)
      if (mayPoint && known !== undefined) {
        this.#uint16(0xc000 | known)
        return
      }
      if (known === undefined && this.at < 0x4000) this.#known.set(rest, this.at)
      const dot = rest.indexOf('.')
      this.at = writeLabel(scratch, this.at, dot < 0 ? rest : rest.slice(0, dot))
      rest = dot < 0 ? '' : rest.slice(dot + 1)
    }
    scratch[this.at++] = 0
  }
}
