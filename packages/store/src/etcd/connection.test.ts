import { type Clock, realClock, realEnvironment } from '@coracle/environment'
import {
  createAuthority,
  issueClientCertificate,
  issueServingCertificate,
  type KeyPair,
} from '@coracle/environment/certificates'
import { decode, encode, isServiceError, message } from '@coracle/environment/grpc'
import { type handleUnaryCall, type Metadata, Server, ServerCredentials, status } from '@grpc/grpc-js'
import { afterEach, describe, expect, it } from 'vitest'
import { StoreClosedError, StoreTimeoutError, StoreUnavailableError } from '../errors.ts'
import { etcdCallTimeoutMs, etcdConnectTimeoutMs, etcdRetryMs } from '../limits.ts'
import { authenticateRequest, authenticateResponse } from './api.ts'
import { Connection, type ConnectionOptions } from './connection.ts'

const text = message({ text: [1, 'string'] })
const echo = { path: '/test.Echo/Say', request: text, response: text }
const repeatable = { repeatable: true }
const once = { repeatable: false }

/** An error as a server answers it. */
const failure = (code: status, details: string) => Object.assign(new Error(details), { code, details })

/** What a server answers to a text: a text, an error, or nothing at all. */
type Answer = (said: string, metadata: Metadata) => string | Error | undefined

const open: { close(): void }[] = []
afterEach(() => {
  for (const each of open.splice(0)) each.close()
})

/** A server of gRPC at an address of its own. `passwords` are what it was given. */
async function serve(
  answer: Answer,
  tokens: (password: string) => string | Error = () => 'token',
  security = ServerCredentials.createInsecure(),
) {
  const server = new Server()
  const raw = (bytes: Buffer) => bytes
  const unary = (handle: (bytes: Buffer, metadata: Metadata) => Uint8Array | Error | undefined) => {
    const call: handleUnaryCall<Buffer, Buffer> = ({ request, metadata }, respond) => {
      const found = handle(request, metadata)
      if (found === undefined) return
      if (found instanceof Error) respond(found)
      else respond(null, Buffer.from(found))
    }
    return call
  }
  const passwords: string[] = []
  server.register(
    echo.path,
    unary((bytes, metadata) => {
      const found = answer(decode(text, bytes).text, metadata)
      return typeof found === 'string' ? encode(text, { text: found }) : found
    }),
    raw,
    raw,
    'unary',
  )
  server.register(
    '/etcdserverpb.Auth/Authenticate',
    unary((bytes) => {
      const { name, password } = decode(authenticateRequest, bytes)
      passwords.push(`${name}:${password}`)
      const token = tokens(password)
      return token instanceof Error ? token : encode(authenticateResponse, { token })
    }),
    raw,
    raw,
    'unary',
  )
  const streams: Metadata[] = []
  server.register(
    '/test.Echo/Chat',
    (call: {
      metadata: Metadata
      on(event: 'data', listener: (bytes: Buffer) => void): void
      write(bytes: Buffer): void
      emit(event: 'error', error: Error): void
    }) => {
      streams.push(call.metadata)
      call.on('data', (bytes) => {
        const found = answer(decode(text, bytes).text, call.metadata)
        if (typeof found === 'string') call.write(Buffer.from(encode(text, { text: found })))
        else if (found !== undefined) call.emit('error', found)
      })
    },
    raw,
    raw,
    'bidi',
  )
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', security, (error, found) => (error === null ? resolve(found) : reject(error)))
  })
  const close = () => server.forceShutdown()
  open.push({ close })
  return { address: `127.0.0.1:${port}`, passwords, streams, close }
}

/** The real clock, but for what is skipped of it: to wait takes no time. */
function quickClock() {
  let skippedMs = 0
  const waits: number[] = []
  const clock: Clock = {
    ...realClock,
    monotonicMs: () => realClock.monotonicMs() + skippedMs,
    setTimer(delayMs, callback, options) {
      // The timers of calls are never due; those between attempts are at once.
      if (delayMs !== etcdRetryMs) return realClock.setTimer(delayMs, callback, options)
      waits.push(delayMs)
      skippedMs += delayMs
      return realClock.setTimer(0, callback, options)
    },
  }
  return { clock, waits }
}

function connect(servers: readonly string[], options: Partial<ConnectionOptions> = {}) {
  const connection = new Connection({ servers, clock: quickClock().clock, ...options })
  open.push(connection)
  const say = async (said: string, how = repeatable) => (await connection.call(echo, { text: said }, how)).text
  return { connection, say }
}

describe('a call to etcd', () => {
  it('is answered', async () => {
    const { address } = await serve((said) => `${said}!`)
    const { connection, say } = connect([address])
    expect([await say('a'), await say('b', once)]).toEqual(['a!', 'b!'])
    expect(connection.place).toBe(address)
  })

  it('needs a server', () => {
    expect(() => connect([])).toThrow('an etcd store needs a server')
  })

  it('is refused once, with the error of etcd', async () => {
    let calls = 0
    const { address } = await serve(() => {
      calls += 1
      return failure(status.INVALID_ARGUMENT, 'no such thing')
    })
    const { say } = connect([address])
    const error = await say('a').catch((cause: unknown) => cause)
    expect(error).toMatchObject({ code: status.INVALID_ARGUMENT, details: 'no such thing' })
    expect([isServiceError(error), isServiceError(new Error('other')), calls]).toEqual([true, false, 1])
  })

  it.each([status.UNAVAILABLE, status.INTERNAL, status.CANCELLED])(
    'is tried again with the next server where one answers with the code %i, and goes there from then on',
    async (code) => {
      const asked: string[] = []
      const one = await serve(() => {
        asked.push('one')
        return failure(code, 'no leader')
      })
      const two = await serve((said) => {
        asked.push('two')
        return said
      })
      const { clock, waits } = quickClock()
      const { say } = connect([one.address, two.address], { clock })
      expect([await say('a'), await say('b')]).toEqual(['a', 'b'])
      expect([asked, waits]).toEqual([['one', 'two', 'two'], [200]])
    },
  )

  it('is not tried again where it might be carried out twice; the next goes to another server', async () => {
    const one = await serve(() => failure(status.UNAVAILABLE, 'no leader'))
    const two = await serve((said) => said)
    const { say } = connect([one.address, two.address])
    await expect(say('a', once)).rejects.toThrow(new StoreTimeoutError(`${one.address},${two.address}`, 'no leader'))
    expect(await say('b', once)).toBe('b')
  })

  it.each([status.UNAVAILABLE, status.INTERNAL, status.UNKNOWN, status.DEADLINE_EXCEEDED, status.DATA_LOSS])(
    'may have been carried out where it changes something and is answered with the code %i',
    async (code) => {
      const { address } = await serve(() => failure(code, 'no luck'))
      const { say } = connect([address])
      await expect(say('a', once)).rejects.toThrow(new StoreTimeoutError(address, 'no luck'))
    },
  )

  it.each<[status, string]>([
    [status.UNAVAILABLE, 'etcdserver: no leader'],
    [status.UNAVAILABLE, 'etcdserver: rpc not supported for learner'],
    [status.FAILED_PRECONDITION, 'etcdserver: rpc not supported for learner'],
  ])('is tried elsewhere where it is certain that a server has not taken it: %s %s', async (code, details) => {
    const led: unknown[] = []
    const one = await serve((_, metadata) => {
      led.push(metadata.get('hasleader'))
      return failure(code, details)
    })
    const two = await serve((said) => `two ${said}`)
    const { say } = connect([one.address, two.address])
    expect([await say('a', once), await say('b')]).toEqual(['two a', 'two b'])
    expect(led).toEqual([['true']])
    const { say: alone } = connect([one.address])
    await expect(alone('a', once)).rejects.toThrow(new StoreUnavailableError(one.address, details))
  })

  it('has not been made where its user could not be let in', async () => {
    const one = await serve(
      (said) => said,
      () => failure(status.UNAVAILABLE, 'etcdserver: request timed out'),
    )
    const two = await serve((said) => `two ${said}`)
    const { say } = connect([one.address, two.address], { user: { name: 'me', password: 'secret' } })
    expect(await say('a', once)).toBe('two a')
  })

  it('goes to another server where one has not answered in half of the time, and so do the streams there', async () => {
    const silent = await serve(() => undefined)
    const other = await serve((said) => `other ${said}`)
    const timers: number[] = []
    const clock: Clock = {
      ...realClock,
      setTimer(delayMs, callback, options) {
        timers.push(delayMs)
        return realClock.setTimer(timers.length === 1 ? 0 : delayMs, callback, options)
      },
    }
    const { connection, say } = connect([silent.address, other.address], { clock })
    const stream = await connection.stream({ path: '/test.Echo/Chat', request: text, response: text })
    const ended = new Promise<Error>((resolve) => stream.once('error', resolve))
    expect(await say('a')).toBe('other a')
    expect(timers[0]).toBeLessThanOrEqual(etcdCallTimeoutMs / 2)
    expect((await ended).message).toContain('Cancelled on client')
    expect(await say('b')).toBe('other b')
  })

  it('was not carried out where etcd says why it does not take it', async () => {
    const { address } = await serve(() => failure(status.RESOURCE_EXHAUSTED, 'database space exceeded'))
    const { say } = connect([address])
    await expect(say('a', once)).rejects.toMatchObject({ details: 'database space exceeded' })
  })

  it('is given up where another attempt would be too late', async () => {
    let calls = 0
    const { address } = await serve(() => (++calls === 1 ? failure(status.UNAVAILABLE, 'no leader') : 'too late'))
    let isFirst = true
    const monotonicMs = () => {
      const ms = isFirst ? 0 : etcdCallTimeoutMs - etcdRetryMs
      isFirst = false
      return ms
    }
    const { say } = connect([address], { clock: { ...realClock, monotonicMs } })
    await expect(say('a')).rejects.toThrow(new StoreUnavailableError(address, 'no leader'))
  })

  it('is given up with what was answered where the wait for another attempt takes longer than there is time', async () => {
    const { address } = await serve(() => failure(status.UNAVAILABLE, 'no leader'))
    let skippedMs = 0
    const clock: Clock = {
      ...realClock,
      monotonicMs: () => realClock.monotonicMs() + skippedMs,
      setTimer(delayMs, callback, options) {
        if (delayMs !== etcdRetryMs) return realClock.setTimer(delayMs, callback, options)
        skippedMs += etcdCallTimeoutMs
        return realClock.setTimer(0, callback, options)
      },
    }
    const { say } = connect([address], { clock })
    await expect(say('a')).rejects.toThrow(new StoreUnavailableError(address, 'no leader'))
  })

  it('waits for a server without asking again and again whether it is there', async () => {
    const { address } = await serve((said) => said)
    let asked = 0
    const now = () => {
      asked += 1
      return realClock.now()
    }
    const { say } = connect([address], { clock: { ...realClock, now } })
    expect([await say('a'), asked]).toEqual(['a', 1])
  })

  it('is given up in the end where every server fails', async () => {
    const { address } = await serve(() => failure(status.UNAVAILABLE, 'no leader'))
    const { clock, waits } = quickClock()
    const { say } = connect([address], { clock })
    await expect(say('a')).rejects.toThrow(new StoreUnavailableError(address, 'no leader'))
    expect(waits.length).toBeGreaterThan(15)
    expect(waits.length * 200).toBeLessThan(etcdCallTimeoutMs)
  })

  it('reaches the server that is there, and uses it from then on', async () => {
    const gone = await serve(() => 'gone')
    gone.close()
    const { address } = await serve((said) => said)
    // The time that a server has to be reached is nearly over at once.
    const now = () => realClock.now() - etcdConnectTimeoutMs + 30
    const { say } = connect([gone.address, address], { clock: { ...realClock, now } })
    expect([await say('a', once), await say('b', once)]).toEqual(['a', 'b'])
  })

  it('reaches none where time is over', async () => {
    const { address } = await serve((said) => said)
    const quick = quickClock()
    let calls = 0
    const monotonicMs = () => (calls++ === 0 ? 0 : etcdCallTimeoutMs)
    const { say } = connect([address], { clock: { ...quick.clock, monotonicMs } })
    await expect(say('a')).rejects.toThrow(new StoreUnavailableError(address, 'no server can be reached'))
  })

  it('is cancelled where no answer comes in time', async () => {
    const { address } = await serve(() => undefined)
    const timers: (() => void)[] = []
    const clock: Clock = {
      ...realClock,
      setTimer(delayMs, callback) {
        expect(delayMs).toBeGreaterThan(0)
        expect(delayMs).toBeLessThanOrEqual(etcdCallTimeoutMs)
        timers.push(callback)
        return { cancel: () => {} }
      },
    }
    const { say } = connect([address], { clock })
    const said = say('a', once)
    await expect.poll(() => timers).toHaveLength(1)
    timers[0]?.()
    await expect(said).rejects.toThrow(StoreTimeoutError)
  })

  it('ends its timer when it is answered', async () => {
    const { address } = await serve((said) => said)
    let isCancelled = false
    const cancel = () => {
      isCancelled = true
    }
    const { say } = connect([address], { clock: { ...realClock, setTimer: () => ({ cancel }) } })
    await say('a')
    expect(isCancelled).toBe(true)
  })

  it('fails once the connection is closed, also where it is under way or waits', async () => {
    const { address } = await serve((said) => (said === 'wait' ? failure(status.UNAVAILABLE, 'no leader') : undefined))
    const timers: (() => void)[] = []
    const clock: Clock = {
      ...realClock,
      setTimer(_, callback) {
        timers.push(callback)
        return { cancel: () => {} }
      },
    }
    const { connection, say } = connect([address], { clock })
    const calls = [say('silent'), say('wait')].map((call) => call.catch((error: unknown) => error))
    // Those of both calls, and that of the next attempt.
    await expect.poll(() => timers).toHaveLength(3)
    connection.close()
    for (const cancel of timers) cancel()
    for (const call of [...calls, say('late').catch((error: unknown) => error)]) {
      expect(await call).toBeInstanceOf(StoreClosedError)
    }
  })
})

describe('an etcd that asks who comes', () => {
  const user = { name: 'me', password: 'secret' }
  const tokenOf = (metadata: Metadata) => String(metadata.get('token')[0])

  it('is told the name and the password once, and then the token', async () => {
    const { address, passwords } = await serve((_, metadata) => tokenOf(metadata))
    const { say } = connect([address], { user })
    expect([await say('a'), await say('b')]).toEqual(['token', 'token'])
    expect(passwords).toEqual(['me:secret'])
  })

  it('is told nothing where there is no user', async () => {
    const { address, passwords } = await serve((_, metadata) => JSON.stringify(metadata.get('token')))
    const { say } = connect([address])
    expect([await say('a'), passwords]).toEqual(['[]', []])
  })

  it.each([
    failure(status.UNAUTHENTICATED, 'who are you'),
    failure(status.UNKNOWN, 'etcdserver: invalid auth token'),
    // A signed token is as old as the users and roles it was made for.
    failure(status.INVALID_ARGUMENT, 'etcdserver: revision of auth store is old'),
  ])('is told again, once for a call, where it has forgotten the token: %s', async (forgotten) => {
    let tokens = 0
    let valid = 'token 1'
    const { address, passwords } = await serve(
      (_, metadata) => (tokenOf(metadata) === valid ? tokenOf(metadata) : forgotten),
      () => `token ${++tokens}`,
    )
    const { say } = connect([address], { user })
    await say('a')
    valid = 'token 2'
    expect(await say('b', once)).toBe('token 2')
    valid = 'none'
    await expect(say('c')).rejects.toMatchObject({ code: forgotten.code })
    expect(passwords).toHaveLength(3)
  })

  it('is told again once, however many calls it has refused a token', async () => {
    let tokens = 0
    let valid = 'token 1'
    const { address, passwords } = await serve(
      (_, metadata) => (tokenOf(metadata) === valid ? valid : failure(status.UNAUTHENTICATED, 'who are you')),
      () => `token ${++tokens}`,
    )
    const { say } = connect([address], { user })
    await say('a')
    valid = 'token 2'
    const said = await Promise.all(Array.from({ length: 50 }, () => say('b', once)))
    expect([new Set(said), passwords.length]).toEqual([new Set(['token 2']), 2])
  })

  it('is told again with the next call where it could not be told', async () => {
    let isRefusing = true
    const { address } = await serve(
      (_, metadata) => tokenOf(metadata),
      () => (isRefusing ? failure(status.INVALID_ARGUMENT, 'wrong password') : 'token'),
    )
    const { say } = connect([address], { user })
    await expect(say('a')).rejects.toMatchObject({ details: 'wrong password' })
    isRefusing = false
    expect(await say('b')).toBe('token')
  })
})

describe('an etcd with certificates', () => {
  const environment = realEnvironment()
  const authority = createAuthority(environment)
  const pem = ({ certificatePem, keyPem }: KeyPair) => ({
    certificate: Buffer.from(certificatePem),
    key: Buffer.from(keyPem),
  })
  const server = pem(issueServingCertificate(environment, authority, { commonName: 'etcd', hosts: ['localhost'] }))
  const client = pem(issueClientCertificate(environment, authority, { user: 'me', groups: [] }))
  const ca = Buffer.from(authority.certificatePem)
  const pair = { private_key: server.key, cert_chain: server.certificate }
  const secured = async () => {
    const { address } = await serve((said) => said, undefined, ServerCredentials.createSsl(ca, [pair], true))
    return address.replace('127.0.0.1', 'localhost')
  }

  it('is reached with those that it asks for', async () => {
    const address = await secured()
    expect(await connect([address], { tls: { ca, ...client } }).say('a')).toBe('a')
  })

  it.each([
    ['that are not trusted here', client],
    ['where it is shown none', { ca }],
    ['without encryption', undefined],
  ])('is not reached %s', async (_, tls) => {
    const address = await secured()
    // The time that a server has to be reached is over soon, and so is that of the call.
    const now = () => realClock.now() - etcdConnectTimeoutMs + 30
    let calls = 0
    const monotonicMs = () => calls++ * (etcdCallTimeoutMs / 3)
    const { say } = connect([address], { tls, clock: { ...realClock, now, monotonicMs } })
    await expect(say('a')).rejects.toThrow(StoreUnavailableError)
  })
})

describe('a stream', () => {
  const chat = { path: '/test.Echo/Chat', request: text, response: text }

  it('carries messages both ways, and ends where the server has lost its cluster', async () => {
    const { address, streams } = await serve((said) => `${said}!`)
    const { connection } = connect([address], { user: { name: 'me', password: 'secret' } })
    const stream = await connection.stream(chat)
    const heard: string[] = []
    stream.on('data', (each: { text: string }) => heard.push(each.text))
    stream.write({ text: 'a' })
    stream.write({ text: 'b' })
    await expect.poll(() => heard).toEqual(['a!', 'b!'])
    expect(streams.map((metadata) => [metadata.get('hasleader'), metadata.get('token')])).toEqual([
      [['true'], ['token']],
    ])
    stream.on('error', () => {})
    stream.cancel()
  })

  it('that is cancelled here stays with its server', async () => {
    const one = await serve((said) => `one ${said}`)
    const two = await serve((said) => `two ${said}`)
    const { connection, say } = connect([one.address, two.address])
    const stream = await connection.stream(chat)
    const failed = new Promise((resolve) => stream.once('error', resolve))
    stream.cancel()
    await failed
    expect(await say('b')).toBe('one b')
  })

  it('leaves a server that does not let its user in', async () => {
    const one = await serve(
      (said) => said,
      () => failure(status.UNAVAILABLE, 'no leader'),
    )
    const two = await serve((said) => `two ${said}`)
    const { connection } = connect([one.address, two.address], { user: { name: 'me', password: 'secret' } })
    await expect(connection.stream(chat)).rejects.toThrow('no leader')
    const stream = await connection.stream(chat)
    const heard = new Promise((resolve) => stream.once('data', resolve))
    stream.write({ text: 'a' })
    expect(await heard).toEqual({ text: 'two a' })
    stream.on('error', () => {}).cancel()
  })

  it('that fails leaves its server, and lets go of a token that is not known any more', async () => {
    let tokens = 0
    const next = () => `token ${++tokens}`
    const one = await serve(() => failure(status.UNAUTHENTICATED, 'invalid auth token'), next)
    const two = await serve((_, metadata) => `two ${metadata.get('token')[0]}`, next)
    const { connection, say } = connect([one.address, two.address], { user: { name: 'me', password: 'secret' } })
    const stream = await connection.stream(chat)
    const failed = new Promise((resolve) => stream.once('error', resolve))
    stream.write({ text: 'a' })
    await failed
    expect(await say('b')).toBe('two token 2')
  })

  it('that fails for another reason leaves its server, and keeps the token', async () => {
    const one = await serve(() => failure(status.UNAVAILABLE, 'no leader'))
    const two = await serve((_, metadata) => `two ${metadata.get('token')[0]}`)
    const { connection, say } = connect([one.address, two.address], { user: { name: 'me', password: 'secret' } })
    const stream = await connection.stream(chat)
    const failed = new Promise((resolve) => stream.once('error', resolve))
    stream.write({ text: 'a' })
    await failed
    expect(await say('b')).toBe('two token')
    expect([one.passwords.length, two.passwords.length]).toEqual([1, 0])
  })
})
