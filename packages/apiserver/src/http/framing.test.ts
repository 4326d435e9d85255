import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { headersMax } from './framing.ts'
import { adminToken, TestServer } from './testing/test-server.ts'

let server: TestServer
beforeAll(async () => {
  server = await TestServer.start()
})
afterAll(() => server.close())

const configMaps = '/api/v1/namespaces/default/configmaps'
const auth = `Authorization: Bearer ${adminToken}`

/** A request that would be carried out, hidden behind one that is refused. */
const hidden = `DELETE ${configMaps} HTTP/1.1\r\nHost: a\r\n${auth}\r\n\r\n`

/** Each line in front of a request's end; `GET` and `Host` where it does not say otherwise. */
const get = (...lines: string[]) => `GET /version HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`
const chunked = (...lines: string[]) =>
  `POST ${configMaps} HTTP/1.1\r\nHost: a\r\n${lines.join('\r\n')}\r\n\r\n2\r\n{}\r\n0\r\n\r\n`
const sized = (...lines: string[]) => `POST ${configMaps} HTTP/1.1\r\nHost: a\r\n${lines.join('\r\n')}\r\n\r\n{}`

const badRequest = '400 Bad Request'
const notImplemented = '501 Not Implemented: Unsupported transfer encoding'
const malformedHost = '400 Bad Request: malformed Host header'

const refused: readonly (readonly [what: string, request: string, status: string])[] = [
  ['no host', get('X: y'), '400 Bad Request: missing required Host header'],
  ['two hosts', get('Host: a', 'Host: b'), '400 Bad Request: too many Host headers'],
  ['the same host twice', get('Host: a', 'hOST: a'), '400 Bad Request: too many Host headers'],
  ['a host with a space', get('Host: a b'), malformedHost],
  ['a host with a path', get('Host: a/b'), malformedHost],
  ['a host with a user', get('Host: u@a'), malformedHost],
  ['a host beyond ASCII', get('Host: \xe9'), malformedHost],

  ['a coding before chunked', chunked('Transfer-Encoding: identity, chunked'), notImplemented],
  ['another coding before chunked', chunked('Transfer-Encoding: gzip, chunked'), notImplemented],
  ['two codings in two headers', chunked('Transfer-Encoding: identity', 'Transfer-Encoding: chunked'), notImplemented],
  ['chunked twice', chunked('Transfer-Encoding: chunked, chunked'), badRequest],
  ['chunked in two headers', chunked('Transfer-Encoding: chunked', 'Transfer-Encoding: chunked'), badRequest],
  ['a coding after chunked', chunked('Transfer-Encoding: chunked, identity'), badRequest],
  ['another coding', chunked('Transfer-Encoding: xchunked'), notImplemented],
  ['a quoted coding', chunked('Transfer-Encoding: "chunked"'), notImplemented],
  ['a coding behind a control character', chunked('Transfer-Encoding: \x0bchunked'), badRequest],
  ['a folded coding', chunked('Transfer-Encoding:', ' chunked'), badRequest],
  ['no coding', chunked('Transfer-Encoding:'), badRequest],
  [
    'chunks in HTTP/1.0',
    chunked('Transfer-Encoding: chunked').replace('1.1', '1.0'),
    '400 Bad Request: Transfer-Encoding in an HTTP/1.0 request',
  ],
  ['a length before chunks', chunked('Content-Length: 3', 'Transfer-Encoding: chunked'), badRequest],
  ['a length after chunks', chunked('Transfer-Encoding: chunked', 'Content-Length: 3'), badRequest],

  ['two lengths', sized('Content-Length: 2', 'Content-Length: 3'), badRequest],
  ['the same length twice', sized('Content-Length: 2', 'Content-Length: 2'), badRequest],
  ['a list of lengths', sized('Content-Length: 2, 2'), badRequest],
  ['an empty length', sized('Content-Length:'), badRequest],
  ['a length with a sign', sized('Content-Length: +2'), badRequest],
  ['a hexadecimal length', sized('Content-Length: 0x2'), badRequest],
  ['a length beyond all numbers', sized('Content-Length: 99999999999999999999'), badRequest],

  ['a folded header', get('Host: a', 'X: 1', ' 2'), badRequest],
  ['a header folded by a tab', get('Host: a', 'X: 1', '\t2'), badRequest],
  ['a folded first header', get(' Host: a'), badRequest],
  ['a space before a colon', get('Host : a'), badRequest],
  ['a name with a space', get('Host: a', 'X Y: 1'), badRequest],
  ['a name with a bracket', get('Host: a', 'X(: 1'), badRequest],
  ['a name with a control character', get('Host: a', 'X\x01: 1'), badRequest],
  ['an empty name', get('Host: a', ': 1'), badRequest],
  ['a line without a colon', get('Host: a', 'X'), badRequest],
  ['a value with a null byte', get('Host: a', 'X: a\0b'), badRequest],
  ['a value with a control character', get('Host: a', 'X: a\x01b'), badRequest],
  ['a lone CR in a value', get('Host: a', 'X: a\rHost: b'), badRequest],
  ['a lone CR at a line’s end', get('Host: a\rX: b'), badRequest],
  ['a lone LF at a line’s end', get('Host: a\nX: b'), badRequest],
  ['a lone LF at the end', 'GET /version HTTP/1.1\r\nHost: a\r\n\n', badRequest],
  [
    'lone LFs everywhere',
    'GET /version HTTP/1.1\nHost: a\n\n',
    '505 HTTP Version Not Supported: unsupported protocol version',
  ],
  ['a space in the path', 'GET /version x HTTP/1.1\r\nHost: a\r\n\r\n', badRequest],
  ['a control character in the path', 'GET /version\x01 HTTP/1.1\r\nHost: a\r\n\r\n', badRequest],

  [
    'more headers than are kept',
    get('Host: a', ...Array.from({ length: headersMax }, () => 'X:')),
    '431 Request Header Fields Too Large',
  ],
]

describe('a request with an ambiguous head', () => {
  it.each(refused)('is refused, and nothing after it is carried out: %s', async (_, request, status) => {
    const name = 'bystander'
    const created = await server.call(configMaps, { method: 'POST', body: { metadata: { name } } })
    expect([201, 409]).toContain(created.code)
    const answers = (await server.answerTo(request + hidden)).match(/^HTTP\/1\.1 .*$/gm)
    expect(answers?.map((line) => line.slice('HTTP/1.1 '.length).trim())).toEqual([status])
    expect((await server.call(`${configMaps}/${name}`)).code).toBe(200)
  })

  it.each(refused)('is no request to who speaks plain HTTP: %s', async (_, request) => {
    expect(await server.answerTo(request + hidden, 'plain')).toBe(
      'HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n',
    )
  })
})

describe('a body that is no sequence of chunks', () => {
  const request = chunked('Transfer-Encoding: chunked')
  it.each([
    ['a signed size', request.replace('\r\n2\r\n', '\r\n-2\r\n')],
    ['a size with a prefix', request.replace('\r\n2\r\n', '\r\n0x2\r\n')],
    ['a size beyond all numbers', request.replace('\r\n2\r\n', '\r\nfffffffffffffffff2\r\n')],
    ['a size ended by a lone LF', request.replace('\r\n2\r\n', '\r\n2\n')],
    ['an extension ended by a lone LF', request.replace('\r\n2\r\n', '\r\n2;\n')],
    ['more than it says', request.replace('{}', '{}  ')],
  ])('ends the connection, and its request has one answer: %s', async (_, broken) => {
    const answers = (await server.answerTo(broken + hidden)).match(/^HTTP\/1\.1 .*$/gm)
    expect(answers?.map((line) => line.trim())).toEqual(['HTTP/1.1 403 Forbidden'])
    const authorized = broken.replace('Host: a', `Host: a\r\n${auth}`)
    const [only, ...others] = (await server.answerTo(authorized + hidden)).match(/^HTTP\/1\.1 .*$/gm) ?? []
    expect([only?.trim(), others]).toEqual(['HTTP/1.1 400 Bad Request', []])
  })
})

it.each([
  ['a host with a port', get('Host: a.example:6443', 'Connection: close')],
  ['an IPv6 host', get('Host: [::1]:6443', 'Connection: close')],
  ['an empty host', get('Host:', 'Connection: close')],
  ['no host in HTTP/1.0', 'GET /version HTTP/1.0\r\n\r\n'],
  ['a header of many values', get('Host: a', 'Accept: x/y', 'Accept: */*', 'Connection: close')],
])('takes %s', async (_, request) => {
  expect(await server.answerTo(request)).toMatch(/^HTTP\/1\.1 200 OK/)
})

it('takes chunks, whatever the case of the coding', async () => {
  const answer = await server.answerTo(chunked('Transfer-Encoding: Chunked', 'Connection: close'))
  expect(answer).toMatch(/^HTTP\/1\.1 403 Forbidden/)
})
