import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import type { ClientRequest } from 'node:http'
import { request } from 'node:https'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Api, post } from './support/api.ts'
import { configMap, paths } from './support/objects.ts'
import { eventually, Program } from './support/program.ts'
import { RawConnection } from './support/raw-connection.ts'

// What goes over the connection, byte by byte: HTTP as clients of all kinds speak it, and what only looks like it.
// Unless said otherwise the answers are upstream's.

const { configMaps } = paths

let program: Program
let api: Api
let auth: string
const open: RawConnection[] = []
beforeAll(async () => {
  program = await Program.start({ alone: true, args: ['--memory', '--runtime', 'simulated', '--nodes', '0'] })
  api = await Api.of(program)
  auth = `Authorization: Bearer ${(await readFile(join(program.dataDir, 'token'), 'utf8')).trim()}`
})
afterAll(async () => {
  for (const connection of open) connection.close()
  api.close()
  await program[Symbol.asyncDispose]()
})

async function connection(): Promise<RawConnection> {
  const made = await RawConnection.overTls(program)
  open.push(made)
  return made
}

async function plainConnection(): Promise<RawConnection> {
  const made = await RawConnection.withoutTls(program)
  open.push(made)
  return made
}

/** The answer to one request, of which `Host` and `Authorization` are added. */
async function answerTo(text: string) {
  const raw = await connection()
  const [first = '', ...rest] = text.split('\n')
  raw.send([first, 'Host: localhost', auth, ...rest].join('\n'))
  const answer = await raw.answer()
  return { code: answer?.code, status: answer?.status, body: answer?.body, headers: answer?.headers, raw }
}

const createOf = (name: string, ...headers: string[]) => {
  const body = JSON.stringify(configMap(name))
  return {
    body,
    head: [`POST ${configMaps} HTTP/1.1`, 'Content-Type: application/json', ...headers, '', ''].join('\n'),
  }
}

describe('a request', () => {
  it('may follow another before that is answered; answers come in order', async () => {
    const raw = await connection()
    const gets = ['/healthz', `${configMaps}/none`, '/readyz'].map(
      (path) => `GET ${path} HTTP/1.1\nHost: localhost\n${auth}\n\n`,
    )
    raw.send(gets.join(''))
    expect([(await raw.answer())?.body, (await raw.answer())?.code, (await raw.answer())?.body]).toEqual([
      'ok',
      404,
      'ok',
    ])
  })

  it('keeps its connection where it is refused', async () => {
    const raw = await connection()
    for (const [path, code] of [
      ['/nothing', 404],
      [configMaps, 403],
      ['/version', 200],
    ] as const) {
      raw.send(`GET ${path} HTTP/1.1\nHost: localhost\n${code === 403 ? '' : auth}\n\n`.replace('\n\n\n', '\n\n'))
      expect((await raw.answer())?.code).toBe(code)
    }
  })

  it('may be HTTP/1.0, which ends with its answer', async () => {
    const { code, body, raw } = await answerTo('GET /healthz HTTP/1.0\n\n')
    expect([code, body, await raw.rest()]).toEqual([200, 'ok', ''])
  })

  it('ends the connection where it says so', async () => {
    const { body, headers, raw } = await answerTo('GET /healthz HTTP/1.1\nConnection: close\n\n')
    expect([body, headers?.get('connection'), await raw.rest()]).toEqual(['ok', 'close', ''])
  })

  it('may name all of the address, as to a proxy', async () => {
    expect((await answerTo('GET https://elsewhere.example/healthz HTTP/1.1\n\n')).body).toBe('ok')
    const { body } = await answerTo(`GET http://elsewhere.example${configMaps}/none?pretty=0 HTTP/1.1\n\n`)
    expect(JSON.parse(body ?? '')).toMatchObject({ code: 404, message: 'configmaps "none" not found' })
  })

  it('must name a host', async () => {
    const raw = await connection()
    raw.send(`GET /version HTTP/1.1\n${auth}\n\n`)
    expect((await raw.answer())?.status).toBe('400 Bad Request: missing required Host header')
  })

  it.each([
    ['no HTTP at all', 'hello world\n\n', '400 Bad Request'],
    ['HTTP/0.9', 'GET /healthz\n\n', '400 Bad Request'],
    ['HTTP/3', 'GET /healthz HTTP/3.0\n\n', '505 HTTP Version Not Supported: unsupported protocol version'],
    ['a header without a name', 'GET /healthz HTTP/1.1\nHost: a\nBad Header: x\n\n', '400 Bad Request'],
    [
      'two lengths',
      `POST ${configMaps} HTTP/1.1\nHost: a\nContent-Length: 1\nContent-Length: 2\n\n{}`,
      '400 Bad Request',
    ],
    ['a length below zero', `POST ${configMaps} HTTP/1.1\nHost: a\nContent-Length: -1\n\n{}`, '400 Bad Request'],
    ['headers without end', `GET / HTTP/1.1\nX: ${'x'.repeat(1_100_000)}\n\n`, '431 Request Header Fields Too Large'],
  ])('is refused, and its connection ended, where it is %s', async (_, text, status) => {
    const raw = await connection()
    raw.send(text)
    const answer = await raw.answer()
    expect([answer?.status, answer?.headers.get('connection'), answer?.body.trim()]).toEqual([
      status,
      'close',
      expect.stringContaining(status.split(':')[0] ?? ''),
    ])
    expect(await raw.rest()).toBe('')
  })

  it('never has an answer to something else in the midst of its own', async () => {
    const raw = await connection()
    raw.send(`GET ${configMaps}?watch=1 HTTP/1.1\nHost: localhost\n${auth}\n\n`)
    await once(raw.socket, 'data')
    raw.send('hello world\n\n')
    expect(await raw.rest()).not.toContain('400')
  })

  it('may have 600 KiB of headers and a URL of 100 KiB', async () => {
    const many = Array.from({ length: 600 }, (_, index) => `X-${index}: ${'x'.repeat(1000)}`).join('\n')
    expect((await answerTo(`GET /healthz HTTP/1.1\n${many}\n\n`)).body).toBe('ok')
    const { code } = await answerTo(`GET ${configMaps}?fieldManager=${'x'.repeat(100_000)} HTTP/1.1\n\n`)
    expect(code).toBe(200)
  })
})

describe('a body', () => {
  it('is asked for where the client waits for that', async () => {
    const { body, head } = createOf('asked-for', 'Expect: 100-continue', `Content-Length: 200`)
    const { code, raw } = await answerTo(head)
    expect(code).toBe(100)
    raw.send(body.padEnd(200))
    expect((await raw.answer())?.code).toBe(201)
  })

  it('is not asked for where the answer is clear without it', async () => {
    const raw = await connection()
    const { head } = createOf('unasked', 'Expect: 100-continue', 'Host: localhost', 'Content-Length: 200')
    raw.send(head)
    const answer = await raw.answer()
    expect([answer?.code, answer?.headers.get('connection')]).toEqual([403, 'close'])
    expect((await answerTo(createOf('huge', 'Expect: 100-continue', 'Content-Length: 40000000').head)).code).toBe(413)
  })

  it('may come in chunks', async () => {
    const { body, head } = createOf('in-chunks', 'Transfer-Encoding: chunked')
    const [start, end] = [body.slice(0, 10), body.slice(10)]
    const chunks = [start, end, ''].map((chunk) => `${chunk.length.toString(16)}\n${chunk}\n`).join('')
    expect((await answerTo(head + chunks)).code).toBe(201)
  })

  it('is taken as it comes, whatever it says of its coding', async () => {
    const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' }
    expect((await api.call(configMaps, post(JSON.stringify(configMap('not-coded')), headers))).code).toBe(201)
    const coded = gzipSync(JSON.stringify(configMap('coded')))
    expect(await api.failure(configMaps, post(coded, headers))).toMatchObject({
      code: 400,
      message: expect.stringContaining("json parse error: invalid character '\\x1f' looking for beginning of value"),
    })
  })

  it('that ends before its end makes nothing, and is nothing to write home about', async () => {
    const { head } = createOf('cut-off', 'Content-Length: 500')
    const outputBefore = program.output.length
    for (const leave of ['end', 'destroy'] as const) {
      const raw = await connection()
      raw.send(head.replace('\n', `\nHost: localhost\n${auth}\n`))
      raw.send('{"metadata":{"name":"cut-off"}}')
      raw.socket[leave]()
      await raw.rest()
    }
    expect((await api.call(`${configMaps}/cut-off`)).code).toBe(404)
    expect(program.output.slice(outputBefore)).toEqual([])
  })
})

describe('a connection', () => {
  it('that does not begin with TLS is told so', async () => {
    for (const beginning of ['GET / HTTP/1.1\nHost: localhost\n\n', 'P']) {
      const raw = await plainConnection()
      raw.send(beginning)
      expect(await raw.rest()).toBe('HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n')
    }
  })

  it('that begins with anything else, or with half of TLS’s beginning, is ended', async () => {
    for (const bytes of [Buffer.of(0, 1, 2, 3, 4, 5, 6, 7), Buffer.of(0x16, 3, 1, 0, 5, 1, 2, 3, 4, 5, 6, 7)]) {
      const noise = await plainConnection()
      noise.socket.write(bytes)
      expect(await noise.rest()).not.toContain('HTTP')
    }
  })

  it('speaks HTTP/1.1 with clients that would rather speak HTTP/2, and not at all with those that must', async () => {
    const both = await RawConnection.overTls(program, ['h2', 'http/1.1'])
    both.send(`GET /healthz HTTP/1.1\nHost: localhost\n${auth}\n\n`)
    expect((await both.answer())?.body).toBe('ok')
    both.close()
    await expect(RawConnection.overTls(program, ['h2'])).rejects.toThrow('no application protocol')
  })
})

describe('an answer', () => {
  const big = configMap('big', { text: 'abc '.repeat(60_000) })
  beforeAll(async () => {
    await api.object(configMaps, post(big))
  })

  const bytesOf = async (path: string, encoding: string, accept = 'application/json') => {
    const { hostname, port } = new URL(program.address)
    const [, authorization = ''] = auth.split(': ')
    const headers = { authorization, accept, 'accept-encoding': encoding }
    const asked: ClientRequest = request({ hostname, port, path, headers, rejectUnauthorized: false })
    asked.end()
    const [answer] = await once(asked, 'response')
    const chunks: Buffer[] = []
    for await (const chunk of answer) chunks.push(chunk as Buffer)
    return { headers: answer.headers, bytes: Buffer.concat(chunks) }
  }

  it.each([
    ['an object', `${configMaps}/big`, 'application/json'],
    ['a list', configMaps, 'application/json'],
    ['a list in YAML', configMaps, 'application/yaml'],
  ])('of more than 128 KiB is compressed for clients that ask: %s', async (_, path, accept) => {
    const plain = await bytesOf(path, 'identity', accept)
    expect([plain.headers['content-encoding'], plain.headers.vary]).toEqual([undefined, undefined])
    for (const encoding of ['gzip', 'deflate, gzip, br']) {
      const packed = await bytesOf(path, encoding, accept)
      expect([packed.headers['content-encoding'], packed.headers.vary]).toEqual(['gzip', 'Accept-Encoding'])
      expect(packed.bytes.length).toBeLessThan(plain.bytes.length / 10)
      expect(gunzipSync(packed.bytes).equals(plain.bytes)).toBe(true)
    }
  })

  it('shows the latest state when it is compressed, too', async () => {
    await api.object(configMaps, post(configMap('after-compression')))
    const { bytes } = await bytesOf(configMaps, 'gzip')
    expect(gunzipSync(bytes).toString()).toContain('"after-compression"')
  })

  it('that is smaller, and a watch, go as they are', async () => {
    const small = await bytesOf(`${configMaps}?fieldSelector=metadata.name%3Dnone`, 'gzip')
    expect(small.headers['content-encoding']).toBeUndefined()
    const raw = await connection()
    raw.send(`GET ${configMaps}?watch=1 HTTP/1.1\nHost: localhost\n${auth}\nAccept-Encoding: gzip\n\n`)
    const [first] = (await once(raw.socket, 'data')) as [Buffer]
    expect(first.toString()).toMatch(/^HTTP\/1\.1 200 OK/)
    expect(first.toString().toLowerCase()).not.toContain('content-encoding')
    raw.close()
  })

  it('to a client that has gone is dropped without a word, in the midst of a list and of a watch', async () => {
    const outputBefore = program.output.length
    for (const path of [configMaps, `${configMaps}?watch=1`]) {
      const raw = await connection()
      raw.send(`GET ${path} HTTP/1.1\nHost: localhost\n${auth}\n\n`)
      await once(raw.socket, 'data')
      raw.close()
    }
    await api.object(configMaps, post(configMap('after-them')))
    expect(program.output.slice(outputBefore)).toEqual([])
  })
})

describe('open files that run out', () => {
  it('cost those who come too late, and nobody after them', async () => {
    await using few = await Program.start({
      args: ['--memory', '--runtime', 'simulated', '--nodes', '1'],
      limits: '-n 256',
    })
    const raws = await Promise.all(Array.from({ length: 300 }, () => RawConnection.withoutTls(few)))
    const refused = await Promise.race(raws.map((raw) => once(raw.socket, 'close').then(() => true)))
    expect(refused).toBe(true)
    for (const raw of raws) raw.close()
    const other = await Api.of(few)
    await eventually('an answer', async () => (await other.call('/readyz')).text === 'ok')
    expect((await other.call(configMaps, post(configMap('after-all')))).code).toBe(201)
    other.close()
  })
})
