import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { virtualEnvironment } from '@coracle/environment'
import { expect, it, onTestFinished } from 'vitest'
import { dialOverTls } from './dial-over-tls.ts'

/** A server that takes connections and says nothing. */
async function silent() {
  const server = createServer((socket) => {
    socket.on('error', () => {})
    onTestFinished(() => void socket.destroy())
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return { host: '127.0.0.1', port: (server.address() as AddressInfo).port }
}

it.each(['before', 'while'])('is given up %s it is dialled where whoever asked goes', async (when) => {
  const endpoint = await silent()
  const { clock } = virtualEnvironment()
  const asking = new AbortController()
  if (when === 'before') asking.abort()
  const dialled = dialOverTls(endpoint, {}, clock, asking.signal)
  asking.abort()
  await expect(dialled).rejects.toThrow(`dial tcp 127.0.0.1:${endpoint.port}: the request was given up`)
})
