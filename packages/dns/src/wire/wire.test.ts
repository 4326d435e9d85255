import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { answerTo, query, read } from '../testing/messages.ts'
import { failure, writeAnswer, writeRefusal } from './answer.ts'
import { MalformedMessageError, readName, writePlainName } from './name.ts'
import { headerBytes } from './numbers.ts'
import { parseQuestion, type Question } from './question.ts'
import type { DnsRecord } from './records.ts'
import { answersOf, passedOn, readResponse, writeQuestion } from './response.ts'

function questionIn(message: Buffer): Question {
  const question = parseQuestion(message)
  if (question === undefined || 'rcode' in question) throw new Error('no question')
  return question
}

const label = fc.uint8Array({ minLength: 1, maxLength: 20 })
const nameBytes = fc.array(label, { maxLength: 8 })

/** Labels as they go over the wire. */
const wireName = (labels: readonly Uint8Array[]): Buffer =>
  Buffer.concat([...labels.flatMap((each) => [Buffer.from([each.length]), each]), Buffer.from([0])])

describe('a name', () => {
  it('comes through, whatever its bytes are, and in lower case', () => {
    fc.assert(
      fc.property(nameBytes, (labels) => {
        const wire = wireName(labels)
        const { name, end } = readName(wire, 0)
        expect(end).toBe(wire.length)
        const out = Buffer.alloc(300)
        const written = out.subarray(0, writePlainName(out, 0, name))
        expect(written.toString('latin1')).toBe(
          wire.toString('latin1').replaceAll(/[A-Z]/g, (each) => each.toLowerCase()),
        )
      }),
    )
  })

  it.each([
    ['a dot within a label is none between labels', [3, 0x61, 0x2e, 0x62, 0], 'a\\046b'],
    ['the root has none', [0], ''],
    ['case does not matter', [2, 0x41, 0x7a, 1, 0x42, 0], 'az.b'],
  ])('%s', (_, bytes, expected) => {
    expect(readName(Buffer.from(bytes), 0).name).toBe(expected)
  })

  it('may point to what stands before it', () => {
    const message = Buffer.concat([Buffer.alloc(headerBytes), Buffer.from([1, 0x61, 1, 0x62, 0, 1, 0x63, 0xc0, 14])])
    expect(readName(message, 17)).toEqual({ name: 'c.b', end: 21 })
  })

  it.each([
    ['to itself', [0xc0, 12]],
    ['to what follows', [0xc0, 14, 1, 0x61, 0]],
    ['to its own beginning', [1, 0x61, 0xc0, 12]],
    ['into the header', [0xc0, 4]],
    ['and ends there', [0xc0]],
  ])('is refused that points %s', (_, bytes) => {
    expect(() => readName(Buffer.concat([Buffer.alloc(headerBytes), Buffer.from(bytes)]), headerBytes)).toThrow(
      MalformedMessageError,
    )
  })

  it('is refused that is longer than names are', () => {
    const wire = wireName(Array.from({ length: 8 }, () => Buffer.alloc(32, 0x61)))
    expect(() => readName(wire, 0)).toThrow('a name is too long')
  })
})

describe('a question', () => {
  it('is read with what it is asked with', () => {
    expect(questionIn(query('Web.Shop', 'SRV', { id: 7, udpBytes: 4096 }))).toMatchObject({
      id: 7,
      name: 'web.shop',
      type: 33,
      class: 1,
      recursionDesired: true,
      edns: { udpBytes: 4096, dnssecOk: false },
    })
    expect(questionIn(query('web')).edns).toBeUndefined()
  })

  const changed = (change: (message: Buffer) => void, message = query('web')): Buffer => {
    change(message)
    return message
  }
  it.each([
    ['nothing: too short', Buffer.alloc(11), undefined],
    ['nothing: an answer', query('web', 'A', { head: 0x8100 }), undefined],
    ['not implemented: a status request', query('web', 'A', { head: 0x1000 }), 4],
    ['not implemented: an update', query('web', 'A', { head: 0x2800 }), 4],
    ['malformed: no question', changed((message) => message.writeUInt16BE(0, 4)), 1],
    ['malformed: two questions', changed((message) => message.writeUInt16BE(2, 4)), 1],
    ['malformed: an answer in it', changed((message) => message.writeUInt16BE(1, 6)), 1],
    ['malformed: many records', changed((message) => message.writeUInt16BE(3, 10)), 1],
    ['malformed: a record that is not there', changed((message) => message.writeUInt16BE(1, 10)), 1],
    ['malformed: it ends in its name', query('web').subarray(0, 14), 1],
    ['malformed: it ends behind its name', query('web').subarray(0, 19), 1],
    ['malformed: it is its own name', changed((message) => message.writeUInt16BE(0xc00c, headerBytes)), 1],
    ['another version of EDNS', query('web', 'A', { udpBytes: 1232, version: 1 }), 16],
  ])('gets %s', (_, message, rcode) => {
    const refusal = parseQuestion(message)
    expect(refusal && 'rcode' in refusal ? refusal.rcode : undefined).toBe(rcode)
    if (refusal === undefined || !('rcode' in refusal)) return
    const answer = read(writeRefusal(refusal))
    expect(answer).toMatchObject({ id: 4711, isResponse: true, rcode: (rcode ?? 0) & 0xf })
    expect((answer.opt?.ttl ?? 0) >>> 24).toBe((rcode ?? 0) >> 4)
  })

  it('that is any bytes is answered, refused or passed over', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
        const question = parseQuestion(Buffer.from(bytes))
        if (question === undefined) return
        const answer = 'rcode' in question ? writeRefusal(question) : writeAnswer(question, failure(), 512)
        expect(answer.readUInt16BE(0)).toBe(Buffer.from(bytes).readUInt16BE(0))
      }),
    )
  })
})

const addressRecords = (count: number, name = 'web.shop'): readonly DnsRecord[] =>
  Array.from({ length: count }, (_, index) => ({
    name,
    ttl: 30,
    type: 'A',
    address: `10.1.${index >> 8}.${index & 255}`,
  }))

describe('an answer', () => {
  it('repeats the question to the letter, and points to it', () => {
    const message = query('WeB.shOp')
    const answer = writeAnswer(
      questionIn(message),
      { rcode: 0, isAuthoritative: true, answers: addressRecords(2) },
      512,
    )
    expect(answer.subarray(headerBytes, message.length)).toEqual(message.subarray(headerBytes))
    expect(answer.length).toBe(message.length + 2 * 16)
    expect(read(answer)).toMatchObject({
      isAuthoritative: true,
      recursionAvailable: true,
      isTruncated: false,
      addresses: ['10.1.0.0', '10.1.0.1'],
    })
  })

  it('says that it is not whole, with as much as there is room for', () => {
    const question = questionIn(query('web.shop', 'A', { udpBytes: 1232 }))
    const answer = read(writeAnswer(question, { rcode: 0, isAuthoritative: true, answers: addressRecords(500) }, 1232))
    expect(answer.isTruncated).toBe(true)
    expect(answer.answers).toHaveLength(Math.floor((1232 - 26 - 11) / 16))
    expect(answer.opt).toBeDefined()
  })

  it('is whole where only what goes along with it has no room', () => {
    const parts = {
      rcode: 0,
      isAuthoritative: true,
      answers: addressRecords(3),
      additional: addressRecords(100, 'other'),
    }
    const answer = read(writeAnswer(questionIn(query('web.shop')), parts, 512))
    expect(answer.isTruncated).toBe(false)
    expect(answer.answers).toHaveLength(3)
    expect(answer.additional.length).toBeGreaterThan(10)
  })

  it('fits, and can be read, whatever is in it', () => {
    const name = fc.array(fc.stringMatching(/^[a-z0-9-]{1,20}$/), { maxLength: 5 }).map((labels) => labels.join('.'))
    const record: fc.Arbitrary<DnsRecord> = fc.oneof(
      name.map((each) => ({ name: each, ttl: 30, type: 'A', address: '10.1.2.3' }) as const),
      name.map((each) => ({ name: each, ttl: 30, type: 'AAAA', address: 'fd00::1' }) as const),
      fc.tuple(name, name).map(([each, target]) => ({ name: each, ttl: 30, type: 'CNAME', target }) as const),
      fc
        .tuple(name, name)
        .map(
          ([each, target]) => ({ name: each, ttl: 1, type: 'SRV', priority: 0, weight: 1, port: 80, target }) as const,
        ),
      name.map((each) => ({ name: each, ttl: 30, type: 'SOA', primary: each, mailbox: each, serial: 1 }) as const),
      name.map((each) => ({ name: each, ttl: 30, type: 'TXT', text: '1.1.0' }) as const),
    )
    const records = fc.array(record, { maxLength: 60 })
    fc.assert(
      fc.property(
        name,
        records,
        records,
        fc.integer({ min: 512, max: 2000 }),
        (asked, answers, additional, bytesMax) => {
          const question = questionIn(query(asked, 'A', { udpBytes: 1232 }))
          const message = writeAnswer(question, { rcode: 0, isAuthoritative: true, answers, additional }, bytesMax)
          expect(message.length).toBeLessThanOrEqual(bytesMax)
          const told = read(message)
          expect(told.answers.map((each) => each.name)).toEqual(
            answers.slice(0, told.answers.length).map((each) => each.name),
          )
          expect(told.isTruncated).toBe(told.answers.length < answers.length)
        },
      ),
    )
  })
})

describe('what another server has answered', () => {
  const question = questionIn(query('example.com'))
  const asked = writeQuestion(99, question, 1232)
  const responseTo = (message: Buffer) => readResponse(message, 99, question)

  it('is passed on with the id, the letters and the ages of whom it is for', () => {
    const response = responseTo(answerTo(asked, { addresses: ['192.0.2.1'], ttl: 100 }))
    if (response === undefined) throw new Error('no response')
    const other = questionIn(query('EXAMPLE.com', 'A', { id: 5 }))
    const message = passedOn(response, other, 7, 512)
    expect(read(message)).toMatchObject({ id: 5, addresses: ['192.0.2.1'], recursionAvailable: true })
    expect(read(message).answers[0]?.ttl).toBe(93)
    expect(message.toString('latin1')).toContain('EXAMPLE')
  })

  it('is cut to nothing where it has no room', () => {
    const response = responseTo(answerTo(asked, { addresses: Array.from({ length: 100 }, () => '192.0.2.1') }))
    if (response === undefined) throw new Error('no response')
    expect(read(passedOn(response, question, 0, 512))).toMatchObject({ isTruncated: true, answers: [], questions: 1 })
  })

  it.each([
    ['another id', writeQuestion(98, question, 1232), {}],
    ['another question', writeQuestion(99, questionIn(query('example.org')), 1232), {}],
  ])('is none with %s', (_, message, options) => {
    expect(responseTo(answerTo(message, options))).toBeUndefined()
  })

  it('is none that is a question', () => {
    expect(responseTo(asked)).toBeUndefined()
  })

  it.each([
    ['as long as its shortest record', { addresses: ['192.0.2.1'], ttl: 12 }, 12],
    ['not, where nothing says how long', {}, 0],
    ['not, where the server failed', { rcode: 2 }, 0],
    ['not, where it is not whole', { addresses: ['192.0.2.1'], head: 0x0200 }, 0],
  ])('is kept %s', (_, options, seconds) => {
    expect(responseTo(answerTo(asked, options))?.keptSeconds).toBe(seconds)
  })

  it('gives records with names that point nowhere', () => {
    const response = responseTo(answerTo(asked, { alias: 'www.example.com', addresses: ['192.0.2.1'] }))
    if (response === undefined) throw new Error('no response')
    const records = answersOf(response, question)
    const own = questionIn(query('outside.shop'))
    const answer = read(writeAnswer(own, { rcode: 0, isAuthoritative: true, answers: records }, 512))
    expect(answer.answers.map(({ name, target }) => `${name} ${target}`)).toEqual([
      'example.com www.example.com',
      'example.com ',
    ])
  })

  it('that is any bytes is passed on or not, and does no harm', () => {
    const begin = answerTo(asked, { addresses: ['192.0.2.1'] })
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 80 }), fc.nat(begin.length), (bytes, from) => {
        const message = Buffer.concat([begin.subarray(0, from), bytes])
        try {
          const response = responseTo(message)
          if (response === undefined) return
          passedOn(response, question, 1, 512)
          answersOf(response, question)
        } catch (error) {
          expect(error).toBeInstanceOf(MalformedMessageError)
        }
      }),
    )
  })
})
