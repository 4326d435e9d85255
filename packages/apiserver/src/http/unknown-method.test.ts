import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { apiServerUser } from '../api-server-user.ts'
import { crateDefinition, crateVersion, establish } from '../testing/custom-resources.ts'
import { adminToken, TestServer } from './testing/test-server.ts'

const auth = `Authorization: Bearer ${adminToken}`
const configMaps = '/api/v1/namespaces/default/configmaps'
const asks = (line: string, ...headers: readonly string[]) =>
  `${line} HTTP/1.1\r\n${['Host: a', ...headers].join('\r\n')}\r\n\r\n`

let server: TestServer
beforeAll(async () => {
  server = await TestServer.start()
  await establish(server.core.client(apiServerUser), crateDefinition([crateVersion('v1', { storage: true })]))
})
afterAll(() => server.close())

/** Code and body of the only answer to `request`. */
async function answerTo(request: string) {
  const text = await server.answerTo(request)
  const [head = '', body = ''] = text.split('\r\n\r\n')
  expect(text.match(/^HTTP\/1\.1 /gm)).toHaveLength(1)
  return { code: Number(head.split(' ')[1]), head, body }
}

/** The answer to a request whose pieces come one after the other. */
async function answerInPieces(pieces: readonly string[], ends = false) {
  const socket = await server.connect()
  socket.setNoDelay(true)
  const answered = text(socket)
  for (const piece of pieces) {
    if (socket.destroyed) break
    await new Promise<void>((resolve) => socket.write(Buffer.from(piece, 'latin1'), () => resolve()))
    // The server reads what has been written before more is.
    await server.call('/healthz')
  }
  if (ends) socket.end()
  const [head = '', body = ''] = (await answered).split('\r\n\r\n')
  return { code: Number(head.split(' ')[1]), body }
}

describe('a method that no HTTP parser knows', () => {
  it.each(['FOO', 'get', 'X-Y!'])('is refused by who serves the path: %s', async (method) => {
    const { code, head, body } = await answerTo(asks(`${method} ${configMaps}`, auth))
    expect([code, JSON.parse(body).message]).toEqual([
      405,
      'the server does not allow this method on the requested resource',
    ])
    expect(head).toContain('Connection: close')
  })

  it('is refused by who serves custom kinds, which are named', async () => {
    const { code, body } = await answerTo(asks('FOO /apis/example.com/v1/crates', auth))
    expect([code, JSON.parse(body).message]).toEqual([
      405,
      ' is not supported on resources of kind "crates.example.com"',
    ])
  })

  it('is nobody’s right before it is anything else', async () => {
    const { code, body } = await answerTo(asks(`FOO ${configMaps}`))
    expect([code, JSON.parse(body).message]).toEqual([
      403,
      'configmaps is forbidden: User "system:anonymous" cannot  resource "configmaps" in API group "" in the namespace "default"',
    ])
    expect((await answerTo(asks(`FOO ${configMaps}`, 'Authorization: Bearer none'))).code).toBe(401)
  })

  it.each([
    ['/healthz', 200, 'ok'],
    ['/nosuch', 404, '404 page not found\n'],
  ])('is as good as another for what is no resource: %s', async (path, code, body) => {
    expect(await answerTo(asks(`FOO ${path}`, auth))).toMatchObject({ code, body })
  })

  it('is the last on its connection, whatever its body says', async () => {
    const name = 'stays'
    await server.call(configMaps, { method: 'POST', body: { metadata: { name } } })
    const hidden = asks(`DELETE ${configMaps}/${name}`, auth)
    const request = asks(`FOO ${configMaps}`, auth, 'Content-Length: 3')
    expect((await answerTo(`${request}{}\n${hidden}`)).code).toBe(405)
    expect((await answerTo(`${request}${hidden}`)).code).toBe(405)
    expect((await server.call(`${configMaps}/${name}`)).code).toBe(200)
  })

  it.each([
    ['within its method', 2],
    ['within its path', 20],
    ['at the end of its first line', `FOO ${configMaps} HTTP/1.1\r`.length],
    ['within a header', 80],
    ['before its last character', asks(`FOO ${configMaps}`, auth).length - 1],
  ])('is answered when its head has come in two pieces: %s', async (_where, at) => {
    const text = asks(`FOO ${configMaps}`, auth)
    const answer = await answerInPieces([text.slice(0, at), text.slice(at)])
    expect([answer.code, JSON.parse(answer.body).code]).toEqual([405, 405])
  })

  it.each([
    ['a method that is known', ['GE', ` ${configMaps}`]],
    ['several letters of one, each by itself', ['P', 'O', `X ${configMaps}`]],
    ['a letter, before a method that is known', ['D', `POST ${configMaps}`]],
  ])('is the whole of it where the parser took its beginning for that of another: %s', async (_what, pieces) => {
    const answer = await answerInPieces([...pieces.slice(0, -1), asks(pieces.at(-1) ?? '', auth)])
    expect([answer.code, JSON.parse(answer.body).code]).toEqual([405, 405])
  })

  it('is answered when its head has come a few bytes at a time', async () => {
    const pieces = asks(`FOO ${configMaps}`, auth).match(/.{1,15}/gs) ?? []
    expect((await answerInPieces(pieces)).code).toBe(405)
  })

  it.each([
    ['another protocol', ['FOO /version HT', 'TP/3.0\r\n']],
    ['no path', ['FOO bar', '']],
    ['no method', ['F', 'OO(']],
    ['a head that is too long', ['FOO /version HTTP/1.1\r\n', `X: ${'x'.repeat(20_000)}`]],
  ])('is refused as soon as it can be nothing else: %s', async (_how, pieces) => {
    expect((await answerInPieces(pieces)).code).toBe(400)
  })

  it('is refused when its client ends before its head does', async () => {
    expect((await answerInPieces(['FOO /version HTTP/1.1\r\n', 'Host: a\r\n'], true)).code).toBe(400)
  })

  it.each([
    ['no path', asks('FOO bar', auth)],
    ['no method at all', asks('F(O /version', auth)],
    ['another protocol', 'FOO /version HTTP/3.0\r\nHost: a\r\n\r\n'],
    ['a header without a colon', asks('FOO /version', 'X')],
    ['a header folded', asks('FOO /version', 'X: a', ' b')],
    ['a lone CR', asks('FOO /version', 'X: a\rY: b')],
    ['no host', 'FOO /version HTTP/1.1\r\n\r\n'],
    ['two hosts', asks('FOO /version', 'Host: b')],
  ])('helps no request that is malformed: %s', async (_how, request) => {
    expect((await answerTo(request)).code).toBe(400)
  })
})

describe('a path that nobody serves', () => {
  it.each([
    '/nosuch',
    '/api2',
    '/apis/none.example',
    '/apis/none.example/v1',
    '/apis/none.example/v1/things',
    '/openapi/v3/none',
    '/apis/example.com/v9',
    '/apis/example.com/v1/nosuch',
    '/apis/example.com/v1/namespaces/default/nosuch/x',
  ])('is told of in plain text: %s', async (path) => {
    const { code, headers, text } = await server.call(path)
    expect([code, headers['content-type'], text]).toEqual([404, 'text/plain; charset=utf-8', '404 page not found\n'])
  })

  it.each([
    '/api/v9',
    '/api/v9/pods',
    '/api/v1/nosuch',
    '/apis/apps/v9',
    '/apis/apps/v1/nosuch',
    '/version/x',
    '/api/v1/namespaces/default/pods/a/b/c',
  ])('is a Status below what is served: %s', async (path) => {
    const { message, code, details } = await server.failure(path)
    expect([code, message, details]).toEqual([404, 'the server could not find the requested resource', {}])
  })

  it('is forbidden to whoever has no right to it', async () => {
    const { code, json } = await server.call('/nosuch', { as: 'anonymous' })
    expect([code, json.message]).toEqual([403, 'forbidden: User "system:anonymous" cannot get path "/nosuch"'])
  })

  it.each([
    ['POST', '/nosuch', 404],
    ['POST', '/api', 405],
    ['POST', '/version', 405],
    ['POST', '/apis/apps/v1', 405],
    ['PUT', '/apis/apps/v9', 404],
    ['POST', '/livez', 200],
    ['OPTIONS', '/', 200],
    ['POST', '/openapi/v3', 200],
  ])('or not by this method: %s %s', async (method, path, code) => {
    expect((await server.call(path, { method })).code).toBe(code)
  })
})
