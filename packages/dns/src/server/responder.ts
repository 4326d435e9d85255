import type { Environment } from '@coracle/environment'
import type { Forwarded, Forwarder } from '../forward/forwarder.ts'
import { type Answer, failure, writeAnswer, writeRefusal } from '../wire/answer.ts'
import { MalformedMessageError, writePlainName } from '../wire/name.ts'
import { internetClass, nameBytesMax, plainUdpBytes, rcodes, tcpBytesMax, types, udpBytesMax } from '../wire/numbers.ts'
import { parseQuestion, type Question } from '../wire/question.ts'
import type { DnsRecord } from '../wire/records.ts'
import { answersOf, passedOn } from '../wire/response.ts'
import { soaRecord, type Zone, type ZoneAnswer, zoneAnswer } from '../zone/cluster-zone.ts'

export type Transport = 'udp' | 'tcp'

export interface ResponderOptions {
  readonly environment: Environment
  readonly zone: Zone
  /** Knows the names of others. */
  readonly forwarder: Forwarder
}

/** What is said to a message; undefined: nothing. */
export type Respond = (message: Buffer, transport: Transport) => Buffer | undefined | Promise<Buffer | undefined>

/** Answers messages: names of the cluster at once, and those of others as they say. */
export function createResponder({ environment, zone, forwarder }: ResponderOptions): Respond {
  const { clock, random, logger } = environment
  /** Whoever asks what cannot be answered waits in vain, and nobody else does. */
  const failed = (error: unknown): undefined => {
    logger.error('a question about names was not answered', { error })
  }
  return (message, transport) => {
    try {
      const answer = respond(message, transport)
      return answer instanceof Promise ? answer.catch(failed) : answer
    } catch (error) {
      return failed(error)
    }
  }

  function respond(message: Buffer, transport: Transport): ReturnType<Respond> {
    const question = parseQuestion(message)
    if (question === undefined) return undefined
    if ('rcode' in question) return writeRefusal(question)
    const bytesMax = bytesFor(question, transport)
    if (question.class !== internetClass || question.type === types.AXFR || question.type === types.IXFR)
      return writeAnswer(question, failure(rcodes.refused), bytesMax)
    const found = zoneAnswer(zone, question.name, question.type)
    if (found !== undefined) {
      if (found.continuesAt !== undefined) return followed(question, found, found.continuesAt, bytesMax)
      return writeAnswer(question, authoritative(question, found), bytesMax)
    }
    const kept = forwarder.kept(question)
    if (kept !== undefined) return passedOn(kept.response, question, kept.ageSeconds, bytesMax)
    return forwarded(question, bytesMax)
  }

  function authoritative({ name, type }: Question, { rcode, answers, additional }: ZoneAnswer): Answer {
    const isSoa = type === types.SOA && name === zone.domain
    const says = isSoa ? [soa()] : spread(answers)
    return {
      rcode,
      isAuthoritative: true,
      answers: says,
      authorities: says.length === 0 ? [soa()] : [],
      additional,
    }
  }

  function soa(): DnsRecord {
    return soaRecord(zone.domain, Math.floor(clock.now() / 1000) % 2 ** 32)
  }

  /** Most resolvers take the first address: each is to be that as often as the others. */
  function spread(answers: readonly DnsRecord[]): readonly DnsRecord[] {
    if (answers.length < 2 || answers.some(({ type }) => type === 'CNAME')) return answers
    const shuffled = [...answers]
    for (let at = shuffled.length - 1; at > 0; at -= 1) {
      const other = Math.floor(random.next() * (at + 1))
      const record = shuffled[at] as DnsRecord
      shuffled[at] = shuffled[other] as DnsRecord
      shuffled[other] = record
    }
    return shuffled
  }

  async function forwarded(question: Question, bytesMax: number): Promise<Buffer> {
    const answer = await forwarder.ask(question)
    if (answer === undefined) return writeAnswer(question, failure(), bytesMax)
    return passedOn(answer.response, question, answer.ageSeconds, bytesMax)
  }

  /** An alias for a name of others, with what they say of that. */
  async function followed(question: Question, alias: ZoneAnswer, target: string, bytesMax: number): Promise<Buffer> {
    const asked = questionOf(question, target)
    const answer = forwarder.kept(asked) ?? (await forwarder.ask(asked))
    const { rcode, answers } = continued(answer, asked)
    return writeAnswer(question, { rcode, isAuthoritative: true, answers: [...alias.answers, ...answers] }, bytesMax)
  }
}

function continued(
  answer: Forwarded | undefined,
  asked: Question,
): { readonly rcode: number; readonly answers: readonly DnsRecord[] } {
  if (answer === undefined) return failure()
  const { response, ageSeconds } = answer
  try {
    return {
      rcode: response.rcode,
      answers: answersOf(response, asked).map((record) => ({ ...record, ttl: Math.max(record.ttl - ageSeconds, 0) })),
    }
  } catch (error) {
    if (error instanceof MalformedMessageError) return failure()
    throw error
  }
}

/** The same question about another name. */
function questionOf(question: Question, name: string): Question {
  const out = Buffer.alloc(nameBytesMax + 5)
  const end = writePlainName(out, 0, name)
  out.writeUInt16BE(question.type, end)
  out.writeUInt16BE(question.class, end + 2)
  return { ...question, name, bytes: out.subarray(0, end + 4) }
}

function bytesFor({ edns }: Question, transport: Transport): number {
  if (transport === 'tcp') return tcpBytesMax
  if (edns === undefined) return plainUdpBytes
  return Math.min(Math.max(edns.udpBytes, plainUdpBytes), udpBytesMax)
}
