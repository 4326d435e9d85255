import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { rename, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type VirtualEnvironment, virtualEnvironment } from '@coracle/environment'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type AnswerOptions, answerTo, query, read } from '../testing/messages.ts'
import { readName } from '../wire/name.ts'
import { headerBytes } from '../wire/numbers.ts'
import { parseQuestion, type Question } from '../wire/question.ts'
import type { Exchange } from './exchange.ts'
import { attemptTimeoutMs, Forwarder, questionTimeoutMs, shunnedMs, underWayMax } from './forwarder.ts'
import { nameServersOf, ResolvConf } from './resolv-conf.ts'
import { keptBytesMax } from './response-cache.ts'

type Behaviour = AnswerOptions | 'silent' | 'refuses' | 'guessed'

let environment: VirtualEnvironment
let forwarder: Forwarder
/** Which servers were asked, and how. */
let asked: string[]
/** What each does; over TCP what stands under `tcp ADDRESS`. */
let behaviours: Map<string, Behaviour>
let servers: readonly string[]

beforeEach(() => {
  environment = virtualEnvironment()
  asked = []
  behaviours = new Map()
  servers = ['192.0.2.1', '192.0.2.2']
  forwarder = new Forwarder({
    environment,
    servers: async () => servers.map((address) => ({ address, port: 53 })),
    exchange: { udp: exchange(''), tcp: exchange('tcp ') },
  })
})

afterEach(() => forwarder.close())

const exchange =
  (prefix: string): Exchange['udp'] =>
  ({ address }, question, take, signal) =>
    new Promise((resolve, reject) => {
      asked.push(`${prefix}${address} ${readName(question, headerBytes).name}`)
      signal.addEventListener('abort', () => reject(signal.reason), { once: true })
      const behaviour = behaviours.get(`${prefix}${address}`) ?? { addresses: ['203.0.113.1'] }
      if (behaviour === 'silent') return
      if (behaviour === 'refuses') return reject(new Error('ECONNREFUSED'))
      const guess = Buffer.from(question)
      guess.writeUInt16BE((question.readUInt16BE(0) + 1) % 65_536, 0)
      if (behaviour === 'guessed') {
        expect(take(answerTo(guess, { addresses: ['198.51.100.66'] }))).toBe(false)
        return
      }
      if (take(answerTo(question, behaviour))) resolve()
    })

function questionOf(name: string, options = {}): Question {
  const question = parseQuestion(query(name, 'A', options))
  if (question === undefined || 'rcode' in question) throw new Error('no question')
  return question
}

/** What is answered, and when. */
async function ask(name = 'example.com') {
  const { clock } = environment
  const fromMs = clock.monotonicMs()
  let result: { readonly addresses: readonly string[] | undefined; readonly ms: number } | undefined
  void forwarder.ask(questionOf(name)).then((answer) => {
    result = {
      addresses: answer && read(answer.response.message).addresses,
      ms: clock.monotonicMs() - fromMs,
    }
  })
  for (let step = 0; result === undefined && step < 20; step += 1) await clock.advance('500ms')
  return result
}

describe('a question about the names of others', () => {
  it('goes to the first server', async () => {
    expect(await ask()).toEqual({ addresses: ['203.0.113.1'], ms: 0 })
    expect(asked).toEqual(['192.0.2.1 example.com'])
  })

  it('goes to the next where the first says nothing, and to that one first from then on', async () => {
    behaviours.set('192.0.2.1', 'silent')
    expect(await ask()).toEqual({ addresses: ['203.0.113.1'], ms: attemptTimeoutMs })
    expect(await ask('example.org')).toEqual({ addresses: ['203.0.113.1'], ms: 0 })
    await environment.clock.advance(`${shunnedMs}ms`)
    behaviours.delete('192.0.2.1')
    await ask('example.net')
    expect(asked).toEqual([
      '192.0.2.1 example.com',
      '192.0.2.2 example.com',
      '192.0.2.2 example.org',
      '192.0.2.1 example.net',
    ])
  })

  it.each([
    ['does not listen', 'refuses'],
    ['has failed', { rcode: 2 }],
    ['does not want to', { rcode: 5 }],
  ] as const)('goes to the next at once where the first %s', async (_, behaviour) => {
    behaviours.set('192.0.2.1', behaviour)
    expect(await ask()).toEqual({ addresses: ['203.0.113.1'], ms: 0 })
  })

  it('is not answered by who guesses', async () => {
    behaviours.set('192.0.2.1', 'guessed')
    behaviours.set('192.0.2.2', 'silent')
    expect(await ask()).toEqual({ addresses: undefined, ms: 2 * attemptTimeoutMs })
  })

  it('is given up in time for who asks to hear of it', async () => {
    servers = ['192.0.2.1', '192.0.2.2', '192.0.2.3']
    for (const server of servers) behaviours.set(server, 'silent')
    expect(await ask()).toEqual({ addresses: undefined, ms: questionTimeoutMs })
  })

  it('fails where there is no server', async () => {
    servers = []
    expect(await ask()).toEqual({ addresses: undefined, ms: 0 })
  })

  it('is asked over TCP where the answer is too long for a datagram', async () => {
    behaviours.set('192.0.2.1', { head: 0x0200 })
    behaviours.set('tcp 192.0.2.1', { addresses: ['203.0.113.7'] })
    expect((await ask())?.addresses).toEqual(['203.0.113.7'])
  })

  it.each(['refuses', 'silent'] as const)(
    'has what came in a datagram for an answer where the server %s over TCP',
    async (behaviour) => {
      servers = ['192.0.2.1']
      behaviours.set('192.0.2.1', { head: 0x0200, addresses: ['203.0.113.1'] })
      behaviours.set('tcp 192.0.2.1', behaviour)
      const answer = await ask()
      expect(answer).toEqual({ addresses: ['203.0.113.1'], ms: behaviour === 'silent' ? attemptTimeoutMs : 0 })
      expect(forwarder.kept(questionOf('example.com'))).toBeUndefined()
    },
  )

  it('is asked of the next where the first has only a part of the answer', async () => {
    behaviours.set('192.0.2.1', { head: 0x0200, addresses: ['203.0.113.1'] })
    behaviours.set('tcp 192.0.2.1', 'refuses')
    behaviours.set('192.0.2.2', { addresses: ['203.0.113.1', '203.0.113.2'] })
    expect((await ask())?.addresses).toEqual(['203.0.113.1', '203.0.113.2'])
  })

  it('is asked once for all who ask it at one time, whatever the case of its letters', async () => {
    behaviours.set('192.0.2.1', 'silent')
    const all = Promise.all([questionOf('example.com'), questionOf('EXAMPLE.com')].map((each) => forwarder.ask(each)))
    await environment.clock.advance(`${attemptTimeoutMs}ms`)
    expect((await all).map((each) => each?.response.rcode)).toEqual([0, 0])
    expect(asked).toHaveLength(2)
  })

  it('is refused where too many are under way', async () => {
    behaviours.set('192.0.2.1', 'silent')
    const others = Array.from({ length: underWayMax }, (_, index) => forwarder.ask(questionOf(`n${index}.example`)))
    expect(await forwarder.ask(questionOf('one-more.example'))).toBeUndefined()
    await environment.clock.advance(`${attemptTimeoutMs}ms`)
    expect((await Promise.all(others)).filter((each) => each === undefined)).toEqual([])
  })

  it('is answered from what is kept, as long as that is good, and half a minute at most', async () => {
    const question = questionOf('example.com')
    expect(forwarder.kept(question)).toBeUndefined()
    behaviours.set('192.0.2.1', { addresses: ['203.0.113.1'], ttl: 300 })
    await ask()
    await environment.clock.advance('29s')
    expect(forwarder.kept(questionOf('Example.com'))?.ageSeconds).toBe(29)
    // Whoever speaks EDNS gets another answer.
    expect(forwarder.kept(questionOf('example.com', { udpBytes: 1232 }))).toBeUndefined()
    await environment.clock.advance('1s')
    expect(forwarder.kept(question)).toBeUndefined()
  })

  it('is asked again where the answer is long', async () => {
    behaviours.set('192.0.2.1', { addresses: Array.from({ length: keptBytesMax / 16 }, () => '203.0.113.1') })
    await ask()
    expect(forwarder.kept(questionOf('example.com'))).toBeUndefined()
  })
})

describe('a resolv.conf', () => {
  let directory: string
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'coracle-'))
  })
  afterEach(() => rmSync(directory, { recursive: true }))

  it('names servers: three of them', () => {
    const text = `# nameserver 9.9.9.9
search example.com
 nameserver 192.0.2.1
nameserver fe80::1%eth0
nameserver 192.0.2.1
nameserver nowhere
nameserver 192.0.2.2 # the second
nameserver 192.0.2.3
`
    expect(nameServersOf(text)).toEqual(['192.0.2.1', 'fe80::1%eth0', '192.0.2.2'])
  })

  it('is read again when it has changed', async () => {
    const path = join(directory, 'resolv.conf')
    writeFileSync(path, 'nameserver 192.0.2.1\n')
    const { clock } = environment
    const file = new ResolvConf(path, clock)
    expect(await file.servers()).toEqual(['192.0.2.1'])
    await writeFile(`${path}.new`, 'nameserver 192.0.2.22\n')
    await rename(`${path}.new`, path)
    expect(await file.servers()).toEqual(['192.0.2.1'])
    await clock.advance('1s')
    expect(await file.servers()).toEqual(['192.0.2.22'])
    rmSync(path)
    await clock.advance('1s')
    expect(await file.servers()).toEqual([])
  })
})
