import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import { connect as connectTls, createServer } from 'node:tls'
import { realEnvironment, VirtualClock } from '@coracle/environment'
import { expect, it, onTestFinished } from 'vitest'
import { createPki } from '../security/certificates.ts'
import { firstBytesTimeoutMs, refusePlainHttp } from './plain-http.ts'

/** A TLS server that greets, and a way to connect to it without TLS. */
async function startServer() {
  const clock = new VirtualClock()
  const { serving } = createPki(realEnvironment(), ['127.0.0.1'])
  const server = createServer({ cert: serving.certificatePem, key: serving.keyPem }, (socket) => socket.end('hello'))
  refusePlainHttp(server, clock)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  const plain = async () => {
    const socket = connect(port, '127.0.0.1')
    const accepted = once(server, 'connection')
    await Promise.all([once(socket, 'connect'), accepted])
    return socket
  }
  return { clock, port, plain }
}

const textOf = async (socket: AsyncIterable<Buffer>) => {
  let text = ''
  for await (const piece of socket) text += piece.toString()
  return text
}

it('tells who speaks plain HTTP what is wrong', async () => {
  const { plain } = await startServer()
  const socket = await plain()
  socket.write('GET /version HTTP/1.1\r\nHost: here\r\n\r\n')
  expect(await textOf(socket)).toMatch(
    /^HTTP\/1\.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server\.\n$/,
  )
})

it('lets TLS through, and counts no more time against it', async () => {
  const { clock, port } = await startServer()
  const socket = connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false })
  expect(await textOf(socket)).toBe('hello')
  await clock.advance(firstBytesTimeoutMs)
})

it('lets those go who say nothing for too long', async () => {
  const { clock, plain } = await startServer()
  const socket = await plain()
  await clock.advance(firstBytesTimeoutMs - 1)
  expect(socket.destroyed).toBe(false)
  const closed = once(socket, 'close')
  socket.resume()
  await clock.advance(1)
  await closed
})
